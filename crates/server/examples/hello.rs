//! The smallest app with a server inside.

use jumpseat::{Ports, Server, Tool};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder(jumpseat::host_app!()).ports(Ports::NextFree).initialize()?;
    server
        .add_simple_tool("debug_info", "What the app is doing now", |_arguments| Ok("nothing much".into()))?;
    server.add_inline_tool(Tool::text("echo", "Says it again"), |arguments, _context| {
        Ok(arguments.str("text").unwrap_or_default())
    })?;
    let info = server.start_blocking()?;
    println!("{:?}", info.sse_endpoint);
    std::thread::park();
    Ok(())
}
