//! `cargo xtask sdk`: the programs in `tests-sdk/`, each on one release of an official SDK, against the fixture server.

use std::time::Duration;

use crate::fixture::Fixture;
use crate::process::{capture, root};
use crate::tally::Tally;
use crate::tools::{self, Tool};
use crate::{Outcome, url_option};

/// A program, and the transports over which it runs, each with the revision of MCP that must come of it.
struct Client {
    tool: &'static Tool,
    program: &'static str,
    runs: &'static [(&'static str, &'static str)],
}

const CLIENTS: [Client; 7] = [
    Client {
        tool: &tools::SDK_2024,
        program: "js/sdk.mjs",
        runs: &[("sse", "2024-11-05"), ("websocket", "2024-11-05")],
    },
    Client {
        tool: &tools::SDK_2025_06,
        program: "js/sdk.mjs",
        runs: &[("http", "2025-06-18"), ("sse", "2025-06-18"), ("websocket", "2025-06-18")],
    },
    Client {
        tool: &tools::SDK_2025_11,
        program: "js/sdk.mjs",
        runs: &[("http", "2025-11-25"), ("sse", "2025-11-25"), ("websocket", "2025-11-25")],
    },
    Client {
        tool: &tools::CLIENT_2026,
        program: "js/client.mjs",
        runs: &[
            ("http-legacy", "2025-11-25"),
            ("http-modern", "2026-07-28"),
            ("http-auto", "2026-07-28"),
            ("sse-legacy", "2025-11-25"),
        ],
    },
    Client {
        tool: &tools::PYTHON_2024,
        program: "python/session.py",
        runs: &[("sse", "2024-11-05"), ("websocket", "2024-11-05")],
    },
    Client {
        tool: &tools::PYTHON_2025_06,
        program: "python/session.py",
        runs: &[("http", "2025-06-18"), ("sse", "2025-06-18"), ("websocket", "2025-06-18")],
    },
    Client {
        tool: &tools::PYTHON_2026,
        program: "python/client.py",
        runs: &[
            ("http-legacy", "2025-11-25"),
            ("http-modern", "2026-07-28"),
            ("http-auto", "2026-07-28"),
            ("sse-legacy", "2025-11-25"),
        ],
    },
];

/// The programs give up by themselves well before this.
const RUN_DEADLINE: Duration = Duration::from_secs(90);
/// More tools than one page of `tools/list` holds.
const EXTRA_TOOLS: &str = "120";

/// `cargo xtask sdk [--url URL]`.
pub(crate) fn command(arguments: &[String]) -> Outcome {
    let url = url_option(arguments)?;
    tools::setup()?;
    let mut tally = Tally::default();
    tally.add("sdk", run(url));
    tally.close()
}

/// Runs every client over each of its transports against the server at `url`, or against the fixture server.
pub(crate) fn run(url: Option<String>) -> Outcome<Tally> {
    let mut server = Fixture::at(url, &["--extra-tools", EXTRA_TOOLS])?;
    let mut tally = Tally::default();
    println!("{:<36} {:<12} {:<11} result", "client", "transport", "revision");
    for client in &CLIENTS {
        for (transport, revision) in client.runs {
            let counts = client.run(&server.url, transport, revision);
            println!("{:<36} {transport:<12} {revision:<11} {counts}", client.tool.label());
            for line in &counts.summaries {
                println!("  {line}");
            }
            tally.passed += counts.passed;
            tally.failed += counts.failed;
            server.still_runs()?;
        }
    }
    tally.summaries.push(format!("sdk: {tally}"));
    Ok(tally)
}

impl Client {
    /// The counts of one run, with the lines about what failed as summaries.
    fn run(&self, url: &str, transport: &str, revision: &str) -> Tally {
        let mut command = self.tool.interpreter();
        command.arg(root().join("tests-sdk").join(self.program)).args([url, transport, revision]);
        let finished = match capture(&mut command, RUN_DEADLINE, false) {
            Ok(finished) => finished,
            Err(reason) => return Tally { passed: 0, failed: 1, summaries: vec![reason] },
        };
        let mut tally = Tally::default();
        for line in finished.stdout.lines() {
            if line.starts_with("ok ") {
                tally.passed += 1;
            } else if line.starts_with("not ok ") {
                tally.failed += 1;
                tally.summaries.push(line.to_owned());
            }
        }
        if finished.success && tally.passed == 0 {
            tally.failed += 1;
            tally.summaries.push("the program checked nothing".to_owned());
        }
        if !finished.success && tally.failed == 0 {
            tally.failed += 1;
            tally.summaries.push(format!("the program failed: {}", finished.stderr.trim()));
        }
        tally
    }
}
