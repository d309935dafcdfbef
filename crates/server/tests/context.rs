//! What a handler learns and does beside its arguments: who called, and progress.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::Duration;

use jumpseat::{Context, Limits, Server, Tool, Transport};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::WebSocket;
use support::{
    Events, JSON, builder, call, modern, open_session, post, post_modern, post_to, request, start, start_with,
};

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

/// A tool that says who called it.
fn add_who(server: &Server) {
    let who = |_, context: Context| {
        let caller = context.caller();
        let transport = match caller.transport {
            Transport::WebSocket => "websocket",
            Transport::Http => "http",
            Transport::HttpSse => "http+sse",
            _ => "new",
        };
        let client = caller.client.as_ref().map_or("nobody".into(), |c| format!("{} {}", c.name, c.version));
        Ok(format!("{transport}, {client}, {}", caller.revision))
    };
    server.add_inline_tool(Tool::text("who", "Who called?"), who).unwrap();
}

fn initialize(revision: &str) -> String {
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "2.1"}});
    request("init", "initialize", &params)
}

#[tokio::test]
async fn a_handler_knows_who_called_over_a_websocket() {
    let server = start();
    add_who(&server.server);
    let mut socket = WebSocket::connect(server.port).await;
    let who = call(1, "who", &json!({}));
    assert_eq!(text(&socket.ask(&who).await), "websocket, nobody, 2025-03-26");
    socket.ask(initialize("2025-06-18")).await;
    assert_eq!(text(&socket.ask(&who).await), "websocket, t 2.1, 2025-06-18");
    let client = json!({"name": "modern", "version": "3"});
    let params = json!({"name": "who", "_meta": {"io.modelcontextprotocol/clientInfo": client}});
    let reply = socket.ask(modern(2, "tools/call", &params).0).await;
    assert_eq!(text(&reply), "websocket, modern 3, 2026-07-28");
    assert_eq!(text(&socket.ask(&who).await), "websocket, t 2.1, 2025-06-18");
}

#[tokio::test]
async fn a_handler_knows_who_called_over_http() {
    let server = start();
    add_who(&server.server);
    let who = call(1, "who", &json!({}));
    assert_eq!(text(&post(server.port, &[], &who).await.json()), "http, nobody, 2025-03-26");
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = open_session(server.port, revision).await;
        let reply = post(server.port, &[("Mcp-Session-Id", &id)], &who).await.json();
        assert_eq!(text(&reply), format!("http, test 1, {revision}"));
    }
    let reply = post_modern(server.port, 1, "tools/call", &json!({"name": "who"})).await.json();
    assert_eq!(text(&reply), "http, nobody, 2026-07-28");
}

#[tokio::test]
async fn a_handler_knows_who_called_over_http_sse() {
    let server = start();
    add_who(&server.server);
    let mut events = Events::get(server.port, "/sse", &[]).await;
    let path = events.next().await.unwrap().data.unwrap();
    assert_eq!(post_to(server.port, &path, &[], initialize("2024-11-05")).await.status, 202);
    assert_eq!(events.message().await.unwrap()["id"], "init");
    assert_eq!(post_to(server.port, &path, &[], call(1, "who", &json!({}))).await.status, 202);
    assert_eq!(text(&events.message().await.unwrap()), "http+sse, t 2.1, 2024-11-05");
}

/// Registers, under the kinds' names, handlers that report progress and then answer.
fn add_reporters(server: &Server) {
    let report = |context: &Context| {
        context.progress(0.0, Some(2.0), Some("begun"));
        context.progress(0.5, None, None);
        // None of these grows.
        context.progress(0.5, None, Some("the same"));
        context.progress(0.1, None, Some("back"));
        context.progress(f64::NAN, None, Some("no number"));
        context.progress(f64::INFINITY, None, Some("no number either"));
        context.progress(2.0, Some(2.0), Some("done"));
    };
    let tool = |kind: Kind| Tool::text(kind.name(), "Reports");
    let done = move |_, context: Context| {
        report(&context);
        Ok("done".to_owned())
    };
    server.add_inline_tool(tool(Kind::Inline), done).unwrap();
    server.add_blocking_tool(tool(Kind::Blocking), done).unwrap();
    server.add_tool(tool(Kind::Async), move |a, c| async move { done(a, c) }).unwrap();
}

fn reporting(id: u64, tool: &str, token: &Value) -> String {
    request(id, "tools/call", &json!({"name": tool, "_meta": {"progressToken": token}}))
}

/// The progress that the reporters make, for a client of a revision that knows `message`.
fn progress_of(token: &Value) -> Vec<Value> {
    let of = |mut params: Value| {
        params["progressToken"] = token.clone();
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    };
    vec![
        of(json!({"progress": 0, "total": 2, "message": "begun"})),
        of(json!({"progress": 0.5})),
        of(json!({"progress": 2, "total": 2, "message": "done"})),
    ]
}

