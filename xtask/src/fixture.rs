//! The fixture server in `conformance/`: built, started on a free port, and stopped with the value that stands for it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Outcome;
use crate::process::{cargo, run, target};

/// A server under test: the fixture server, or one that somebody else runs.
pub(crate) struct Fixture {
    /// Of the MCP endpoint, such as `http://127.0.0.1:40123/mcp`.
    pub(crate) url: String,
    child: Option<Child>,
}

impl Fixture {
    /// The server at `url`, or the fixture server with these arguments when there is none.
    pub(crate) fn at(url: Option<String>, arguments: &[&str]) -> Outcome<Fixture> {
        match url {
            Some(url) => Ok(Fixture { url, child: None }),
            None => Fixture::start(arguments),
        }
    }

    fn start(arguments: &[&str]) -> Outcome<Fixture> {
        // `--workspace` keeps the dependencies' features as the tests have them: nothing is compiled twice.
        run(&mut cargo(&["build", "--quiet", "--workspace", "--bin", "jumpseat-conformance"]))?;
        let program = target().join("debug/jumpseat-conformance");
        let mut child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut url = String::new();
        let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut url));
        // From here on the child is stopped whatever happens.
        let fixture = Fixture { url: url.trim().to_owned(), child: Some(child) };
        match read {
            Some(Ok(1..)) => Ok(fixture),
            _ => Err("the fixture server ended without printing its URL; it says why above".to_owned()),
        }
    }

    /// An error when the server has ended, which no client's behaviour may bring about.
    pub(crate) fn still_runs(&mut self) -> Outcome {
        let Some(child) = &mut self.child else { return Ok(()) };
        match child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("the fixture server ended during the run ({status})")),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Either fails only for a server that has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
