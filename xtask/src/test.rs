//! `cargo xtask test`: every test there is, all of them even when one fails, and one line at the end that counts them.

use std::time::Duration;

use crate::process::{answers, capture, cargo};
use crate::tally::Tally;
use crate::{Outcome, conformance, sdk, tools};

const RUST_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// `cargo xtask test`.
pub(crate) fn command(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("takes no arguments".to_owned());
    }
    run().close()
}

/// Runs the Rust tests, the conformance suites and the SDK clients.
pub(crate) fn run() -> Tally {
    let mut tally = Tally::default();
    if answers("cargo", &["nextest", "--version"]) {
        tally.add("nextest", rust_tests("nextest", &["nextest", "run", "--workspace", "--no-fail-fast"]));
        tally.add("doc tests", rust_tests("doc tests", &["test", "--workspace", "--doc", "--no-fail-fast"]));
    } else {
        tally.add("cargo test", rust_tests("cargo test", &["test", "--workspace", "--no-fail-fast"]));
    }
    match tools::setup() {
        Ok(()) => {
            tally.add("conformance", conformance::run(None));
            tally.add("sdk", sdk::run(None));
        }
        Err(reason) => tally.add("setup", Err(reason)),
    }
    tally
}

fn rust_tests(runner: &str, arguments: &[&str]) -> Outcome<Tally> {
    let finished = capture(&mut cargo(arguments), RUST_DEADLINE, true)?;
    let mut tally = Tally::default();
    for line in finished.stdout.lines().chain(finished.stderr.lines()).map(str::trim) {
        if let Some((passed, failed)) = counts(line) {
            tally.passed += passed;
            tally.failed += failed;
            if runner == "nextest" {
                tally.summaries.push(line.to_owned());
            }
        }
    }
    if !finished.success && tally.failed == 0 {
        return Err("ended with an error, see above".to_owned());
    }
    if runner != "nextest" {
        tally.summaries.push(format!("{runner}: {tally}"));
    }
    Ok(tally)
}

/// Passed and failed from a runner's summary line: `test result: ok. 4 passed; 0 failed; …` of `cargo test`, or
/// `Summary [ 0.1s] 5 tests run: 3 passed, 1 failed, 1 timed out, 0 skipped` of nextest.
fn counts(line: &str) -> Option<(usize, usize)> {
    let parts = if let Some(result) = line.strip_prefix("test result: ") {
        result.split_once(". ")?.1.split(';')
    } else {
        line.strip_prefix("Summary [")?.split_once(" run: ")?.1.split(';')
    };
    let mut totals = (0, 0);
    for part in parts.flat_map(|part| part.split(',')) {
        let (number, what) = part.trim().split_once(' ')?;
        let Ok(number) = number.parse::<usize>() else { continue };
        match what.split(' ').next() {
            Some("passed") => totals.0 += number,
            Some("failed" | "timed" | "exec") => totals.1 += number,
            _ => {}
        }
    }
    Some(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_summaries_are_counted() {
        assert_eq!(
            counts(
                "test result: ok. 4 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.0s"
            ),
            Some((4, 1))
        );
        assert_eq!(
            counts("Summary [   0.004s] 5 tests run: 3 passed (1 slow), 1 failed, 1 timed out, 2 skipped"),
            Some((3, 2))
        );
        assert_eq!(counts("Summary [   0.000s] 0 tests run: 0 passed, 0 skipped"), Some((0, 0)));
        assert_eq!(counts("test a_name ... ok"), None);
    }
}
