//! `cargo xtask fuzz [SECONDS]`: every target in `fuzz/`, or the property tests with many cases where cargo-fuzz is not.

use std::process::Command;

use crate::Outcome;
use crate::process::{answers, cargo, root, run};

const DEFAULT_SECONDS: u32 = 60;
const CASES: &str = "20000";

/// `cargo xtask fuzz [SECONDS]`.
pub(crate) fn command(arguments: &[String]) -> Outcome {
    let seconds = match arguments {
        [] => Some(DEFAULT_SECONDS),
        [seconds] => seconds.parse().ok(),
        _ => None,
    };
    fuzz(seconds.ok_or("takes nothing but a number of seconds")?)
}

/// Fuzzes each target for so many seconds.
pub(crate) fn fuzz(seconds: u32) -> Outcome {
    if !answers("cargo", &["+nightly", "fuzz", "--version"]) {
        println!(
            "cargo-fuzz or a nightly toolchain is missing: running the property tests, {CASES} cases each"
        );
        let mut tests = cargo(&["test", "-p", "jumpseat-proto", "--test", "properties"]);
        return run(tests.env("PROPTEST_CASES", CASES));
    }
    for target in targets()? {
        println!("fuzzing {target} for {seconds} s");
        let mut fuzz = Command::new("cargo");
        fuzz.args(["+nightly", "fuzz", "run", &target, "--", &format!("-max_total_time={seconds}")]);
        run(fuzz.current_dir(root()))?;
    }
    Ok(())
}

fn targets() -> Outcome<Vec<String>> {
    let listed = Command::new("cargo").args(["+nightly", "fuzz", "list"]).current_dir(root()).output();
    let listed = listed.map_err(|error| format!("cannot list the fuzz targets: {error}"))?;
    if !listed.status.success() {
        return Err(format!("cannot list the fuzz targets: {}", String::from_utf8_lossy(&listed.stderr)));
    }
    Ok(String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect())
}
