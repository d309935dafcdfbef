//! WebSocket as an honest client uses it: the handshake, messages both ways, order, and the end.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::Server;
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::{CONTINUATION, End, FIN, HANDSHAKE, PING, PONG, TEXT, WebSocket, close, frame};
use support::{Http, call, modern, request, soon, start, until};
use tokio::net::TcpStream;

async fn tcp(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

fn websockets(server: &Server) -> usize {
    server.transport_info().connections.websocket
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

#[tokio::test]
async fn the_handshake_is_that_of_rfc_6455() {
    let server = start();
    let (_, response) = WebSocket::handshake(tcp(server.port).await, &HANDSHAKE).await;
    assert_eq!(response.status, 101);
    assert_eq!(response.header("upgrade"), Some("websocket"));
    assert!(response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("upgrade")));
    assert_eq!(response.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    assert_eq!(response.header("sec-websocket-extensions"), None);
}

#[tokio::test]
async fn the_subprotocol_mcp_is_echoed_only_when_it_is_offered() {
    const OFFER: &str = "Sec-WebSocket-Protocol";
    let server = start();
    for (offered, echoed) in [
        (vec![], None),
        (vec!["mcp"], Some("mcp")),
        (vec!["graphql-ws, mcp"], Some("mcp")),
        (vec!["graphql-ws", "mcp"], Some("mcp")),
        (vec!["graphql-ws"], None),
        (vec!["mcp2"], None),
    ] {
        let offers: Vec<_> = offered.iter().map(|offer| (OFFER, *offer)).collect();
        let headers = [&HANDSHAKE, &*offers].concat();
        let (mut socket, response) = WebSocket::handshake(tcp(server.port).await, &headers).await;
        assert_eq!(response.status, 101, "{offered:?}");
        assert_eq!(response.header("sec-websocket-protocol"), echoed, "{offered:?}");
        assert_eq!(text(&socket.ask(call(1, "echo", &json!({"text": "hi"}))).await), "hi");
    }
}

#[tokio::test]
async fn a_bad_handshake_is_refused_with_the_reason() {
    let server = start();
    let without = |name: &str| -> Vec<_> { HANDSHAKE.into_iter().filter(|(n, _)| *n != name).collect() };
    let with = |name: &'static str, value| [without(name), vec![(name, value)]].concat();
    for (headers, status, reason) in [
        (without("Connection"), 400, "Connection: Upgrade"),
        (with("Connection", "keep-alive"), 400, "Connection: Upgrade"),
        (without("Sec-WebSocket-Version"), 426, "Sec-WebSocket-Version: 13"),
        (with("Sec-WebSocket-Version", "8"), 426, "Sec-WebSocket-Version: 13"),
        (without("Sec-WebSocket-Key"), 400, "Sec-WebSocket-Key"),
        (with("Sec-WebSocket-Key", "c2hvcnQ="), 400, "Sec-WebSocket-Key"),
        (with("Origin", "https://evil.example.com"), 403, "Origin"),
        (with("Host", "evil.example.com"), 403, "Host"),
    ] {
        let mut http = Http::connect(server.port).await;
        http.send("GET", "/mcp", &headers, b"").await;
        let response = http.response().await;
        assert_eq!(response.status, status, "{headers:?}");
        let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(reason), "{message}");
        assert_eq!(response.header("sec-websocket-version"), (status == 426).then_some("13"));
    }
    assert_eq!(websockets(&server.server), 0);
}

#[tokio::test]
async fn only_a_get_of_mcp_is_upgraded() {
    let server = start();
    for (method, path, status) in [("POST", "/mcp", 415), ("GET", "/mcp/status", 200), ("GET", "/ws", 404)] {
        let mut http = Http::connect(server.port).await;
        http.send(method, path, &HANDSHAKE, b"").await;
        assert_eq!(http.response().await.status, status, "{method} {path}");
    }
}

#[tokio::test]
async fn a_message_that_comes_with_the_handshake_is_answered() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    let headers = HANDSHAKE.map(|(name, value)| format!("{name}: {value}\r\n")).concat();
    let head = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    let early = frame(FIN | TEXT, call("early", "echo", &json!({"text": "bird"})).as_bytes());
    http.write([head.as_bytes(), &early].concat()).await;
    assert_eq!(http.head().await.status, 101);
    let reply = WebSocket { http }.message().await;
    assert_eq!((&reply["id"], text(&reply)), (&json!("early"), "bird"));
}

#[tokio::test]
async fn every_listener_serves_websockets() {
    let server = start();
    for port in [server.port, server.http_port] {
        let mut socket = WebSocket::connect(port).await;
        assert_eq!(text(&socket.ask(call(1, "echo", &json!({"text": "tcp"}))).await), "tcp");
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::net::SocketAddrExt;
        let name = server.server.transport_info().local_socket.unwrap();
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
        let stream = std::os::unix::net::UnixStream::connect_addr(&address).unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut socket = WebSocket::over(tokio::net::UnixStream::from_std(stream).unwrap()).await;
        assert_eq!(text(&socket.ask(call(1, "echo", &json!({"text": "local"}))).await), "local");
    }
}

#[tokio::test]
async fn requests_need_no_handshake_of_mcp() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let reply = socket.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let names: Vec<_> =
        reply["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["app_info", "device_info", "echo", "system_time"]);
}

