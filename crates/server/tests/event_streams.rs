//! Event streams: `/mcp/events`, the stream of a session, and HTTP+SSE.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::Duration;

use jumpseat::{Limits, Tool};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::{
    Event, Events, JSON, TestServer, builder, call, get, open_session, post, post_to, request, soon, start,
    start_with, until,
};

const LIST_CHANGED: &str = "notifications/tools/list_changed";

fn news(number: u32) -> Value {
    let params =
        json!({"type": "info", "message": "hello", "timestamp": 1_767_225_600_000_u64, "number": number});
    json!({"jsonrpc": "2.0", "method": "notifications/custom", "params": params})
}

fn broadcast(server: &TestServer, number: u32) -> usize {
    server.server.broadcast_message(news(number).to_string()).unwrap()
}

fn add_tool(server: &TestServer, name: &str) {
    server.server.add_inline_tool(Tool::text(name, ""), |_, _| Ok(String::new())).unwrap();
}

#[track_caller]
fn assert_comment(event: &Event) {
    assert!(event.comment.is_some(), "{event:?}");
    assert_eq!((&event.event, &event.id, &event.data), (&None, &None, &None));
}

/// The next event, which must be a message; comments are passed over.
async fn message(events: &mut Events) -> Value {
    let past_comments = async {
        loop {
            let event = events.next().await.expect("a message, not the end");
            if event.comment.is_none() {
                return event;
            }
            assert_comment(&event);
        }
    };
    let event = soon(past_comments).await;
    assert_eq!((event.event.as_deref(), &event.id), (Some("message"), &None));
    let message = event.json();
    assert_eq!((&message["jsonrpc"], message.get("id")), (&json!("2.0"), None));
    assert!(message["method"].is_string());
    message
}

#[tokio::test]
async fn the_events_begin_with_a_comment_and_are_json_rpc_notifications() {
    let server = start();
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    assert_eq!(events.head.header("cache-control"), Some("no-cache"));
    assert_comment(&events.next().await.unwrap());
    for number in 0..100 {
        assert_eq!(broadcast(&server, number), 1);
    }
    add_tool(&server, "another");
    assert!(server.server.remove_tool("another"));
    assert_eq!(broadcast(&server, 100), 1);
    for number in 0..100 {
        assert_eq!(message(&mut events).await, news(number));
    }
    for _ in 0..2 {
        assert_eq!(message(&mut events).await["method"], LIST_CHANGED);
    }
    assert_eq!(message(&mut events).await, news(100));
}

#[tokio::test]
async fn a_broadcast_of_several_lines_is_one_event() {
    let server = start();
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    assert_comment(&events.next().await.unwrap());
    let pretty = serde_json::to_string_pretty(&news(1)).unwrap();
    assert!(pretty.contains('\n'));
    for text in [
        pretty.clone(),
        pretty.replace('\n', "\r\n"),
        pretty.replace('\n', "\r"),
        pretty.replace('\n', "\n\n"),
    ] {
        assert_eq!(server.server.broadcast_message(text).unwrap(), 1);
        assert_eq!(message(&mut events).await, news(1));
    }
}

#[tokio::test]
async fn comments_keep_every_stream_open() {
    let limits = Limits { comment_interval: Duration::from_millis(20), ..Limits::default() };
    let server = start_with(builder().limits(limits));
    let id = open_session(server.port, "2025-06-18").await;
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let meta = json!({"progressToken": 1});
    let body = request(1, "tools/call", &json!({"name": "held", "_meta": meta}));
    let (posted, ()) = tokio::join!(Events::post(server.port, &[], &body), async {
        held.begun().await.progress(1.0, None, None);
    });
    let listen = json!({"notifications": {"toolsListChanged": true}});
    for mut events in [
        Events::get(server.port, "/mcp/events", &[]).await,
        Events::get(server.port, "/sse", &[]).await,
        Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await,
        Events::post_modern(server.port, 1, "subscriptions/listen", &listen).await,
        posted,
    ] {
        let mut comments = 0;
        while comments < 4 {
            comments += usize::from(events.next().await.unwrap().comment.is_some());
        }
    }
}

#[tokio::test]
async fn comments_are_not_sent_all_the_time() {
    let server = start();
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    assert_comment(&events.next().await.unwrap());
    for number in 0..50 {
        broadcast(&server, number);
        // The next one is the message, and no comment before it.
        assert_eq!(events.next().await.unwrap().json(), news(number));
    }
}

#[tokio::test]
async fn who_comes_later_gets_what_comes_later() {
    let server = start();
    assert_eq!(broadcast(&server, 0), 0);
    let mut first = Events::get(server.port, "/mcp/events", &[]).await;
    assert_eq!(broadcast(&server, 1), 1);
    let mut second = Events::get(server.http_port, "/mcp/events", &[]).await;
    assert_eq!(broadcast(&server, 2), 2);
    assert_eq!((message(&mut first).await, message(&mut first).await), (news(1), news(2)));
    assert_eq!(message(&mut second).await, news(2));
}

#[tokio::test]
async fn the_status_counts_the_streams_that_are_open() {
    let server = start();
    let id = open_session(server.port, "2025-06-18").await;
    let count =
        async || get(server.port, "/mcp/status", &[]).await.json()["connections"]["event_streams"].clone();
    assert_eq!(count().await, 0);
    let events = Events::get(server.port, "/mcp/events", &[]).await;
    let http_sse = Events::get(server.port, "/mcp", &[]).await;
    let session = Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await;
    assert_eq!(count().await, 3);
    drop((events, http_sse, session));
    until("no stream is open", || server.server.transport_info().connections.event_streams == 0).await;
    assert_eq!(broadcast(&server, 0), 0);
}

