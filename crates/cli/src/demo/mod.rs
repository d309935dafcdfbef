//! `jumpseat demo`: a small app with a server inside, as an app developer would embed it.

mod app;
mod show;
mod todos;

use jumpseat::{HostApp, Ports, Server, StartError, TransportInfo};

use crate::error::Error;

/// Options of `jumpseat demo`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  jumpseat demo --once    call every tool once, and stop")]
pub(crate) struct Options {
    /// Serve on this port alone (0: any free one), instead of the first free pair from 8080 and 8081 on
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// Stop after the tools have been called once
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let server = start(options.port)?;
    let info = server.transport_info();
    let port = port_of(&info)?;
    show::endpoints(&info);
    show::calls(port)?;
    show::ways_in(&info, port);
    if !options.once {
        show::serving();
        until_told_to_stop()?;
        show::stopping();
    }
    server.stop().map_err(Error::internal)
}

fn start(port: Option<u16>) -> Result<Server, Error> {
    // The demo is a development tool itself, so it is a debug build in any profile.
    let app = HostApp::new("dev.jumpseat.demo", "Jumpseat demo", env!("CARGO_PKG_VERSION")).debuggable(true);
    let ports = match port {
        None => Ports::NextFree,
        // 0 twice would be two ports; the demo wants one.
        Some(0) => {
            let free = free_port().map_err(Error::internal)?;
            Ports::Fixed(free, free)
        }
        Some(port) => Ports::Fixed(port, port),
    };
    let server = Server::builder(app)
        .ports(ports)
        .instructions("A demo app: a to-do list and a counter. Try list_todos first.")
        .initialize()
        .map_err(Error::internal)?;
    app::register(&server).map_err(Error::internal)?;
    server.start_blocking().map_err(|error| match error {
        StartError::PortTaken { .. } => Error::user(&error, "`jumpseat demo --port 0` takes any free port"),
        _ => Error::internal(error),
    })?;
    Ok(server)
}

fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn port_of(info: &TransportInfo) -> Result<u16, Error> {
    let endpoint = info.websocket_endpoint.as_deref().unwrap_or_default();
    let port = endpoint.rsplit(':').next().and_then(|rest| rest.strip_suffix("/mcp")?.parse().ok());
    port.ok_or_else(|| Error::internal(format!("no port in the endpoint {endpoint:?}")))
}

fn until_told_to_stop() -> Result<(), Error> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::internal)?;
    runtime.block_on(stop_signal()).map_err(Error::internal)
}

#[cfg(unix)]
async fn stop_signal() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn stop_signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
