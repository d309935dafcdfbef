//! The load program: N connections, each with one `tools/call` under way, every answer checked.
//!
//! Prints one JSON line. Starts no server and compares nothing: `cargo xtask bench` does.

mod answer;
mod connection;
mod histogram;
mod hold;
mod http;
mod options;
mod run;
mod schedstat;
mod websocket;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = options::Options::parse(std::env::args().skip(1)).and_then(|options| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start the runtime: {error}"))?;
        runtime.block_on(async {
            if options.hold { hold::hold(&options).await } else { run::run(options).await }
        })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}
