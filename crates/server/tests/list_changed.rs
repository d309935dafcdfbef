//! `notifications/tools/list_changed`: to everybody who listens, once each, in the way of their revision; and
//! to nobody who did not ask where asking is the rule.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{Server, Tool};
use serde_json::{Value, json};
use support::websocket::WebSocket;
use support::{Events, call, modern, open_session, post, post_to, request, soon, start, until};

const CHANGED: &str = "notifications/tools/list_changed";

fn changed() -> Value {
    json!({"jsonrpc": "2.0", "method": CHANGED})
}

fn changed_for(subscription: &Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": subscription});
    json!({"jsonrpc": "2.0", "method": CHANGED, "params": {"_meta": meta}})
}

fn acknowledged(subscription: &Value, notifications: &Value) -> Value {
    let params = json!({
        "_meta": {"io.modelcontextprotocol/subscriptionId": subscription},
        "notifications": notifications,
    });
    json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
}

fn listen(notifications: &Value) -> Value {
    json!({ "notifications": notifications })
}

/// Changes the list of tools once.
fn change(server: &Server) {
    let tool = Tool::text("changing", "Comes and goes").replace();
    server.add_inline_tool(tool, |_, _| Ok(String::new())).unwrap();
}

/// Something that goes to all, to see what comes before it.
fn mark(server: &Server) {
    server.broadcast_message(r#"{"jsonrpc":"2.0","method":"mark"}"#).unwrap();
}

fn is_mark(message: &Value) -> bool {
    message["method"] == "mark"
}

async fn legacy(port: u16, revision: &str) -> WebSocket {
    let mut socket = WebSocket::connect(port).await;
    let params =
        json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let reply = socket.ask(request(0, "initialize", &params)).await;
    assert_eq!(reply["result"]["capabilities"]["tools"]["listChanged"], true);
    socket
}

#[tokio::test]
async fn every_websocket_hears_of_it() {
    let server = start();
    let mut plain = WebSocket::connect(server.port).await;
    plain.ask(call(1, "echo", &json!({}))).await;
    let mut sockets = vec![plain];
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        sockets.push(legacy(server.port, revision).await);
    }
    change(&server.server);
    assert!(server.server.remove_tool("changing"));
    // Neither of these changes anything.
    assert!(!server.server.remove_tool("changing"));
    assert!(server.server.add_simple_tool("echo", "is taken", |_| Ok(String::new())).is_err());
    assert!(server.server.add_simple_tool("is no name", "", |_| Ok(String::new())).is_err());
    mark(&server.server);
    for socket in &mut sockets {
        assert_eq!(socket.message().await, changed());
        assert_eq!(socket.message().await, changed());
        assert!(is_mark(&socket.message().await));
    }
}

#[tokio::test]
async fn the_list_has_changed_when_a_client_hears_of_it() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    socket.ask(call(0, "echo", &json!({}))).await;
    for number in 0..20 {
        server.server.add_simple_tool(format!("tool{number}"), "", |_| Ok(String::new())).unwrap();
        assert_eq!(socket.message().await, changed());
        let tools = socket.ask(request(number, "tools/list", &json!({}))).await;
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 5 + number);
    }
}

#[tokio::test]
async fn a_modern_websocket_hears_only_what_it_asked_for() {
    let server = start();
    let mut did_not_ask = WebSocket::connect(server.port).await;
    did_not_ask.ask(modern(1, "tools/list", &json!({})).0).await;
    let mut asked_for_nothing = WebSocket::connect(server.port).await;
    let message = modern("none", "subscriptions/listen", &listen(&json!({}))).0;
    assert_eq!(asked_for_nothing.ask(message).await, acknowledged(&json!("none"), &json!({})));
    let mut asked = WebSocket::connect(server.port).await;
    let id = json!(17);
    let everything =
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["x:"]});
    let message = modern(id.clone(), "subscriptions/listen", &listen(&everything)).0;
    // Only what is served is acknowledged.
    assert_eq!(asked.ask(message).await, acknowledged(&id, &json!({"toolsListChanged": true})));

    change(&server.server);
    assert_eq!(asked.message().await, changed_for(&id));
    for socket in [&mut did_not_ask, &mut asked_for_nothing, &mut asked] {
        assert_eq!(socket.ask(modern(2, "tools/list", &json!({})).0).await["id"], 2);
    }
}

