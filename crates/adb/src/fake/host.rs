//! The requests that the server answers itself.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::state::{Server, Target};
use super::{forwards, transport};
use crate::wire;

pub(super) async fn accept(listener: TcpListener, server: Server) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = serve(stream, server.clone());
        server.spawn(async {
            // A client that hangs up is its own business.
            let _ = connection.await;
        });
    }
}

async fn serve(mut stream: TcpStream, server: Server) -> io::Result<()> {
    let request = read_request(&mut stream, &server).await?;
    match request.as_str() {
        "host:version" => {
            let version = server.state().version;
            okay_with(&mut stream, &format!("{version:04x}")).await
        }
        "host:host-features" => okay_with(&mut stream, "shell_v2,cmd,stat_v2,ls_v2,push_sync").await,
        "host:devices-l" => {
            let list = server.state().list();
            okay_with(&mut stream, &list).await
        }
        "host:track-devices-l" => track(stream, &server).await,
        "host:list-forward" => okay_with(&mut stream, &forwards::list(&server)).await,
        "host:killforward-all" => {
            let all = std::mem::take(&mut server.state().forwards);
            forwards::end(all).await;
            stream.write_all(b"OKAYOKAY").await
        }
        request => about_device(stream, request, server).await,
    }
}

async fn about_device(mut stream: TcpStream, request: &str, server: Server) -> io::Result<()> {
    if let Some(serial) = request.strip_prefix("host:tport:serial:") {
        return transport::serve(stream, Target::Serial(serial.to_owned()), true, server).await;
    }
    if let Some(id) = request.strip_prefix("host:transport-id:").and_then(|id| id.parse().ok()) {
        return transport::serve(stream, Target::TransportId(id), false, server).await;
    }
    let Some((target, service)) = target(request, &server) else {
        return fail(&mut stream, "unknown host service").await;
    };
    if let Some(forward) = service.strip_prefix("forward:") {
        return forwards::add(&mut stream, forward, &target, &server).await;
    }
    if let Some(local) = service.strip_prefix("killforward:") {
        return forwards::remove(&mut stream, local, &target, &server).await;
    }
    if service != "features" {
        return fail(&mut stream, "unknown host service").await;
    }
    let features = {
        let state = server.state();
        state.acquire(&target).map(|id| {
            let attached = state.devices.iter().find(|attached| attached.transport_id == id);
            attached.map(|attached| attached.device.features.join(",")).unwrap_or_default()
        })
    };
    match features {
        Ok(features) => okay_with(&mut stream, &features).await,
        Err(reason) => fail(&mut stream, &reason).await,
    }
}

/// Parts `host-serial:SERIAL:SERVICE` and `host-transport-id:ID:SERVICE`. The serial may have colons.
fn target<'r>(request: &'r str, server: &Server) -> Option<(Target, &'r str)> {
    if let Some(rest) = request.strip_prefix("host-transport-id:") {
        let (id, service) = rest.split_once(':')?;
        return Some((Target::TransportId(id.parse().ok()?), service));
    }
    let rest = request.strip_prefix("host-serial:")?;
    let state = server.state();
    let known = state
        .devices
        .iter()
        .map(|attached| &attached.device.serial)
        .filter_map(|serial| Some((serial, rest.strip_prefix(serial.as_str())?.strip_prefix(':')?)))
        .max_by_key(|(serial, _)| serial.len());
    let (serial, service) = match known {
        Some((serial, service)) => (serial.as_str(), service),
        None => rest.split_once(':')?,
    };
    Some((Target::Serial(serial.to_owned()), service))
}

async fn track(mut stream: TcpStream, server: &Server) -> io::Result<()> {
    let mut announced = server.announced.subscribe();
    stream.write_all(b"OKAY").await?;
    loop {
        announced.borrow_and_update();
        let list = server.state().list();
        text(&mut stream, &list).await?;
        if announced.changed().await.is_err() {
            return Ok(());
        }
    }
}

/// Reads a request, and waits until requests are answered.
pub(super) async fn read_request(stream: &mut TcpStream, server: &Server) -> io::Result<String> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let mut request = vec![0; wire::length(length).ok_or(io::ErrorKind::InvalidData)?];
    stream.read_exact(&mut request).await?;
    let request = String::from_utf8(request).map_err(|_| io::ErrorKind::InvalidData)?;
    server.state().requests.push(request.clone());
    let mut held = server.held.subscribe();
    // The sender lives as long as the server.
    let _ = held.wait_for(|held| !held).await;
    Ok(request)
}

pub(super) async fn text(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    let text = wire::request(text).ok_or(io::ErrorKind::InvalidInput)?;
    stream.write_all(&text).await
}

pub(super) async fn okay_with(stream: &mut TcpStream, reply: &str) -> io::Result<()> {
    stream.write_all(b"OKAY").await?;
    text(stream, reply).await
}

pub(super) async fn fail(stream: &mut TcpStream, reason: &str) -> io::Result<()> {
    stream.write_all(b"FAIL").await?;
    text(stream, reason).await
}
