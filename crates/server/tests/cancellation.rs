//! Cancellation: by message and by closing the connection, in each revision's way. A cancelled call is never
//! answered.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{Arguments, Limits, Tool};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::WebSocket;
use support::{
    Events, Http, JSON, builder, call, modern, open_session, post, post_modern, post_to, request, soon,
    start, start_with,
};

fn cancel(id: impl Into<Value>) -> String {
    let params = json!({"requestId": id.into(), "reason": "the user said so"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

#[tokio::test]
async fn a_cancelled_call_is_never_answered() {
    let server = start();
    for kind in [Kind::Blocking, Kind::Async] {
        let mut held = Held::named(&server.server, kind.name(), kind);
        let mut socket = WebSocket::connect(server.port).await;
        for id in [json!(1), json!("one"), json!(1.5)] {
            socket.send(call(id.clone(), kind.name(), &json!({"text": "too late"}))).await;
            let context = held.begun().await;
            assert!(!context.is_cancelled());
            socket.send(cancel(id)).await;
            soon(context.cancelled()).await;
            assert!(context.is_cancelled());
            // An async handler is dropped. A blocking one runs on, and nobody hears of it.
            if kind == Kind::Blocking {
                held.release();
            }
            held.ended().await;
            assert_eq!(socket.ask(call("next", "echo", &json!({}))).await["id"], "next", "{kind:?}");
        }
    }
}

#[tokio::test]
async fn the_id_of_a_cancelled_call_may_be_used_again() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, "held", &json!({"text": "first"}))).await;
    let first = held.begun().await;
    socket.send(cancel(1)).await;
    soon(first.cancelled()).await;
    socket.send(call(1, "held", &json!({"text": "second"}))).await;
    let second = held.begun().await;
    assert!(!second.is_cancelled());
    held.release();
    held.release();
    assert_eq!(text(&socket.message().await), "second");
    assert_eq!(socket.ask(call("next", "echo", &json!({}))).await["id"], "next");
}

#[tokio::test]
async fn only_the_call_that_is_named_is_cancelled() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut socket = WebSocket::connect(server.port).await;
    let mut contexts = Vec::new();
    for id in [json!(1), json!("1"), json!(2)] {
        socket.send(call(id, "held", &json!({}))).await;
        contexts.push(held.begun().await);
    }
    let mut other = WebSocket::connect(server.port).await;
    for wrong in [json!(3), json!(2.5), json!(null), json!({}), json!([1])] {
        socket.send(cancel(wrong)).await;
    }
    socket.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#).await;
    socket.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#).await;
    // Its ids are its own.
    other.send(cancel(2)).await;
    assert_eq!(other.ask(call(0, "echo", &json!({}))).await["id"], 0);

    socket.send(cancel("1")).await;
    soon(contexts[1].cancelled()).await;
    assert!(!contexts[0].is_cancelled() && !contexts[2].is_cancelled());
    held.release();
    held.release();
    let mut answered = [socket.message().await["id"].clone(), socket.message().await["id"].clone()];
    answered.sort_by_key(Value::to_string);
    assert_eq!(answered, [1, 2]);
}

#[tokio::test]
async fn a_session_cancels_by_a_post_on_another_connection() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = open_session(server.port, revision).await;
        let session = [JSON, ("Mcp-Session-Id", &*session)];
        let mut waiting = Http::connect(server.port).await;
        waiting.send("POST", "/mcp", &session, call(1, "held", &json!({})).as_bytes()).await;
        let context = held.begun().await;
        // Another session's call of the same id is another call.
        let other = open_session(server.port, revision).await;
        assert_eq!(post(server.port, &[("Mcp-Session-Id", &other)], cancel(1)).await.status, 202);
        assert!(!context.is_cancelled());

        assert_eq!(post(server.port, &session[1..], cancel(1)).await.status, 202);
        soon(context.cancelled()).await;
        let response = waiting.response().await;
        assert_eq!((response.status, response.text()), (202, String::new()), "{revision}");
        // The connection goes on.
        let next = waiting.roundtrip("POST", "/mcp", &session, call(1, "echo", &json!({})).as_bytes()).await;
        assert_eq!(next.json()["id"], 1);
    }
}

