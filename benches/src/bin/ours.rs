//! The server under measurement: jumpseat through its public API, as an app would use it. HTTP and WebSocket
//! on one port, one thread.

use std::error::Error;

use jumpseat::{Context, HostApp, Limits, Ports, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct EchoArguments {
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let app = HostApp::new("dev.jumpseat.bench", "Bench", env!("CARGO_PKG_VERSION")).debuggable(true);
    let server = Server::builder(app)
        .ports(Ports::Fixed(0, 0))
        .limits(Limits { max_connections: 2048, ..Limits::default() })
        .initialize()?;
    server.add_inline_tool(
        Tool::typed_text("echo", "Echo the text back").read_only(),
        |arguments: EchoArguments, _: Context| Ok::<_, ToolError>(arguments.text),
    )?;
    server.start_blocking()?;
    let endpoint = server.transport_info().sse_endpoint.ok_or("the server has no HTTP endpoint")?;
    println!("{endpoint}");
    loop {
        std::thread::park();
    }
}
