//! `cargo xtask bench`: jumpseat beside its peers, in turn on one machine, held against the project's goals.
//!
//! The servers and the load program are programs of `benches/`; nothing is measured inside this process.

mod goals;
mod load;
mod machine;
mod process;
mod report;
mod rest;
mod samples;

use std::path::PathBuf;
use std::process::Command;

use samples::Samples;

const USAGE: &str = "\
usage: cargo xtask bench [options]
  --quick          one short round, to see that all of it works
  --rounds N       rounds whose median counts [3]
  --only LIST      of http,ws,start,memory,idle,size
  --markdown FILE  also write the tables there";

/// What can be chosen with `--only`.
const GROUPS: [&str; 6] = ["http", "ws", "start", "memory", "idle", "size"];

struct Options {
    quick: bool,
    rounds: usize,
    only: Vec<String>,
    markdown: Option<PathBuf>,
}

/// Measures and prints; an unreached goal is printed, not an error.
///
/// # Errors
///
/// When something cannot be built, started or read, or when a server gave a wrong answer.
pub(crate) fn command(args: &[String]) -> Result<(), String> {
    if args == ["--help"] {
        println!("{USAGE}");
        return Ok(());
    }
    let options = parse(args)?;
    let wants = |group: &str| options.only.iter().any(|only| only == group);
    machine::check()?;
    let mut samples = Samples::default();
    let programs = build("release", &["load", "ours", "bare-hyper", "rmcp-http", "bare-ws", "rmcp-ws"])?;
    let machine = machine::describe()?;
    for round in 1..=options.rounds {
        eprintln!("round {round} of {}", options.rounds);
        for load in [&load::HTTP, &load::WEBSOCKET].into_iter().filter(|load| wants(load.transport)) {
            load.run(&programs, options.quick, &mut samples)?;
        }
        if wants("memory") {
            rest::idle_websockets(&programs, &mut samples)?;
        }
    }
    if wants("idle") {
        rest::wake_ups(&programs, &mut samples)?;
    }
    if wants("start") {
        rest::start(&programs, if options.quick { 3 } else { 20 }, &mut samples)?;
    }
    if wants("size") {
        rest::size(&build("size", &rest::SIZED)?, &mut samples)?;
    }
    let report = report::markdown(&machine, args, &samples);
    println!("{report}");
    match options.markdown {
        Some(path) => {
            std::fs::write(&path, report).map_err(|error| format!("cannot write {}: {error}", path.display()))
        }
        None => Ok(()),
    }
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options =
        Options { quick: false, rounds: 3, only: GROUPS.map(str::to_owned).to_vec(), markdown: None };
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"));
        match name.as_str() {
            "--quick" => (options.quick, options.rounds) = (true, 1),
            "--rounds" => options.rounds = value()?.parse().map_err(|_| "--rounds needs a whole number")?,
            "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
            "--markdown" => options.markdown = Some(value()?.into()),
            _ => return Err(format!("unknown option {name}\n{USAGE}")),
        }
    }
    match options.only.iter().find(|only| !GROUPS.contains(&only.as_str())) {
        Some(only) => Err(format!("--only knows {}, not {only}", GROUPS.join(", "))),
        None => Ok(options),
    }
}

/// Builds these programs of `benches/` and returns the folder that they are in.
fn build(profile: &str, programs: &[&str]) -> Result<PathBuf, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--package", "jumpseat-benches", "--profile", profile]);
    cargo.args(programs.iter().flat_map(|program| ["--bin", program]));
    let built = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !built.success() {
        return Err(format!("building the programs of benches/ failed: {built}"));
    }
    // This program is <target>/debug/xtask.
    let own = std::env::current_exe()
        .map_err(|error| format!("cannot tell where the target folder is: {error}"))?;
    let target = own.ancestors().nth(2).ok_or("cannot tell where the target folder is")?;
    Ok(target.join(profile))
}
