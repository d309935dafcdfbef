//! Binding: the ports of 127.0.0.1 and the abstract socket, all of them or none.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::error::StartError;

/// Which ports of 127.0.0.1 to listen on: one for WebSocket, one for HTTP, by name; both serve everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ports {
    /// The first free pair of 8080 and 8081, 8082 and 8083, and so on to 8098 and 8099.
    #[default]
    NextFree,
    /// Just these; a port that is taken fails the start. 0 is any free port, and one port for both is one
    /// listener.
    Fixed(u16, u16),
}

/// Sockets that are bound and listen.
pub(crate) struct Bound {
    pub(crate) tcp: Vec<TcpListener>,
    pub(crate) local: Option<LocalListener>,
    pub(crate) addresses: Addresses,
}

/// Where the server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// The WebSocket port and the HTTP port.
    pub(crate) ports: Option<(u16, u16)>,
    /// The name of the abstract socket, without the `@`.
    pub(crate) local: Option<String>,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) type LocalListener = std::os::unix::net::UnixListener;

/// Abstract sockets are Linux's: elsewhere there are none.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) enum LocalListener {}

/// Binds everything that is asked for. `ports` is `None` when the TCP listeners are switched off.
pub(crate) fn bind(ports: Option<Ports>, app_id: &str) -> Result<Bound, StartError> {
    let (tcp, ports) = match ports {
        None => (Vec::new(), None),
        Some(Ports::Fixed(first, second)) => {
            const HINT: &str = "end the program that has it, or choose another port (Ports)";
            pair(first, second, HINT).map(|(tcp, ports)| (tcp, Some(ports)))?
        }
        Some(Ports::NextFree) => next_free().map(|(tcp, ports)| (tcp, Some(ports)))?,
    };
    with_local(tcp, ports, app_id)
}

/// Adds the abstract socket, where there is one.
fn with_local(tcp: Vec<TcpListener>, ports: Option<(u16, u16)>, app_id: &str) -> Result<Bound, StartError> {
    let (local, name) = bind_local(app_id)?;
    if tcp.is_empty() && local.is_none() {
        return Err(StartError::NoListener);
    }
    Ok(Bound { tcp, local, addresses: Addresses { ports, local: name } })
}

/// Takes the caller's listeners instead, which must be on 127.0.0.1.
pub(crate) fn adopt(tcp: Vec<TcpListener>, app_id: &str) -> Result<Bound, StartError> {
    let failed = |source| StartError::Bind { address: "the given listeners".into(), source };
    let mut ports = Vec::new();
    for listener in &tcp {
        let address = listener.local_addr().map_err(failed)?;
        if address.ip() != Ipv4Addr::LOCALHOST {
            let message = format!("{address} is not on 127.0.0.1, and the server listens nowhere else");
            return Err(failed(io::Error::new(ErrorKind::InvalidInput, message)));
        }
        ports.push(address.port());
    }
    let ports = ports.first().map(|first| (*first, *ports.last().unwrap_or(first)));
    with_local(tcp, ports, app_id)
}

fn next_free() -> Result<(Vec<TcpListener>, (u16, u16)), StartError> {
    for first in (8080..8100).step_by(2) {
        match pair(first, first + 1, "") {
            Err(StartError::PortTaken { .. }) => {}
            bound => return bound,
        }
    }
    let hint =
        "and so is one of each pair up to 8098 and 8099; end a program that has one, or choose other ports";
    Err(StartError::PortTaken { port: 8080, hint })
}

fn pair(first: u16, second: u16, hint: &'static str) -> Result<(Vec<TcpListener>, (u16, u16)), StartError> {
    let one = first == second && first != 0;
    let mut listeners = vec![tcp(first, hint)?];
    if !one {
        listeners.push(tcp(second, hint)?);
    }
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    let ports = listeners.iter().map(port).collect::<io::Result<Vec<_>>>();
    let ports = ports.map_err(|source| StartError::Bind { address: "127.0.0.1".into(), source })?;
    Ok((listeners, (ports[0], *ports.last().unwrap_or(&ports[0]))))
}

fn tcp(port: u16, hint: &'static str) -> Result<TcpListener, StartError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).map_err(|source| match source.kind() {
        ErrorKind::AddrInUse => StartError::PortTaken { port, hint },
        _ => StartError::Bind { address: address.to_string(), source },
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind_local(app_id: &str) -> Result<(Option<LocalListener>, Option<String>), StartError> {
    #[cfg(target_os = "android")]
    use std::os::android::net::SocketAddrExt;
    #[cfg(target_os = "linux")]
    use std::os::linux::net::SocketAddrExt;

    let name = local_name(app_id, std::process::id());
    let bound = std::os::unix::net::SocketAddr::from_abstract_name(&name)
        .and_then(|address| LocalListener::bind_addr(&address));
    match bound {
        Ok(listener) => Ok((Some(listener), Some(name))),
        Err(source) => Err(StartError::Bind { address: format!("@{name}"), source }),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn bind_local(_app_id: &str) -> Result<(Option<LocalListener>, Option<String>), StartError> {
    Ok((None, None))
}

/// `jumpseat_<app id>_<pid>`, within the 107 bytes that such a name may have.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn local_name(app_id: &str, pid: u32) -> String {
    let (prefix, suffix) = ("jumpseat_", format!("_{pid}"));
    let room = 107 - prefix.len() - suffix.len();
    let end = (0..=room.min(app_id.len())).rev().find(|&end| app_id.is_char_boundary(end)).unwrap_or(0);
    format!("{prefix}{}{suffix}", &app_id[..end])
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_local_name_keeps_its_pid_whatever_the_id() {
        assert_eq!(local_name("com.example", 42), "jumpseat_com.example_42");
        let long = local_name(&"ü".repeat(200), 4_194_304);
        assert!(long.len() <= 107 && long.ends_with("_4194304"), "{long}");
    }

    #[test]
    fn a_taken_port_is_named_and_nothing_stays_bound() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = bind(Some(Ports::Fixed(free, port)), "test.ports").map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(&format!("port {port} of 127.0.0.1 is taken")), "{error}");
        assert!(TcpListener::bind(("127.0.0.1", free)).is_ok());
    }

    #[test]
    fn one_port_for_both_is_one_listener() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let bound = bind(Some(Ports::Fixed(free, free)), "test.one-port").unwrap();
        assert_eq!(bound.tcp.len(), 1);
        assert_eq!(bound.addresses.ports, Some((free, free)));
    }
}
