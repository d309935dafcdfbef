//! `jumpseat`: the workstation's side of Jumpseat. It reads the command line and hands over to a command.

mod client;
mod demo;
mod error;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// A seat for coding agents inside a running app.
#[derive(Parser)]
#[command(name = "jumpseat", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a small app with a server inside, call its tools once, and serve until Ctrl-C.
    Demo(demo::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Demo(options) => demo::run(&options),
    };
    done.map_or_else(Error::report, |()| ExitCode::SUCCESS)
}
