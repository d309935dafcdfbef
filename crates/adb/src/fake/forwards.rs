//! Forwards: listeners on `127.0.0.1` that are piped to a device's services.

use std::io::{self, ErrorKind};
use std::net::TcpListener as Bound;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::host::{fail, text};
use super::state::{Server, State, Target};
use super::transport;
use crate::endpoint::Endpoint;
use crate::forward::Forward;

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) forward: Forward,
    pub(super) transport_id: u64,
    pub(super) task: JoinHandle<()>,
}

/// Ends listeners that were taken out of the state. Their ports are free afterwards.
pub(super) async fn end(listeners: Vec<Listener>) {
    for listener in listeners {
        listener.task.abort();
        // It was aborted, which is an error to who waits for it.
        let _ = listener.task.await;
    }
}

pub(super) fn list(server: &Server) -> String {
    let state = server.state();
    let lines = state.forwards.iter().map(|listener| {
        let Forward { serial, local, remote } = &listener.forward;
        format!("{serial} {local} {remote}\n")
    });
    lines.collect()
}

/// Answers `forward:[norebind:]LOCAL;REMOTE`.
pub(super) async fn add(
    stream: &mut TcpStream,
    request: &str,
    target: &Target,
    server: &Server,
) -> io::Result<()> {
    let (request, rebinds) = match request.strip_prefix("norebind:") {
        Some(rest) => (rest, false),
        None => (request, true),
    };
    let Some((local, remote)) = request.split_once(';') else { return fail(stream, "bad forward").await };
    let added = bind(server, target, &Endpoint::listed(local), &Endpoint::listed(remote), rebinds);
    match added {
        Err(reason) => fail(stream, &reason).await,
        Ok(Some(port)) => {
            stream.write_all(b"OKAYOKAY").await?;
            text(stream, &port.to_string()).await
        }
        Ok(None) => stream.write_all(b"OKAYOKAY").await,
    }
}

/// Makes a listener, and gives its port if it is a new one.
fn bind(
    server: &Server,
    target: &Target,
    local: &Endpoint,
    remote: &Endpoint,
    rebinds: bool,
) -> Result<Option<u16>, String> {
    let mut state = server.state();
    // adb loses the reason here.
    let transport_id = state.acquire(target).map_err(|_| String::new())?;
    let serial = serial(&state, transport_id);
    if *local == Endpoint::Tcp(server.port) {
        return Err("internal error".to_owned());
    }
    if let Some(listener) = state.forwards.iter_mut().find(|listener| listener.forward.local == *local) {
        if !rebinds {
            return Err("cannot rebind existing socket".to_owned());
        }
        listener.forward = Forward { serial, local: local.clone(), remote: remote.clone() };
        listener.transport_id = transport_id;
        return Ok(None);
    }
    let Endpoint::Tcp(port) = *local else {
        return Err("cannot bind listener: the fake has TCP ports only".to_owned());
    };
    let (listener, port) = listen(port).map_err(|error| {
        let in_use = error.kind() == ErrorKind::AddrInUse;
        let reason = if in_use { "Address already in use".to_owned() } else { error.to_string() };
        format!("cannot bind listener: {reason}")
    })?;
    let forward = Forward { serial, local: Endpoint::Tcp(port), remote: remote.clone() };
    let task = tokio::spawn(accept(listener, forward.local.clone(), server.clone()));
    state.forwards.push(Listener { forward, transport_id, task });
    Ok(Some(port))
}

fn serial(state: &State, transport_id: u64) -> String {
    let attached = state.devices.iter().find(|attached| attached.transport_id == transport_id);
    attached.map(|attached| attached.device.serial.clone()).unwrap_or_default()
}

fn listen(port: u16) -> io::Result<(TcpListener, u16)> {
    let listener = Bound::bind(("127.0.0.1", port))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((TcpListener::from_std(listener)?, port))
}

async fn accept(listener: TcpListener, local: Endpoint, server: Server) {
    while let Ok((stream, _)) = listener.accept().await {
        // Looked up for each connection: somebody may have led the forward elsewhere.
        let service = {
            let state = server.state();
            let held = state.forwards.iter().find(|held| held.forward.local == local);
            held.and_then(|held| state.service(held.transport_id, &held.forward.remote.to_string()))
        };
        // Without a service, the connection was accepted and ends at once.
        let Some((service, alive)) = service else { continue };
        let pipes = server.clone();
        server.spawn(async move {
            if let Ok(far) = transport::connect(&service, &pipes).await {
                transport::pipe(stream, far, alive).await;
            }
        });
    }
}

/// Answers `killforward:LOCAL`, which minds only that the device can be used.
pub(super) async fn remove(
    stream: &mut TcpStream,
    local: &str,
    target: &Target,
    server: &Server,
) -> io::Result<()> {
    let taken = take(&mut server.state(), &Endpoint::listed(local), target);
    match taken {
        Ok(listener) => {
            end(vec![listener]).await;
            stream.write_all(b"OKAYOKAY").await
        }
        Err(reason) => fail(stream, &reason).await,
    }
}

fn take(state: &mut State, local: &Endpoint, target: &Target) -> Result<Listener, String> {
    // adb loses the reason here.
    state.acquire(target).map_err(|_| String::new())?;
    let at = state.forwards.iter().position(|listener| listener.forward.local == *local);
    at.map(|at| state.forwards.remove(at)).ok_or_else(|| format!("listener '{local}' not found"))
}
