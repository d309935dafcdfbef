//! `cargo xtask <command>`: what CI runs, runnable by hand. It holds nothing of the product.

mod bench;
mod checks;
mod ci;
mod conformance;
mod expected;
mod fixture;
mod fuzz;
mod process;
mod readme;
mod sdk;
mod tally;
mod test;
mod tools;

use std::process::ExitCode;

/// What a command comes to; an error says what is wrong and what to do.
type Outcome<T = ()> = Result<T, String>;

struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

/// Every command, in the order in which the help lists them; one command, one file.
const COMMANDS: &[Command] = &[
    Command { name: "setup", about: "install what the tests need into target/tools", run: tools::command },
    Command { name: "test", about: "every test: Rust, conformance suites, SDK clients", run: test::command },
    Command {
        name: "conformance",
        about: "the MCP conformance suites [--url URL]",
        run: conformance::command,
    },
    Command { name: "sdk", about: "the official SDKs' clients [--url URL]", run: sdk::command },
    Command { name: "bench", about: "the server beside its peers [--help]", run: bench::command },
    Command { name: "fuzz", about: "fuzz every target [SECONDS, default 60]", run: fuzz::command },
    Command { name: "ci", about: "everything above, and lints, docs, licences, README", run: ci::command },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = arguments.first().map(String::as_str);
    let Some(command) = COMMANDS.iter().find(|command| Some(command.name) == asked) else {
        eprintln!("usage: cargo xtask <command>\n");
        for Command { name, about, .. } in COMMANDS {
            eprintln!("  {name:<12} {about}");
        }
        return ExitCode::from(2);
    };
    match (command.run)(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask {}: {reason}", command.name);
            ExitCode::FAILURE
        }
    }
}

/// The value of the only option that the command takes, `--url URL`.
fn url_option(arguments: &[String]) -> Outcome<Option<String>> {
    match arguments {
        [] => Ok(None),
        [option, url] if option == "--url" => Ok(Some(url.trim_end_matches('/').to_owned())),
        _ => Err("takes nothing but --url URL".to_owned()),
    }
}
