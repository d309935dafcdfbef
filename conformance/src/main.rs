//! The server that the MCP conformance suites and the SDKs' clients are run against: Jumpseat through its public
//! API, with the tools that they ask for. It tests nothing itself.
//!
//! `jumpseat-conformance [--port PORT] [--extra-tools COUNT]` prints the URL of its endpoint as its first line, and
//! serves until it is killed.

mod media;
mod tools;

use std::error::Error;
use std::process::ExitCode;
use std::thread;

use jumpseat::{HostApp, Ports, Server};

#[derive(Default)]
struct Options {
    /// 0 is any free port.
    port: u16,
    /// Tools beyond those that the suites call, to fill several pages of `tools/list`.
    extra_tools: u16,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(reason) => {
            eprintln!("{reason}\nusage: jumpseat-conformance [--port PORT] [--extra-tools COUNT]");
            return ExitCode::from(2);
        }
    };
    match serve(&options) {
        Ok(_server) => loop {
            thread::park();
        },
        Err(error) => {
            eprintln!("jumpseat-conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(option) = arguments.next() {
        let value = match option.as_str() {
            "--port" => &mut options.port,
            "--extra-tools" => &mut options.extra_tools,
            _ => return Err(format!("unknown option {option}")),
        };
        let number = arguments.next().and_then(|text| text.parse().ok());
        *value = number.ok_or_else(|| format!("{option} takes a number from 0 to {}", u16::MAX))?;
    }
    Ok(options)
}

fn serve(options: &Options) -> Result<Server, Box<dyn Error>> {
    let app =
        HostApp::new("dev.jumpseat.conformance", "Jumpseat conformance server", env!("CARGO_PKG_VERSION"))
            .debuggable(true);
    let server = Server::builder(app).ports(Ports::Fixed(options.port, options.port)).initialize()?;
    tools::register(&server)?;
    for number in 0..options.extra_tools {
        let name = format!("extra_{number:05}");
        server.add_simple_tool(name, "One of many", |_| Ok("Nothing but this.".to_owned()))?;
    }
    let url = server.start_blocking()?.sse_endpoint.ok_or("the server has no HTTP endpoint")?;
    println!("{url}");
    Ok(server)
}
