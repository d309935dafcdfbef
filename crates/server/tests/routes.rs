//! The routes: each of them, on every listener.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use serde_json::{Value, json};
use support::door::{AnyStream, Door};
use support::websocket::{HANDSHAKE, WebSocket};
use support::{Events, JSON, Response, TestServer, call, get, post_to, request, start};

async fn ask(door: &Door, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    door.connect().await.roundtrip(method, path, headers, body.as_bytes()).await
}

async fn stream(door: &Door, path: &str, headers: &[(&str, &str)]) -> Events<AnyStream> {
    let headers = [&[("Accept", "text/event-stream")], headers].concat();
    Events::over(door.connect().await, "GET", path, &headers, b"").await
}

/// The id of a new session.
async fn session(door: &Door) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let response = ask(door, "POST", "/mcp", &[JSON], &request(0, "initialize", &params)).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.header("mcp-session-id").unwrap().to_owned()
}

fn broadcast(server: &TestServer, number: u32) -> Value {
    let message = json!({"jsonrpc": "2.0", "method": "notifications/custom", "params": {"number": number}});
    assert_eq!(server.server.broadcast_message(message.to_string()).unwrap(), 1);
    message
}

#[tokio::test]
async fn a_message_is_posted_to_either_path_of_any_listener() {
    let server = start();
    for door in Door::all(&server) {
        for path in ["/mcp", "/mcp/message", "/mcp?session=none", "/mcp/message?other=1"] {
            let body = call(7, "echo", &json!({"text": path}));
            let response = ask(&door, "POST", path, &[JSON], &body).await;
            assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
            let answer = response.json();
            assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{door:?} {path}");
            assert_eq!(answer["result"]["content"], json!([{"type": "text", "text": path}]));
        }
    }
}

#[tokio::test]
async fn get_mcp_upgrades_to_a_websocket_on_any_listener() {
    let server = start();
    for door in Door::all(&server) {
        let mut socket = WebSocket::over(door.stream().await).await;
        let answer = socket.ask(call("a", "echo", &json!({"text": "hello"}))).await;
        assert_eq!(answer["result"]["content"][0]["text"], "hello", "{door:?}");
    }
}

#[tokio::test]
async fn a_websocket_gets_the_subprotocol_mcp_when_it_offers_it() {
    let server = start();
    for (offered, answered) in [
        (None, None),
        (Some("mcp"), Some("mcp")),
        (Some("graphql-ws, mcp"), Some("mcp")),
        (Some("mcpx"), None),
    ] {
        let mut headers = HANDSHAKE.to_vec();
        headers.extend(offered.map(|offered| ("Sec-WebSocket-Protocol", offered)));
        let (_, response) = WebSocket::handshake(Door::Tcp(server.port).stream().await, &headers).await;
        assert_eq!(response.status, 101);
        assert_eq!(response.header("sec-websocket-protocol"), answered, "{offered:?}");
    }
}

#[tokio::test]
async fn get_mcp_with_a_session_is_the_sessions_stream_on_any_listener() {
    let server = start();
    for (number, door) in (0..).zip(Door::all(&server)) {
        let id = session(&door).await;
        let mut events = stream(&door, "/mcp", &[("Mcp-Session-Id", &id)]).await;
        let sent = broadcast(&server, number);
        assert_eq!(events.message().await, Some(sent), "{door:?}");
        assert_eq!(ask(&door, "DELETE", "/mcp", &[("Mcp-Session-Id", &id)], "").await.status, 204);
        drop(events);
        gone(&server).await;
    }
}

/// Waits until the server has seen that no stream is open any more.
async fn gone(server: &TestServer) {
    let streams = || server.server.transport_info().connections.event_streams;
    support::until("no event stream is open", || streams() == 0).await;
}

#[tokio::test]
async fn get_mcp_and_get_sse_without_a_session_are_http_sse_on_any_listener() {
    let server = start();
    for door in Door::all(&server) {
        for path in ["/mcp", "/sse"] {
            let mut events = stream(&door, path, &[]).await;
            let first = events.next().await.unwrap();
            assert_eq!(first.event.as_deref(), Some("endpoint"), "{door:?} {path}");
            let endpoint = first.data.unwrap();
            let posted =
                ask(&door, "POST", &endpoint, &[JSON], &call(1, "echo", &json!({"text": path}))).await;
            assert_eq!(posted.status, 202);
            let answer = events.message().await.unwrap();
            assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!(path)));
        }
    }
}

