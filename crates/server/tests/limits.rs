//! The limits on how much a client may take: connections, event streams, calls in flight and what waits for it.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::Duration;

use jumpseat::Limits;
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::WebSocket;
use support::{
    Events, Http, JSON, Response, TestServer, builder, call, get, open_session, post, request, soon,
    start_with, until,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

fn limited(limits: Limits) -> TestServer {
    start_with(builder().limits(limits))
}

#[track_caller]
fn assert_503(response: &Response, words: &str) {
    assert_eq!((response.status, response.header("content-type")), (503, Some("application/json")));
    assert!(response.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    let body = response.json();
    assert_eq!(body.get("id"), Some(&Value::Null));
    assert!(body["error"]["message"].as_str().unwrap().contains(words), "{body}");
}

async fn ping(http: &mut Http) -> Response {
    http.roundtrip("POST", "/mcp", &[JSON], request(1, "ping", &json!({})).as_bytes()).await
}

/// Waits until there is room for another connection.
async fn served_again(port: u16) {
    let served = async || {
        let mut http = Http::connect(port).await;
        // Of many that are too many, some are ended without a word.
        _ = http.stream.write_all(b"GET /mcp/status HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        http.stream.fill_buf().await.is_ok_and(|answer| answer.starts_with(b"HTTP/1.1 200"))
    };
    soon(async { while !served().await {} }).await;
}

#[test]
fn the_limits_are_what_the_documentation_says() {
    let limits = Limits::default();
    assert_eq!((limits.max_connections, limits.max_event_streams), (1024, 256));
    assert_eq!((limits.max_message_bytes, limits.max_head_bytes), (4 << 20, 16 << 10));
    assert_eq!(limits.max_in_flight, 128);
    assert_eq!((limits.head_timeout, limits.body_timeout), (Duration::from_secs(5), Duration::from_secs(30)));
    assert_eq!(limits.idle_timeout, Duration::from_secs(75));
    assert_eq!((limits.ping_interval, limits.max_unanswered_pings), (Duration::from_secs(20), 2));
    assert_eq!(limits.comment_interval, Duration::from_secs(15));
    assert_eq!((limits.max_sessions, limits.session_idle), (64, Duration::from_secs(600)));
    assert_eq!((limits.max_queued_messages, limits.max_queued_bytes), (256, 4 << 20));
    assert_eq!(limits.call_timeout, Duration::from_secs(60));
}

#[tokio::test]
async fn one_connection_too_many_is_503_on_whichever_listener() {
    let server = limited(Limits { max_connections: 3, ..Limits::default() });
    let mut http = Http::connect(server.http_port).await;
    assert_eq!(ping(&mut http).await.status, 200);
    let websocket = WebSocket::connect(server.port).await;
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    events.next().await.unwrap();
    for port in [server.port, server.http_port, server.port] {
        // It needs no request, and one that was sent is not lost to a reset.
        let mut refused = Http::connect(port).await;
        assert_503(&refused.response().await, "3 connections");
        assert_503(&post(port, &[], vec![b' '; 100_000]).await, "3 connections");
    }
    // Those who are in are served on, and make room when they leave.
    assert_eq!(ping(&mut http).await.status, 200);
    websocket.abort();
    served_again(server.port).await;
    drop(events);
    served_again(server.port).await;
}

#[tokio::test]
async fn a_flood_of_connections_passes() {
    let server = limited(Limits { max_connections: 5, ..Limits::default() });
    let mut flood = Vec::new();
    for _ in 0..300 {
        flood.push(Http::connect(server.port).await);
    }
    // The first ones are in, however many came after them.
    for http in &mut flood[..5] {
        assert_eq!(ping(http).await.status, 200);
    }
    drop(flood);
    served_again(server.port).await;
}

#[tokio::test]
async fn one_event_stream_too_many_is_503_whichever_kind_it_is() {
    let server = limited(Limits { max_event_streams: 2, ..Limits::default() });
    let id = open_session(server.port, "2025-11-25").await;
    let session = ("Mcp-Session-Id", &*id);
    let accept = ("Accept", "text/event-stream");
    let events = Events::get(server.port, "/mcp/events", &[]).await;
    let http_sse = Events::get(server.port, "/sse", &[]).await;
    let (listen, headers) =
        support::modern(1, "subscriptions/listen", &json!({"notifications": {"toolsListChanged": true}}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    for port in [server.port, server.http_port] {
        assert_503(&get(port, "/mcp/events", &[]).await, "2 event streams");
        assert_503(&get(port, "/sse", &[accept]).await, "2 event streams");
        assert_503(&get(port, "/mcp", &[accept]).await, "2 event streams");
        assert_503(&get(port, "/mcp", &[accept, session]).await, "2 event streams");
        assert_503(&post(port, &headers, &listen).await, "2 event streams");
    }
    // Nothing else is refused, WebSockets included.
    assert_eq!(post(server.port, &[session], request(1, "ping", &json!({}))).await.status, 200);
    WebSocket::connect(server.port).await;
    let open = || server.server.transport_info().connections.event_streams;
    assert_eq!(open(), 2);
    drop(http_sse);
    until("one stream is open", || open() == 1).await;
    let mut again = Events::get(server.port, "/mcp", &[session]).await;
    again.next().await.unwrap();
    drop((events, again));
    until("no stream is open", || open() == 0).await;
    assert_eq!(Events::post(server.port, &headers, &listen).await.head.status, 200);
}

#[tokio::test]
async fn one_call_too_many_in_a_session_is_an_error_and_others_go_on() {
    let server = limited(Limits { max_in_flight: 2, ..Limits::default() });
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let id = open_session(server.port, "2025-11-25").await;
    let session = ("Mcp-Session-Id", &*id);
    let mut pending = Vec::new();
    for number in 0..2 {
        let mut http = Http::connect(server.port).await;
        let body = call(number, "held", &json!({"text": "done"}));
        http.send("POST", "/mcp", &[JSON, session], body.as_bytes()).await;
        held.begun().await;
        pending.push(http);
    }
    for tool in ["held", "echo"] {
        let response = post(server.port, &[session], call(7, tool, &json!({}))).await;
        assert_eq!(response.status, 200);
        let body = response.json();
        assert_eq!((&body["id"], &body["error"]["code"]), (&json!(7), &json!(-32603)));
        assert!(body["error"]["message"].as_str().unwrap().contains("2 requests"), "{body}");
    }
    // What needs no tool is answered, and so is everybody else.
    let ping = post(server.port, &[session], request(8, "ping", &json!({}))).await;
    assert_eq!(ping.json()["result"], json!({}));
    let other = post(server.port, &[], call(9, "echo", &json!({"text": "x"}))).await;
    assert_eq!(other.json()["result"]["content"][0]["text"], "x");
    held.release();
    held.ended().await;
    held.release();
    for mut http in pending {
        assert_eq!(http.response().await.json()["result"]["content"][0]["text"], "done");
    }
    let again = post(server.port, &[session], call(10, "echo", &json!({"text": "again"}))).await;
    assert_eq!(again.json()["result"]["content"][0]["text"], "again");
}

/// A stream of all events whose client takes in little, and reads nothing.
async fn stuck(port: u16) -> Http {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut http = Http::over(socket.connect(([127, 0, 0, 1], port).into()).await.unwrap());
    http.send("GET", "/mcp/events", &[], b"").await;
    assert_eq!(http.head().await.status, 200);
    http
}

#[tokio::test]
async fn who_does_not_read_is_cut_off_and_nobody_else_loses_anything() {
    for limits in [
        Limits { max_queued_messages: 8, max_queued_bytes: usize::MAX, ..Limits::default() },
        Limits { max_queued_messages: usize::MAX, max_queued_bytes: 1 << 20, ..Limits::default() },
    ] {
        let server = limited(limits);
        let mut reader = Events::get(server.port, "/mcp/events", &[]).await;
        let mut stuck = stuck(server.port).await;
        let filler = "x".repeat(256 << 10);
        for number in 0.. {
            let params = json!({"number": number, "filler": filler});
            let message = json!({"jsonrpc": "2.0", "method": "notifications/fill", "params": params});
            let queued = server.server.broadcast_message(message.to_string()).unwrap();
            assert_eq!(reader.message().await.unwrap()["params"]["number"], number);
            if queued == 1 {
                break;
            }
            assert!(number < 1000, "it should not take that much");
        }
        // It gets what was on its way, and no end as of a stream that is complete.
        let mut rest = Vec::new();
        _ = soon(stuck.stream.read_to_end(&mut rest)).await;
        assert!(!rest.ends_with(b"\r\n0\r\n\r\n"));
        let open = || server.server.transport_info().connections.event_streams;
        until("the stuck stream is gone", || open() == 1).await;
    }
}
