//! The abstract Unix socket: its name, whom it serves, and a server that has nothing else.
#![cfg(any(target_os = "android", target_os = "linux"))]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::io::{Read, Write};
#[cfg(target_os = "android")]
use std::os::android::net::SocketAddrExt;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use jumpseat::{HostApp, Ports, Server, Tool};
use rustix::io::Errno;
use rustix::process::{Uid, getuid};
use serde_json::{Value, json};
use support::door::Door;
use support::websocket::WebSocket;
use support::{Events, JSON, app, builder, call, free_port, request};
use tokio::net::TcpStream;

/// A server without TCP, and the name of its socket.
fn start_local_only(app: HostApp, ports: Ports) -> (Server, String) {
    let server = Server::builder(app).ports(ports).local_socket_only(true).initialize().unwrap();
    let echo = Tool::text("echo", "");
    server.add_inline_tool(echo, |arguments, _| Ok(arguments.str("text").unwrap_or_default())).unwrap();
    let name = server.start_blocking().unwrap().local_socket.unwrap();
    (server, name)
}

fn address(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(name).unwrap()
}

#[tokio::test]
async fn the_socket_is_named_after_the_app_and_its_process() {
    let pid = std::process::id();
    let app = HostApp::new("com.example.named", "", "").debuggable(true);
    let (server, name) = start_local_only(app, Ports::NextFree);
    assert_eq!(name, format!("jumpseat_com.example.named_{pid}"));
    server.stop().unwrap();
    // A name has room for 107 bytes: the pid is kept.
    let app = HostApp::new("com.example.".repeat(20), "", "").debuggable(true);
    let (server, name) = start_local_only(app, Ports::NextFree);
    assert!(name.starts_with("jumpseat_com.example.com.") && name.ends_with(&format!("_{pid}")), "{name}");
    UnixStream::connect_addr(&address(&name)).unwrap();
    server.stop().unwrap();
}

#[tokio::test]
async fn a_server_with_the_local_socket_only_has_no_port_and_serves_everything() {
    let (first, second) = (free_port(), free_port());
    let (server, name) = start_local_only(app(), Ports::Fixed(first, second));
    for port in [first, second] {
        TcpStream::connect(("127.0.0.1", port)).await.unwrap_err();
    }
    let door = Door::Local(name.clone());
    for path in ["/mcp", "/mcp/status"] {
        let status = door.connect().await.roundtrip("GET", path, &[], b"").await.json();
        assert_eq!((&status["is_running"], &status["local_socket"]), (&json!(true), &json!(name)));
        for key in ["websocket", "sse", "message", "events", "status"] {
            assert_eq!(status.get(format!("{key}_endpoint")), Some(&Value::Null), "{key}");
        }
    }
    for path in ["/mcp", "/mcp/message"] {
        let body = call(1, "echo", &json!({"text": "hi"}));
        let response = door.connect().await.roundtrip("POST", path, &[JSON], body.as_bytes()).await;
        assert_eq!(response.json()["result"]["content"][0]["text"], "hi");
    }
    let mut socket = WebSocket::over(door.stream().await).await;
    assert_eq!(socket.ask(request(1, "ping", &json!({}))).await["result"], json!({}));
    let mut events = Events::over(door.connect().await, "GET", "/mcp/events", &[], b"").await;
    assert!(events.next().await.unwrap().comment.is_some());
    let page = door.connect().await.roundtrip("GET", "/", &[], b"").await.text();
    assert!(page.contains(&format!("@{name}")) && !page.contains("ws://"), "{page}");
    server.stop().unwrap();
}

#[tokio::test]
async fn the_socket_goes_with_the_server_and_comes_back_with_it() {
    let (server, name) = start_local_only(app(), Ports::NextFree);
    for _ in 0..3 {
        UnixStream::connect_addr(&address(&name)).unwrap();
        server.stop().unwrap();
        UnixStream::connect_addr(&address(&name)).unwrap_err();
        assert_eq!(server.transport_info().local_socket, None);
        assert_eq!(server.start_blocking().unwrap().local_socket.as_ref(), Some(&name));
    }
    server.stop().unwrap();
}

#[tokio::test]
async fn a_taken_name_fails_the_start_and_nothing_is_left_open() {
    let app = app();
    let id = app.id().to_owned();
    let name = format!("jumpseat_{id}_{}", std::process::id());
    let taken = UnixListener::bind_addr(&address(&name)).unwrap();
    let (first, second) = (free_port(), free_port());
    let server = Server::builder(app).ports(Ports::Fixed(first, second)).initialize().unwrap();
    let error = server.start_blocking().unwrap_err().to_string();
    assert!(error.contains(&format!("@{name}")), "{error}");
    assert!(!server.is_server_running());
    for port in [first, second] {
        TcpStream::connect(("127.0.0.1", port)).await.unwrap_err();
    }
    drop(taken);
    server.start_blocking().unwrap();
    TcpStream::connect(("127.0.0.1", first)).await.unwrap();
    server.stop().unwrap();
}

/// Asks for the status as another user. An error when we may not be that user.
fn ask_as(uid: u32, name: &str) -> Result<String, Errno> {
    let name = name.to_owned();
    let peer = move || {
        // On Linux, a thread has a user of its own, and it is what the other end of a socket sees.
        let uid = Uid::from_raw(uid);
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
        let mut stream = UnixStream::connect_addr(&address(&name)).unwrap();
        // A refusal does not wait for a request.
        _ = stream.write_all(b"GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        Ok(answer)
    };
    std::thread::spawn(peer).join().unwrap()
}

#[test]
fn the_socket_serves_root_the_shell_and_the_app_and_refuses_everybody_else() {
    let server = support::start_with(builder());
    let name = server.server.transport_info().local_socket.unwrap();
    let own = getuid().as_raw();
    let mut asked = 0;
    for uid in [own, 0, 2000, 1, 1000, 1999, 2001, 10_123, 65_534, u32::MAX - 1] {
        match ask_as(uid, &name) {
            Ok(answer) if [own, 0, 2000].contains(&uid) => {
                assert!(answer.starts_with("HTTP/1.1 200 "), "uid {uid}: {answer}");
            }
            Ok(answer) => {
                let (head, body) = answer.split_once("\r\n\r\n").unwrap();
                assert!(
                    head.starts_with("HTTP/1.1 403 ") && head.contains("application/json"),
                    "uid {uid}: {head}"
                );
                let body: Value = serde_json::from_str(body).unwrap();
                let message = body["error"]["message"].as_str().unwrap();
                assert!(message.contains(&format!("uid {uid}")), "{message}");
            }
            // Only root may become others. (What they get is also checked where the server decides it.)
            Err(error) => {
                assert_eq!(error, Errno::PERM);
                assert!(own != 0 && uid != own, "uid {uid}");
                continue;
            }
        }
        asked += 1;
    }
    assert_eq!(asked, if own == 0 { 10 } else { 1 });
}
