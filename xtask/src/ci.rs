//! `cargo xtask ci`: everything that must hold before a change goes in. Every step runs even when one before it failed.

use std::process::Command;

use crate::process::{cargo, root, run};
use crate::tally::Tally;
use crate::{Outcome, fuzz, readme, test, tools};

const FUZZ_SECONDS: u32 = 10;

/// `cargo xtask ci`.
pub(crate) fn command(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("takes no arguments".to_owned());
    }
    let mut tally = Tally::default();
    step(&mut tally, "fmt", || run(&mut cargo(&["fmt", "--all", "--check"])));
    step(&mut tally, "clippy", || {
        run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
    });
    step(&mut tally, "doc", || {
        run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
    });
    step(&mut tally, "deny", deny);
    tally.add("tests", Ok(test::run()));
    step(&mut tally, "fuzz", || fuzz::fuzz(FUZZ_SECONDS));
    step(&mut tally, "README", readme::run);
    tally.close()
}

/// Runs the step and counts it as one check.
fn step(tally: &mut Tally, name: &str, run: impl FnOnce() -> Outcome) {
    println!("== {name}");
    match run() {
        Ok(()) => tally.passed += 1,
        Err(reason) => tally.add(name, Err(reason)),
    }
}

/// Licences, sources and bans always; known vulnerabilities where their database can be fetched.
fn deny() -> Outcome {
    let program = tools::cargo_deny()?;
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(root());
        command
    };
    let check = ["--log-level", "error", "check", "--hide-inclusion-graph"];
    run(deny(&check).args(["bans", "licenses", "sources"]))?;
    let fetched = deny(&["--log-level", "off", "fetch", "db"]).status();
    if !fetched.is_ok_and(|status| status.success()) {
        println!("advisories NOT checked: their database cannot be fetched from here");
        return Ok(());
    }
    run(deny(&check).arg("advisories"))
}