#[tokio::test]
async fn two_subscriptions_on_one_websocket_each_get_their_own() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    for id in ["one", "two"] {
        let message = modern(id, "subscriptions/listen", &listen(&json!({"toolsListChanged": true}))).0;
        socket.ask(message).await;
    }
    change(&server.server);
    let mut got = [socket.message().await, socket.message().await];
    got.sort_by_key(Value::to_string);
    assert_eq!(got, [changed_for(&json!("one")), changed_for(&json!("two"))]);
}

#[tokio::test]
async fn a_subscription_over_http_is_acknowledged_first_and_gets_what_it_asked_for() {
    let server = start();
    let asked = json!({"toolsListChanged": true});
    let mut listening = Events::post_modern(server.port, "a", "subscriptions/listen", &listen(&asked)).await;
    let mut deaf = Events::post_modern(server.port, 2, "subscriptions/listen", &listen(&json!({}))).await;
    assert_eq!(listening.message().await.unwrap(), acknowledged(&json!("a"), &asked));
    assert_eq!(deaf.message().await.unwrap(), acknowledged(&json!(2), &json!({})));
    change(&server.server);
    mark(&server.server);
    change(&server.server);
    // No broadcast comes between: subscriptions get what they asked for.
    for _ in 0..2 {
        assert_eq!(listening.message().await.unwrap(), changed_for(&json!("a")));
    }
    soon(tokio::task::spawn_blocking({
        let server = server.server.clone();
        move || server.stop()
    }))
    .await
    .unwrap()
    .unwrap();
    for (mut stream, id) in [(listening, json!("a")), (deaf, json!(2))] {
        let last = stream.message().await.unwrap();
        assert_eq!(last["id"], id);
        assert_eq!(last["result"]["resultType"], "complete");
        assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        assert_eq!(stream.message().await, None);
    }
}

#[tokio::test]
async fn a_session_hears_of_it_on_its_newest_stream() {
    let server = start();
    let id = open_session(server.port, "2025-06-18").await;
    let session = [("Mcp-Session-Id", &*id)];
    let mut old = Events::get(server.port, "/mcp", &session).await;
    let mut new = Events::get(server.port, "/mcp", &session).await;
    let other = open_session(server.port, "2025-11-25").await;
    let mut other = Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &other)]).await;
    change(&server.server);
    assert_eq!(new.message().await.unwrap(), changed());
    assert_eq!(other.message().await.unwrap(), changed());

    // When the newest is closed, the one before it is the newest; and it has missed nothing that was for it.
    drop(new);
    until("two streams are open", || server.server.transport_info().connections.event_streams == 2).await;
    mark(&server.server);
    assert!(is_mark(&old.message().await.unwrap()));
    change(&server.server);
    assert_eq!(old.message().await.unwrap(), changed());
}

#[tokio::test]
async fn the_streams_without_a_session_hear_of_it() {
    let server = start();
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    let mut sse = Events::get(server.port, "/sse", &[]).await;
    let mut mcp = Events::get(server.port, "/mcp", &[]).await;
    let path = sse.next().await.unwrap().data.unwrap();
    mcp.next().await.unwrap();
    // A client that has shaken hands, and one that has not.
    let params = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    post_to(server.port, &path, &[], request(0, "initialize", &params)).await;
    assert_eq!(sse.message().await.unwrap()["id"], 0);
    change(&server.server);
    mark(&server.server);
    for stream in [&mut events, &mut sse, &mut mcp] {
        assert_eq!(stream.message().await.unwrap(), changed());
        assert!(is_mark(&stream.message().await.unwrap()));
    }
}

#[tokio::test]
async fn the_event_stream_of_a_call_carries_nothing_but_the_call() {
    let server = start();
    let mut held = support::held::Held::named(&server.server, "held", support::held::Kind::Async);
    let params = json!({"name": "held", "_meta": {"progressToken": "t"}});
    let message = request(1, "tools/call", &params);
    let begin = async {
        let context = held.begun().await;
        context.progress(1.0, None, None);
    };
    let (mut stream, ()) = tokio::join!(Events::post(server.port, &[], &message), begin);
    change(&server.server);
    mark(&server.server);
    held.release();
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/progress");
    assert_eq!(stream.message().await.unwrap()["id"], 1);
    assert_eq!(post(server.port, &[], call(1, "changing", &json!({}))).await.status, 200);
}
