//! Which ports the server listens on, and that it starts whole or not at all.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use jumpseat::{Ports, Server, StartError, TransportInfo};
use serde_json::Value;
use support::{DEADLINE, app, builder, free_port, get, start};

fn hold(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

fn port(endpoint: Option<&String>) -> u16 {
    let endpoint = endpoint.unwrap();
    endpoint.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap()
}

fn ports(info: &TransportInfo) -> (u16, u16) {
    (port(info.websocket_endpoint.as_ref()), port(info.sse_endpoint.as_ref()))
}

#[tokio::test]
async fn only_127_0_0_1_is_listened_on() {
    let server = start();
    for port in [server.port, server.http_port] {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        for other in ["127.0.0.2", "127.255.255.254", "::1"] {
            let address = SocketAddr::new(other.parse().unwrap(), port);
            TcpStream::connect(address).expect_err(other);
        }
    }
}

#[tokio::test]
async fn fixed_ports_are_the_ports() {
    let (first, second) = (free_port(), free_port());
    let server = Server::builder(app()).ports(Ports::Fixed(first, second)).initialize().unwrap();
    let info = server.start_blocking().unwrap();
    assert_eq!(ports(&info), (first, second));
    for port in [first, second] {
        assert_eq!(get(port, "/mcp/status", &[]).await.json()["app"]["id"], info.app.id);
    }
    server.stop().unwrap();
    // It has let go of them, and takes them again.
    assert_eq!(ports(&server.start_blocking().unwrap()), (first, second));
    server.stop().unwrap();
}

#[tokio::test]
async fn a_taken_port_fails_the_start_by_its_name_and_nothing_is_left_open() {
    let taken = hold(0).unwrap();
    let taken_port = taken.local_addr().unwrap().port();
    let free = free_port();
    for pair in [(taken_port, free), (free, taken_port), (taken_port, taken_port)] {
        let server = Server::builder(app()).ports(Ports::Fixed(pair.0, pair.1)).initialize().unwrap();
        // The second time says that the first one has kept nothing.
        for _ in 0..2 {
            let error = server.start_blocking().unwrap_err();
            assert!(matches!(error, StartError::PortTaken { port, .. } if port == taken_port), "{error:?}");
            assert!(error.to_string().contains(&format!("port {taken_port} of 127.0.0.1")), "{error}");
            assert!(!server.is_server_running());
            let info = server.transport_info();
            assert_eq!((info.is_running, info.websocket_endpoint, info.local_socket), (false, None, None));
        }
    }
    let server = Server::builder(app()).ports(Ports::Fixed(free, taken_port)).initialize().unwrap();
    assert!(server.start_blocking().is_err());
    drop(taken);
    assert_eq!(ports(&server.start_blocking().unwrap()), (free, taken_port));
    server.stop().unwrap();
}

/// Of all that takes from these ports, this is the only test in here; another program may take some at any time.
#[tokio::test]
async fn next_free_is_the_first_pair_that_is_free() {
    let start = || {
        let server = builder().ports(Ports::NextFree).initialize().unwrap();
        let ports = server.start_blocking().map(|info| ports(&info));
        (server, ports)
    };
    let (first, first_pair) = start();
    let (second, second_pair) = start();
    let (first_pair, second_pair) = (first_pair.unwrap(), second_pair.unwrap());
    assert!(first_pair.0 < second_pair.0);
    for (one, other) in [first_pair, second_pair] {
        assert!((8080..8100).contains(&one) && one % 2 == 0 && other == one + 1, "{one}, {other}");
    }
    // A pair with one port taken is passed over, whichever it is, and its other port is not kept.
    for server in [first, second] {
        server.stop().unwrap();
    }
    for (taken, free) in [first_pair, (first_pair.1, first_pair.0)] {
        let taken = hold(taken).unwrap();
        let (third, third_pair) = start();
        let (one, other) = third_pair.unwrap();
        assert!(one > first_pair.0 && one % 2 == 0 && other == one + 1, "{one}, {other}");
        assert_ne!(answering_app(free), Some(third.transport_info().app.id));
        third.stop().unwrap();
        drop(taken);
    }
    // With none left, it says so, and takes none of its own choice.
    let all: Vec<_> = (8080..8100).filter_map(|port| hold(port).ok()).collect();
    let (fourth, none) = start();
    drop(all);
    let error = none.unwrap_err().to_string();
    assert!(error.contains("8080") && error.contains("8099"), "{error}");
    assert!(!fourth.is_server_running());
}

/// The id of the app that answers on a port, if one does.
fn answering_app(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(b"GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("who listens, answers");
    let status: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    status["app"]["id"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn a_server_that_says_that_it_runs_can_be_connected_to() {
    for _ in 0..20 {
        let server = builder().initialize().unwrap();
        let watcher = std::thread::spawn({
            let server = server.clone();
            move || {
                while !server.is_server_running() {
                    std::hint::spin_loop();
                }
                let (first, second) = ports(&server.transport_info());
                (answering_app(first), answering_app(second))
            }
        });
        server.start_blocking().unwrap();
        let id = Some(server.transport_info().app.id);
        assert_eq!(watcher.join().unwrap(), (id.clone(), id));
        server.stop().unwrap();
    }
}

#[tokio::test]
async fn listeners_of_the_apps_own_must_be_on_127_0_0_1() {
    for address in ["0.0.0.0:0", "127.0.0.2:0", "[::1]:0", "[::]:0"] {
        // Not every machine has all of these.
        let Ok(listener) = TcpListener::bind(address) else { continue };
        let server = Server::builder(app()).initialize().unwrap();
        let error = server.serve([listener], std::future::pending()).await.unwrap_err();
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
        assert!(!server.is_server_running());
    }
}