#[tokio::test]
async fn progress_grows_carries_the_token_and_comes_before_the_response() {
    let server = start();
    add_reporters(&server.server);
    let mut socket = WebSocket::connect(server.port).await;
    for kind in Kind::ALL {
        for token in [json!("a token"), json!(7), json!(0)] {
            socket.send(reporting(1, kind.name(), &token)).await;
            for expected in progress_of(&token) {
                assert_eq!(socket.message().await, expected, "{kind:?}");
            }
            assert_eq!(text(&socket.message().await), "done", "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_post_with_progress_is_answered_with_an_event_stream() {
    let server = start();
    add_reporters(&server.server);
    let token = json!("t");
    for kind in Kind::ALL {
        let mut events = Events::post(server.port, &[], &reporting(1, kind.name(), &token)).await;
        for expected in progress_of(&token) {
            assert_eq!(events.message().await.unwrap(), expected, "{kind:?}");
        }
        assert_eq!(text(&events.message().await.unwrap()), "done");
        assert!(events.next().await.is_none(), "the stream ends with the response");

        let params = json!({"name": kind.name(), "_meta": {"progressToken": token}});
        let mut events = Events::post_modern(server.port, 1, "tools/call", &params).await;
        for expected in progress_of(&token) {
            assert_eq!(events.message().await.unwrap(), expected, "{kind:?}, 2026-07-28");
        }
        assert_eq!(text(&events.message().await.unwrap()), "done");
        assert!(events.next().await.is_none());
    }
}

#[tokio::test]
async fn a_client_that_reads_no_event_streams_gets_the_response_alone() {
    let server = start();
    add_reporters(&server.server);
    for kind in Kind::ALL {
        let message = reporting(1, kind.name(), &json!("t"));
        let response = post(server.port, &[("Accept", "application/json")], &message).await;
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(text(&response.json()), "done", "{kind:?}");
        let response = post_to(server.port, "/mcp/message", &[JSON], &message).await;
        assert_eq!(text(&response.json()), "done", "{kind:?}");
    }
}

#[tokio::test]
async fn no_progress_without_a_token() {
    let server = start();
    add_reporters(&server.server);
    let mut socket = WebSocket::connect(server.port).await;
    for kind in Kind::ALL {
        assert_eq!(text(&socket.ask(call(1, kind.name(), &json!({}))).await), "done");
        for token in [json!(null), json!({}), json!([1]), json!(true)] {
            assert_eq!(text(&socket.ask(reporting(1, kind.name(), &token)).await), "done", "{token}");
        }
    }
}

#[tokio::test]
async fn progress_of_2024_11_05_has_no_message() {
    let server = start();
    add_reporters(&server.server);
    let mut events = Events::get(server.port, "/sse", &[]).await;
    let path = events.next().await.unwrap().data.unwrap();
    post_to(server.port, &path, &[], initialize("2024-11-05")).await;
    events.message().await.unwrap();
    post_to(server.port, &path, &[], reporting(1, "async", &json!(5))).await;
    let progress = events.message().await.unwrap();
    assert_eq!(progress["params"], json!({"progressToken": 5, "progress": 0, "total": 2}));
}

#[tokio::test]
async fn progress_stops_when_the_call_has_ended() {
    let server = start();
    let hasty = Tool::text("hasty", "Has no time").deadline(Duration::from_millis(10));
    let mut hasty = Held::add(&server.server, hasty, Kind::Blocking);
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let (sender, kept) = std::sync::mpsc::channel();
    let keep = move |_, context: Context| {
        context.progress(1.0, None, None);
        sender.send(context)?;
        Ok("done".to_owned())
    };
    server.server.add_inline_tool(Tool::text("keep", "Keeps its context"), keep).unwrap();
    let mut socket = WebSocket::connect(server.port).await;

    socket.send(reporting(1, "hasty", &json!("late"))).await;
    let context = hasty.begun().await;
    assert_eq!(socket.message().await["error"]["code"], -32603, "it has timed out");
    context.progress(1.0, None, Some("too late"));
    assert_eq!(socket.ask(call(2, "echo", &json!({}))).await["id"], 2);

    socket.send(reporting(3, "held", &json!("cancelled"))).await;
    let context = held.begun().await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    socket.send(cancel.to_string()).await;
    context.cancelled().await;
    context.progress(1.0, None, Some("for nobody"));
    assert_eq!(socket.ask(call(4, "echo", &json!({}))).await["id"], 4);

    socket.send(reporting(5, "keep", &json!("kept"))).await;
    assert_eq!(socket.message().await["params"]["progress"], 1);
    assert_eq!(socket.message().await["id"], 5);
    kept.recv().unwrap().progress(2.0, None, None);
    assert_eq!(socket.ask(call(6, "echo", &json!({}))).await["id"], 6);
}

/// Progress is dropped before anybody is disconnected for it.
#[tokio::test]
async fn more_progress_than_a_client_takes_costs_it_nothing_but_progress() {
    let limits = Limits { max_queued_messages: 8, ..Limits::default() };
    let server = start_with(builder().limits(limits));
    let chatter = |_, context: Context| {
        for step in 0..10_000 {
            context.progress(f64::from(step), None, None);
        }
        Ok("done".to_owned())
    };
    server.server.add_inline_tool(Tool::text("chatter", "Reports a lot"), chatter).unwrap();
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(reporting(1, "chatter", &json!("t"))).await;
    let mut last = -1.0;
    loop {
        let message = socket.message().await;
        if message["id"] == 1 {
            break;
        }
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > last);
        last = progress;
    }
    assert!(last >= 0.0);
}