#[tokio::test]
async fn an_event_stream_of_a_cancelled_call_ends_without_a_response() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let session = open_session(server.port, "2025-11-25").await;
    let session = [("Mcp-Session-Id", &*session)];
    let params = json!({"name": "held", "_meta": {"progressToken": "t"}});
    let message = request(1, "tools/call", &params);
    let events = Events::post(server.port, &session, &message);
    let context = async {
        let context = held.begun().await;
        context.progress(1.0, None, None);
        context
    };
    let (mut events, context) = tokio::join!(events, context);
    assert_eq!(events.message().await.unwrap()["method"], "notifications/progress");
    assert_eq!(post(server.port, &session, cancel(1)).await.status, 202);
    soon(context.cancelled()).await;
    held.release();
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn http_sse_cancels_by_a_post() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut events = Events::get(server.port, "/sse", &[]).await;
    let path = events.next().await.unwrap().data.unwrap();
    assert_eq!(post_to(server.port, &path, &[], call(1, "held", &json!({}))).await.status, 202);
    let context = held.begun().await;
    assert_eq!(post_to(server.port, &path, &[], cancel(1)).await.status, 202);
    soon(context.cancelled()).await;
    post_to(server.port, &path, &[], call(2, "echo", &json!({}))).await;
    assert_eq!(events.message().await.unwrap()["id"], 2);
    // And when the stream is closed, nobody can be answered any more.
    post_to(server.port, &path, &[], call(3, "held", &json!({}))).await;
    let context = held.begun().await;
    drop(events);
    soon(context.cancelled()).await;
}

/// On 2026-07-28 a closed connection cancels; before, it does not.
#[tokio::test]
async fn a_closed_connection_cancels_a_modern_call_and_no_other() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let session = open_session(server.port, "2025-11-25").await;
    let mut kept = Vec::new();
    for headers in [vec![JSON], vec![JSON, ("Mcp-Session-Id", &*session)]] {
        let mut http = Http::connect(server.port).await;
        http.send("POST", "/mcp", &headers, call(1, "held", &json!({})).as_bytes()).await;
        kept.push(held.begun().await);
        drop(http);
    }

    let (message, headers) = modern(1, "tools/call", &json!({"name": "held"}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).chain([JSON]).collect();
    let mut http = Http::connect(server.port).await;
    http.send("POST", "/mcp", &headers, message.as_bytes()).await;
    let context = held.begun().await;
    drop(http);
    soon(context.cancelled()).await;
    held.ended().await;

    // The others were closed before, and run to their ends.
    assert!(kept.iter().all(|context| !context.is_cancelled()));
    held.release();
    held.release();
    held.ended().await;
    held.ended().await;
    assert!(kept.iter().all(|context| !context.is_cancelled()));
}

#[tokio::test]
async fn closing_the_stream_of_a_modern_call_cancels_it_and_that_of_a_legacy_one_does_not() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let params = json!({"name": "held", "_meta": {"progressToken": "t"}});
    let progress = async |held: &mut Held| {
        let context = held.begun().await;
        context.progress(1.0, None, None);
        context
    };
    let legacy = request(1, "tools/call", &params);
    let (mut stream, legacy) = tokio::join!(Events::post(server.port, &[], &legacy), progress(&mut held));
    assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
    drop(stream);

    let stream = Events::post_modern(server.port, 1, "tools/call", &params);
    let (mut stream, modern) = tokio::join!(stream, progress(&mut held));
    assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
    drop(stream);
    soon(modern.cancelled()).await;
    assert!(!legacy.is_cancelled());
}