#[tokio::test]
async fn a_sessions_stream_gets_broadcasts_and_list_changes() {
    let server = start();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = open_session(server.port, revision).await;
        let mut events = Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await;
        let first = events.next().await.unwrap();
        assert!(first.comment.is_some() || first.data.as_deref() == Some(""), "{first:?}");
        assert_eq!(broadcast(&server, 1), 1);
        add_tool(&server, revision);
        assert_eq!(message(&mut events).await, news(1));
        assert_eq!(message(&mut events).await["method"], LIST_CHANGED);
        drop(events);
        until("the stream is gone", || server.server.transport_info().connections.event_streams == 0).await;
    }
}

#[tokio::test]
async fn of_two_streams_of_a_session_one_gets_each_message() {
    let server = start();
    let id = open_session(server.port, "2025-11-25").await;
    let session = ("Mcp-Session-Id", &*id);
    let mut older = Events::get(server.port, "/mcp", &[session]).await;
    let mut newer = Events::get(server.port, "/mcp", &[session]).await;
    assert_eq!(broadcast(&server, 1), 1);
    assert_eq!(newer.message().await, Some(news(1)));
    // Both end with their session, and the older one has had nothing.
    let mut http = support::Http::connect(server.port).await;
    assert_eq!(http.roundtrip("DELETE", "/mcp", &[session], b"").await.status, 204);
    assert_eq!((older.message().await, newer.message().await), (None, None));
}

/// An HTTP+SSE stream, and where to post to.
async fn http_sse(server: &TestServer) -> (Events, String) {
    let mut events = Events::get(server.http_port, "/sse", &[]).await;
    let first = events.next().await.unwrap();
    assert_eq!((first.event.as_deref(), &first.id), (Some("endpoint"), &None));
    let endpoint = first.data.unwrap();
    assert!(endpoint.starts_with("/mcp/message?sessionId="), "{endpoint}");
    (events, endpoint)
}

async fn send(server: &TestServer, endpoint: &str, body: &str) {
    let response = post_to(server.http_port, endpoint, &[], body).await;
    assert_eq!(response.status, 202, "{}", response.text());
}

#[tokio::test]
async fn http_sse_is_a_whole_transport() {
    let server = start();
    let (mut events, endpoint) = http_sse(&server).await;
    let params = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(&server, &endpoint, &request(0, "initialize", &params)).await;
    let answer = events.message().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!(0), &json!("2024-11-05")));
    send(&server, &endpoint, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    send(&server, &endpoint, &call("a", "echo", &json!({"text": "hi"}))).await;
    let answer = events.message().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!("a"), &json!("hi")));
    send(&server, &endpoint, &request(2, "unknown", &json!({}))).await;
    assert_eq!(events.message().await.unwrap()["error"]["code"], -32601);
    let batch = format!("[{},{}]", request(3, "ping", &json!({})), call(4, "echo", &json!({"text": "x"})));
    send(&server, &endpoint, &batch).await;
    assert_eq!(events.message().await.unwrap().as_array().unwrap().len(), 2);
    assert_eq!(broadcast(&server, 1), 1);
    assert_eq!(events.message().await, Some(news(1)));
    add_tool(&server, "another");
    assert_eq!(events.message().await.unwrap()["method"], LIST_CHANGED);
}

#[tokio::test]
async fn a_bad_message_of_http_sse_is_refused_where_it_was_posted() {
    let server = start();
    let (mut events, endpoint) = http_sse(&server).await;
    for (body, code) in [("{", -32700), ("{}", -32600), ("\u{feff}", -32700)] {
        let response = post_to(server.port, &endpoint, &[], body).await;
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(code)));
    }
    let mut http = support::Http::connect(server.port).await;
    let response = http.roundtrip("POST", &endpoint, &[], b"{}").await;
    assert_eq!(response.status, 415);
    let response = http.roundtrip("POST", &endpoint, &[JSON], b"\xff").await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32700)));
    // The stream has heard nothing of it.
    send(&server, &endpoint, &request(1, "ping", &json!({}))).await;
    assert_eq!(events.message().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn http_sse_streams_get_their_own_responses_only() {
    let server = start();
    let (mut one, to_one) = http_sse(&server).await;
    let (mut other, to_other) = http_sse(&server).await;
    assert_ne!(to_one, to_other);
    for _ in 0..10 {
        send(&server, &to_one, &call(1, "echo", &json!({"text": "one"}))).await;
        send(&server, &to_other, &call(1, "echo", &json!({"text": "other"}))).await;
        for (events, text) in [(&mut one, "one"), (&mut other, "other")] {
            assert_eq!(events.message().await.unwrap()["result"]["content"][0]["text"], text);
        }
    }
}

#[tokio::test]
async fn a_closed_http_sse_stream_is_404_and_its_calls_are_cancelled() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let (events, endpoint) = http_sse(&server).await;
    send(&server, &endpoint, &call(1, "held", &json!({}))).await;
    let context = held.begun().await;
    drop(events);
    held.ended().await;
    assert!(context.is_cancelled());
    let response = post_to(server.port, &endpoint, &[], request(2, "ping", &json!({}))).await;
    assert_eq!(response.status, 404);
}

#[tokio::test]
async fn a_stream_is_no_obstacle_to_other_requests() {
    let server = start();
    let mut streams = Vec::new();
    for _ in 0..50 {
        streams.push(Events::get(server.port, "/mcp/events", &[]).await);
    }
    for number in 0..20 {
        assert_eq!(post(server.port, &[], call(1, "echo", &json!({"text": "x"}))).await.status, 200);
        assert_eq!(broadcast(&server, number), 50);
    }
    for events in &mut streams {
        for number in 0..20 {
            assert_eq!(message(events).await, news(number));
        }
    }
}
