//! Counting what passed and what failed. It prints nothing by itself.

use std::fmt;

use crate::Outcome;

/// Checks that passed and failed, and the runners' own summary lines.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) summaries: Vec<String>,
}

impl Tally {
    /// Adds what a runner came to; a runner that could not finish is one failure.
    pub(crate) fn add(&mut self, runner: &str, ended: Outcome<Tally>) {
        match ended {
            Ok(other) => {
                self.passed += other.passed;
                self.failed += other.failed;
                self.summaries.extend(other.summaries);
            }
            Err(reason) => {
                self.failed += 1;
                eprintln!("{runner}: {reason}");
                let first_line = reason.lines().next().unwrap_or_default();
                self.summaries.push(format!("{runner}: could not finish: {first_line}"));
            }
        }
    }

    /// Prints the summaries and, last and alone on its line, the counts; fails when anything failed.
    pub(crate) fn close(&self) -> Outcome {
        println!();
        for summary in &self.summaries {
            println!("{summary}");
        }
        println!("{self}");
        if self.failed == 0 { Ok(()) } else { Err(format!("{} checks failed, see above", self.failed)) }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}