#[tokio::test]
async fn get_mcp_otherwise_is_the_status_on_any_listener() {
    let server = start();
    for door in Door::all(&server) {
        for headers in [
            &[][..],
            &[("Accept", "*/*")],
            &[("Accept", "application/json")],
            &[("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")],
            &[("Mcp-Session-Id", "whatever")],
            &[("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c")],
        ] {
            let response = ask(&door, "GET", "/mcp", headers, "").await;
            assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
            assert_eq!(response.json()["is_running"], true, "{door:?} {headers:?}");
        }
        let status = ask(&door, "GET", "/mcp/status", &[], "").await;
        assert_eq!((status.status, status.header("content-type")), (200, Some("application/json")));
        assert_eq!(status.json()["is_running"], true);
    }
}

#[tokio::test]
async fn get_mcp_events_is_a_stream_of_broadcasts_on_any_listener() {
    let server = start();
    for (number, door) in (0..).zip(Door::all(&server)) {
        // Nothing needs to be accepted for it: curl, for one, sends `*/*`.
        let mut events = Events::over(door.connect().await, "GET", "/mcp/events", &[], b"").await;
        let first = events.next().await.unwrap();
        assert_eq!((first.comment.is_some(), first.data), (true, None), "{door:?}");
        let sent = broadcast(&server, number);
        assert_eq!(events.next().await.unwrap().json(), sent, "{door:?}");
        drop(events);
        gone(&server).await;
    }
}

#[tokio::test]
async fn get_slash_is_a_page_on_any_listener() {
    let server = start();
    for door in Door::all(&server) {
        let response = ask(&door, "GET", "/", &[("Accept", "text/html")], "").await;
        assert_eq!(response.status, 200);
        assert!(response.header("content-type").unwrap().starts_with("text/html"), "{door:?}");
        assert!(response.text().contains("Test app"));
    }
}

#[tokio::test]
async fn a_head_request_gets_the_head_of_the_get() {
    let server = start();
    for path in ["/", "/mcp/status"] {
        let mut http = support::Http::connect(server.http_port).await;
        http.send("HEAD", path, &[], b"").await;
        let head = http.head().await;
        let whole = http.roundtrip("GET", path, &[], b"").await;
        assert_eq!((head.status, whole.status), (200, 200), "{path}");
        assert_eq!(head.header("content-type"), whole.header("content-type"));
        assert!(head.header("content-length").unwrap() != "0", "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_405_with_the_right_ones_in_allow() {
    let server = start();
    for (path, allowed) in [
        ("/mcp", &["GET", "POST", "DELETE"][..]),
        ("/mcp/message", &["POST"]),
        ("/mcp/events", &["GET"]),
        ("/sse", &["GET"]),
        ("/mcp/status", &["GET", "HEAD"]),
        ("/", &["GET", "HEAD"]),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
            if allowed.contains(&method) {
                continue;
            }
            let mut http = support::Http::connect(server.port).await;
            let response = http.roundtrip(method, path, &[JSON], b"").await;
            assert_eq!(response.status, 405, "{method} {path}");
            let allow: Vec<_> = response.header("allow").unwrap().split(", ").collect();
            assert_eq!(allow, allowed, "{method} {path}");
            assert!(response.json()["error"]["message"].as_str().unwrap().contains(allowed[0]));
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_404_and_told_which_there_are() {
    let server = start();
    for path in
        ["/mcp/", "/MCP", "/mcp/messages", "/mcp/status/x", "//mcp", "/index.html", "/favicon.ico", "/%2e"]
    {
        let responses = [
            get(server.port, path, &[("Accept", "text/event-stream")]).await,
            post_to(server.http_port, path, &[], "{}").await,
        ];
        for response in responses {
            assert_eq!((response.status, response.header("content-type")), (404, Some("application/json")));
            let answer = response.json();
            assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &Value::Null));
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(path) && message.contains("/mcp/events"), "{message}");
        }
    }
}