#[tokio::test]
async fn a_cancelled_subscription_brings_nothing_more() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let listen =
        modern("sub", "subscriptions/listen", &json!({"notifications": {"toolsListChanged": true}})).0;
    assert_eq!(socket.ask(&listen).await["method"], "notifications/subscriptions/acknowledged");
    server.server.add_simple_tool("one", "", |_| Ok(String::new())).unwrap();
    assert_eq!(socket.message().await["method"], "notifications/tools/list_changed");
    socket.send(cancel("sub")).await;
    assert_eq!(socket.ask(modern(1, "tools/list", &json!({})).0).await["id"], 1);
    server.server.add_simple_tool("two", "", |_| Ok(String::new())).unwrap();
    assert_eq!(socket.ask(modern(2, "tools/list", &json!({})).0).await["id"], 2);
}

#[tokio::test]
async fn a_deleted_session_has_its_calls_cancelled() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let id = open_session(server.port, "2025-06-18").await;
    let mut waiting = Http::connect(server.port).await;
    let headers = [JSON, ("Mcp-Session-Id", &*id)];
    waiting.send("POST", "/mcp", &headers, call(1, "held", &json!({})).as_bytes()).await;
    let context = held.begun().await;
    let deleted = Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &headers[1..], b"").await;
    assert_eq!(deleted.status, 204);
    soon(context.cancelled()).await;
    assert_eq!(waiting.response().await.status, 202);
}

#[tokio::test]
async fn a_batch_is_answered_without_its_cancelled_calls() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut socket = WebSocket::connect(server.port).await;
    let batch = |ids: [u64; 2]| {
        format!("[{},{}]", call(ids[0], "held", &json!({})), call(ids[1], "echo", &json!({})))
    };
    socket.send(batch([1, 2])).await;
    held.begun().await;
    socket.send(cancel(1)).await;
    let reply = socket.message().await;
    assert_eq!(reply.as_array().unwrap().iter().map(|reply| &reply["id"]).collect::<Vec<_>>(), [2]);

    socket.send(format!("[{}]", call(3, "held", &json!({})))).await;
    held.begun().await;
    socket.send(cancel(3)).await;
    assert_eq!(socket.ask(call(4, "echo", &json!({}))).await["id"], 4, "a batch of nothing is not answered");
}

/// A call that waits for a thread when it is cancelled is not run at all.
#[tokio::test]
async fn a_blocking_call_that_is_cancelled_before_its_turn_does_not_run() {
    let limits = Limits { max_blocking_threads: 1, ..Limits::default() };
    let server = start_with(builder().limits(limits));
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let (sender, mut written) = tokio::sync::mpsc::unbounded_channel();
    let write = move |arguments: Arguments, _| {
        sender.send(arguments.str("text"))?;
        Ok(String::new())
    };
    server.server.add_blocking_tool(Tool::text("write", "Writes"), write).unwrap();

    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, "held", &json!({}))).await;
    held.begun().await;
    socket.send(call(2, "write", &json!({"text": "cancelled"}))).await;
    socket.send(cancel(2)).await;
    socket.send(call(3, "write", &json!({"text": "wanted"}))).await;
    assert_eq!(socket.ask(call(4, "echo", &json!({}))).await["id"], 4);
    held.release();
    let mut answered = [socket.message().await["id"].clone(), socket.message().await["id"].clone()];
    answered.sort_by_key(Value::to_string);
    assert_eq!(answered, [1, 3]);
    assert_eq!(soon(written.recv()).await, Some(Some("wanted".to_owned())));
}

#[tokio::test]
async fn a_cancellation_that_comes_after_the_answer_is_passed_over() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    assert_eq!(socket.ask(call(1, "echo", &json!({}))).await["id"], 1);
    socket.send(cancel(1)).await;
    assert_eq!(socket.ask(call(1, "echo", &json!({}))).await["id"], 1);
    let reply = post_modern(server.port, 1, "tools/call", &json!({"name": "echo"})).await;
    assert_eq!(reply.status, 200);
    assert_eq!(post(server.port, &[], cancel(1)).await.status, 202);
}