#[tokio::test]
async fn one_websocket_speaks_every_revision_message_by_message() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let reply = socket.ask(request(1, "initialize", &params)).await;
        assert_eq!(reply["result"]["protocolVersion"], revision);
        assert_eq!(reply["result"]["capabilities"]["tools"]["listChanged"], true);
        socket.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!(socket.ask(request(2, "ping", &json!({}))).await["result"], json!({}));
    }
    let reply = socket.ask(modern(3, "server/discover", &json!({})).0).await;
    assert_eq!(reply["result"]["supportedVersions"][0], "2026-07-28");
    let reply = socket.ask(modern(4, "ping", &json!({})).0).await;
    assert_eq!(reply["error"]["code"], -32601, "2026-07-28 has no ping");
    assert_eq!(socket.ask(request(5, "ping", &json!({}))).await["result"], json!({}));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    const MANY: usize = 2_000;
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let message = |id| frame(FIN | TEXT, call(id, "echo", &json!({"text": "x".repeat(id % 300)})).as_bytes());
    let all: Vec<u8> = (0..MANY).flat_map(message).collect();
    socket.http.write(&all).await;
    for id in 0..MANY {
        let reply = socket.message().await;
        assert_eq!((reply["id"].as_u64(), text(&reply).len()), (Some(id as u64), id % 300));
    }
}

#[tokio::test]
async fn a_slow_tool_holds_up_nobody() {
    let server = start();
    for kind in [Kind::Blocking, Kind::Async] {
        let mut held = Held::named(&server.server, kind.name(), kind);
        let mut socket = WebSocket::connect(server.port).await;
        socket.send(call("slow", kind.name(), &json!({"text": "late"}))).await;
        held.begun().await;
        assert_eq!(socket.ask(call("quick", "echo", &json!({}))).await["id"], "quick");
        let mut other = WebSocket::connect(server.port).await;
        assert_eq!(other.ask(call("other", "echo", &json!({}))).await["id"], "other");
        held.release();
        let reply = socket.message().await;
        assert_eq!((&reply["id"], text(&reply)), (&json!("slow"), "late"));
    }
}

#[tokio::test]
async fn a_message_in_fragments_is_one_message() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let message = call(1, "echo", &json!({"text": "grüße 🦀"}));
    // Every byte its own fragment, with a ping between, which may stand there.
    let bytes = message.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let opcode = if index == 0 { TEXT } else { CONTINUATION };
        let fin = if index + 1 == bytes.len() { FIN } else { 0 };
        socket.send_frame(fin | opcode, [*byte]).await;
        if index == bytes.len() / 2 {
            socket.send_frame(FIN | PING, "are you there?").await;
        }
    }
    let pong = socket.frame().await.unwrap();
    assert_eq!((pong.opcode, &*pong.payload), (PONG, &b"are you there?"[..]));
    assert_eq!(text(&socket.message().await), "grüße 🦀");
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_connection_lives() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    for (text, code) in [
        ("", -32700),
        ("hello", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700),
        (&*deep, -32700),
        ("7", -32600),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
    ] {
        let reply = socket.ask(text).await;
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(code), &Value::Null), "{text}: {reply}");
        assert!(!reply["error"]["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(text(&socket.ask(call(1, "echo", &json!({"text": "alive"}))).await), "alive");
}

#[tokio::test]
async fn notifications_and_responses_are_not_answered() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody's"}}"#,
        r#"{"jsonrpc":"2.0","id":"ours?","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"ours?","error":{"code":1,"message":"no"}}"#,
    ] {
        socket.send(text).await;
    }
    assert_eq!(socket.ask(call("next", "echo", &json!({}))).await["id"], "next");
}

#[tokio::test]
async fn a_close_handshake_is_answered_with_its_code() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    assert_eq!(text(&socket.ask(call(1, "echo", &json!({"text": "bye"}))).await), "bye");
    assert_eq!(websockets(&server.server), 1);
    socket.send_frame(FIN | support::websocket::CLOSE, close(1000, "done")).await;
    assert!(matches!(socket.end().await, End::Closed(1000, _)));
    assert!(socket.http.is_ended().await);
    until("no WebSocket is open", || websockets(&server.server) == 0).await;
}

#[tokio::test]
async fn a_close_frame_without_a_code_is_answered() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    socket.send_frame(FIN | support::websocket::CLOSE, "").await;
    assert!(matches!(socket.end().await, End::Closed(..)));
    assert!(socket.http.is_ended().await);
}

/// A client that others have written.
#[tokio::test]
async fn a_common_client_connects_calls_and_closes() {
    use std::pin::Pin;
    use tokio_tungstenite::tungstenite::Message;
    type Client = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<TcpStream>>;

    async fn send(client: &mut Client, message: Message) {
        use futures_sink::Sink;
        let mut client = Pin::new(client);
        soon(std::future::poll_fn(|cx| client.as_mut().poll_ready(cx))).await.unwrap();
        client.as_mut().start_send(message).unwrap();
        soon(std::future::poll_fn(|cx| client.as_mut().poll_flush(cx))).await.unwrap();
    }
    async fn next(client: &mut Client) -> Option<Message> {
        use futures_core::Stream;
        let mut client = Pin::new(client);
        soon(std::future::poll_fn(|cx| client.as_mut().poll_next(cx))).await.map(Result::unwrap)
    }

    let server = start();
    let endpoint = server.server.transport_info().websocket_endpoint.unwrap();
    let (mut client, response) = tokio_tungstenite::connect_async(endpoint).await.unwrap();
    assert_eq!(response.status(), 101);
    let message = call(1, "echo", &json!({"text": "x".repeat(100_000)}));
    send(&mut client, Message::text(message)).await;
    let reply: Value = serde_json::from_str(next(&mut client).await.unwrap().to_text().unwrap()).unwrap();
    assert_eq!(text(&reply).len(), 100_000);
    send(&mut client, Message::Close(None)).await;
    assert!(matches!(next(&mut client).await, Some(Message::Close(_))));
    assert!(next(&mut client).await.is_none());
}
