//! `cargo xtask conformance`: both releases of the MCP conformance suites against the fixture server.

use std::fs;
use std::time::Duration;

use crate::checks::{Scenario, read_scenarios};
use crate::expected::{Expected, Verdict};
use crate::fixture::Fixture;
use crate::process::{capture, target};
use crate::tally::Tally;
use crate::tools::{self, CONFORMANCE_NEXT, CONFORMANCE_STABLE, Tool};
use crate::{Outcome, url_option};

/// One run of a release.
struct Suite {
    release: &'static Tool,
    arguments: &'static [&'static str],
    /// How many scenarios this release has there: a run that did fewer is broken.
    scenarios: usize,
}

const fn suite(release: &'static Tool, arguments: &'static [&'static str], scenarios: usize) -> Suite {
    Suite { release, arguments, scenarios }
}

const SUITES: [Suite; 13] = [
    suite(&CONFORMANCE_STABLE, &["--suite", "active"], 30),
    suite(&CONFORMANCE_STABLE, &["--suite", "pending"], 2),
    suite(&CONFORMANCE_STABLE, &["--suite", "all"], 32),
    suite(&CONFORMANCE_NEXT, &["--suite", "active"], 31),
    suite(&CONFORMANCE_NEXT, &["--suite", "pending"], 17),
    suite(&CONFORMANCE_NEXT, &["--suite", "draft"], 19),
    suite(&CONFORMANCE_NEXT, &["--suite", "all"], 65),
    suite(&CONFORMANCE_NEXT, &["--suite", "all", "--spec-version", "2025-03-26"], 1),
    suite(&CONFORMANCE_NEXT, &["--suite", "all", "--spec-version", "2025-06-18"], 27),
    suite(&CONFORMANCE_NEXT, &["--suite", "all", "--spec-version", "2025-11-25"], 33),
    suite(&CONFORMANCE_NEXT, &["--suite", "all", "--spec-version", "2026-07-28"], 40),
    suite(&CONFORMANCE_NEXT, &["--requirements", "2025-11-25"], 33),
    suite(&CONFORMANCE_NEXT, &["--requirements", "2026-07-28"], 50),
];

const SUITE_DEADLINE: Duration = Duration::from_secs(300);

/// `cargo xtask conformance [--url URL]`.
pub(crate) fn command(arguments: &[String]) -> Outcome {
    let url = url_option(arguments)?;
    tools::setup()?;
    let mut tally = Tally::default();
    tally.add("conformance", run(url));
    tally.close()
}

/// Runs every suite against the server at `url`, or against the fixture server. A scenario that fails as expected
/// counts neither as passed nor as failed.
pub(crate) fn run(url: Option<String>) -> Outcome<Tally> {
    let expected = Expected::read()?;
    let mut server = Fixture::at(url, &[])?;
    let mut tally = Tally::default();
    let mut failed_as_expected = 0;
    let mut names = Vec::new();
    for suite in &SUITES {
        let scenarios = suite.run(&server.url)?;
        server.still_runs()?;
        let counts = suite.report(&scenarios, &expected);
        tally.passed += counts.passed;
        tally.failed += counts.failed;
        failed_as_expected += scenarios.len() - counts.passed - counts.failed;
        names.extend(scenarios.into_iter().map(|scenario| scenario.name));
    }
    for entry in expected.unknown(&names) {
        println!("  no suite has the expected failure {entry}");
        tally.failed += 1;
    }
    tally.summaries.push(format!("conformance: {tally}, {failed_as_expected} failed as expected"));
    Ok(tally)
}

impl Suite {
    fn name(&self) -> String {
        format!("{} {}", self.release.version, self.arguments.join(" "))
    }

    fn run(&self, url: &str) -> Outcome<Vec<Scenario>> {
        let folder = target().join("conformance").join(self.name().replace(' ', "_"));
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        }
        let mut command = tools::node();
        command.arg(self.release.file("dist/index.js")).args(["server", "--url", url]).args(self.arguments);
        // It ends with 1 when a scenario failed; that is read from the files.
        let finished = capture(command.arg("-o").arg(&folder), SUITE_DEADLINE, false)?;
        let scenarios = read_scenarios(&folder).map_err(|reason| format!("{reason}\n{}", finished.stderr))?;
        if scenarios.len() == self.scenarios {
            return Ok(scenarios);
        }
        let (ran, has) = (scenarios.len(), self.scenarios);
        Err(format!("{}: {ran} scenarios ran of {has}:\n{}{}", self.name(), finished.stdout, finished.stderr))
    }

    /// Prints how the suite went and returns what passed and what failed.
    fn report(&self, scenarios: &[Scenario], expected: &Expected) -> Tally {
        let mut tally = Tally::default();
        let mut failing = Vec::new();
        let mut details = Vec::new();
        for scenario in scenarios {
            match expected.judge(scenario) {
                Verdict::Passed => tally.passed += 1,
                Verdict::FailedAsExpected => failing.push(scenario.name.as_str()),
                Verdict::Failed(reasons) => {
                    tally.failed += 1;
                    details
                        .extend(reasons.iter().map(|reason| format!("  FAILED {}, {reason}", scenario.name)));
                }
                Verdict::PassedUnexpectedly(entries) => {
                    tally.failed += 1;
                    details.extend(
                        entries.iter().map(|entry| format!("  PASSED, take it off the list: {entry}")),
                    );
                }
            }
        }
        println!("{:<55} {} of {} passed", self.name(), tally.passed, scenarios.len());
        for detail in &details {
            println!("{detail}");
        }
        let idle: Vec<&str> =
            scenarios.iter().filter(|one| !one.exercised).map(|one| one.name.as_str()).collect();
        print_names("failed as expected", &failing);
        print_names("exercised nothing", &idle);
        tally
    }
}

fn print_names(what: &str, names: &[&str]) {
    if !names.is_empty() {
        println!("  {what}: {}", names.join(", "));
    }
}
