//! `broadcast_message`: what may be broadcast, to whom it goes, and in which order.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{Arguments, Context, Server, Tool};
use serde_json::{Value, json};
use support::websocket::{TEXT, WebSocket};
use support::{Events, app, call, modern, open_session, post, request, soon, start, until};

fn numbered(number: usize) -> String {
    let params = json!({"type": "custom", "message": "hello", "timestamp": number});
    json!({"jsonrpc": "2.0", "method": "notifications/custom", "params": params}).to_string()
}

fn number(message: &Value) -> usize {
    assert_eq!(message["method"], "notifications/custom", "{message}");
    usize::try_from(message["params"]["timestamp"].as_u64().unwrap()).unwrap()
}

/// A WebSocket that the server is sure to know.
async fn connect(port: u16) -> WebSocket {
    let mut socket = WebSocket::connect(port).await;
    assert_eq!(socket.ask(call(0, "echo", &json!({}))).await["id"], 0);
    socket
}

#[tokio::test]
async fn a_broadcast_goes_to_everybody_who_listens_and_is_counted() {
    let server = start();
    let broadcast = |number| server.server.broadcast_message(numbered(number)).unwrap();
    assert_eq!(broadcast(0), 0);

    let mut sockets = [connect(server.port).await, connect(server.http_port).await];
    assert_eq!(broadcast(1), 2);
    let mut modern_socket = connect(server.port).await;
    modern_socket.ask(modern(1, "tools/list", &json!({})).0).await;
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    let mut sse = Events::get(server.port, "/sse", &[]).await;
    assert_eq!(sse.next().await.unwrap().event.as_deref(), Some("endpoint"));
    assert_eq!(broadcast(2), 5);

    let id = open_session(server.port, "2025-11-25").await;
    assert_eq!(broadcast(3), 5, "a session without a stream hears nothing");
    let _old = Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await;
    let mut session = Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await;
    assert_eq!(broadcast(4), 6, "and one with two hears it once");

    for socket in &mut sockets {
        for expected in [1, 2, 3, 4] {
            assert_eq!(number(&socket.message().await), expected);
        }
    }
    for expected in [2, 3, 4] {
        assert_eq!(number(&modern_socket.message().await), expected);
        assert_eq!(number(&events.message().await.unwrap()), expected);
        assert_eq!(number(&sse.message().await.unwrap()), expected);
    }
    assert_eq!(number(&session.message().await.unwrap()), 4);
}

#[tokio::test]
async fn a_subscription_gets_no_broadcasts() {
    let server = start();
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = Events::post_modern(server.port, 1, "subscriptions/listen", &listen).await;
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(server.server.broadcast_message(numbered(1)).unwrap(), 0);
    server.server.add_simple_tool("new", "", |_| Ok(String::new())).unwrap();
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn nobody_is_there_before_the_start_and_after_the_stop() {
    let server = Server::builder(app()).ports(jumpseat::Ports::Fixed(0, 0)).initialize().unwrap();
    assert_eq!(server.broadcast_message(numbered(1)).unwrap(), 0);
    server.start_blocking().unwrap();
    assert_eq!(server.broadcast_message(numbered(2)).unwrap(), 0);
    server.stop().unwrap();
    assert_eq!(server.broadcast_message(numbered(3)).unwrap(), 0);
}

#[tokio::test]
async fn who_has_left_is_not_counted() {
    let server = start();
    let (gone, stays) = (connect(server.port).await, connect(server.port).await);
    let events = Events::get(server.port, "/mcp/events", &[]).await;
    assert_eq!(server.server.broadcast_message(numbered(1)).unwrap(), 3);
    drop(gone);
    drop(events);
    until("one is left", || server.server.broadcast_message(numbered(2)).unwrap() == 1).await;
    drop(stays);
}

#[tokio::test]
async fn only_a_notification_is_broadcast() {
    let server = start();
    let mut socket = connect(server.port).await;
    for (text, reason) in [
        ("", "JSON object"),
        ("hello", "JSON object"),
        ("[]", "JSON object"),
        (r#"[{"jsonrpc":"2.0","method":"m"}]"#, "JSON object"),
        (r#"{"jsonrpc":"2.0","method":"m""#, "JSON object"),
        (r#"{"jsonrpc":"2.0","method":"m"}{"jsonrpc":"2.0","method":"m"}"#, "JSON object"),
        (r#"{"method":"m"}"#, "jsonrpc"),
        (r#"{"jsonrpc":2.0,"method":"m"}"#, "jsonrpc"),
        (r#"{"jsonrpc":"1.0","method":"m"}"#, "jsonrpc"),
        (r#"{"jsonrpc":"2.0"}"#, "method"),
        (r#"{"jsonrpc":"2.0","method":null}"#, "method"),
        (r#"{"jsonrpc":"2.0","method":["m"]}"#, "method"),
        (r#"{"jsonrpc":"2.0","method":"m","id":1}"#, "id"),
        (r#"{"jsonrpc":"2.0","method":"m","id":null}"#, "id"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "method"),
    ] {
        let error = server.server.broadcast_message(text).unwrap_err().to_string();
        assert!(error.contains("notification") && error.contains(reason), "{text}: {error}");
    }
    assert_eq!(server.server.broadcast_message(numbered(7)).unwrap(), 1);
    assert_eq!(number(&socket.message().await), 7);
}

#[tokio::test]
async fn a_websocket_gets_the_text_as_it_is_and_an_event_stream_the_same_json() {
    let server = start();
    let mut socket = connect(server.port).await;
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    for text in [
        "{ \"jsonrpc\" : \"2.0\",\r\n  \"method\": \"grüße 🦀\",\n  \"params\": {\"a\": 1.0, \"b\": \"x\\ny\"}\n}",
        r#"{"jsonrpc":"2.0","method":"m","params":[1,2],"extra":12345678901234567890123}"#,
        r#"{"jsonrpc":"2.0","method":"data: x\n\nevent: y"}"#,
    ] {
        assert_eq!(server.server.broadcast_message(text).unwrap(), 2);
        let frame = socket.frame().await.unwrap();
        assert_eq!((frame.opcode, std::str::from_utf8(&frame.payload).unwrap()), (TEXT, text));
        assert_eq!(events.message().await.unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }
}

#[tokio::test]
async fn all_clients_see_one_order_whoever_broadcasts() {
    const THREADS: usize = 4;
    const EACH: usize = 50;
    let server = start();
    let (mut one, mut two) = (connect(server.port).await, connect(server.port).await);
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let server = server.server.clone();
            std::thread::spawn(move || {
                for step in 0..EACH {
                    assert_eq!(server.broadcast_message(numbered(thread * 1000 + step)).unwrap(), 3);
                }
            })
        })
        .collect();
    let mut last = [None; THREADS];
    for _ in 0..THREADS * EACH {
        let seen = number(&one.message().await);
        assert_eq!(number(&two.message().await), seen);
        assert_eq!(number(&events.message().await.unwrap()), seen);
        // Each thread's own are in its order.
        let last = &mut last[seen / 1000];
        assert!(last.map_or(seen.is_multiple_of(1000), |last| last + 1 == seen));
        *last = Some(seen);
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[tokio::test]
async fn a_handler_may_broadcast() {
    let server = start();
    let handle = server.server.clone();
    let shout = move |_: Arguments, _: Context| Ok(handle.broadcast_message(numbered(5))?.to_string());
    server.server.add_inline_tool(Tool::text("shout", "Broadcasts"), shout).unwrap();
    let (mut caller, mut other) = (connect(server.port).await, connect(server.port).await);
    caller.send(call(1, "shout", &json!({}))).await;
    assert_eq!(number(&other.message().await), 5);
    assert_eq!(number(&caller.message().await), 5, "what came first is sent first");
    assert_eq!(caller.message().await["result"]["content"][0]["text"], "2");
    let reply = post(server.port, &[], request(1, "tools/call", &json!({"name": "shout"}))).await;
    assert_eq!(reply.json()["result"]["content"][0]["text"], "2");
}

/// The limit of open files of a process is often 1,024, and a thousand WebSockets have two thousand ends here.
#[cfg(unix)]
fn raise_the_limit_of_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    assert!(limit.maximum.is_none_or(|maximum| maximum >= 3000), "the hard limit of open files is {limit:?}");
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_thousand_websockets_are_served_at_once_and_all_get_a_broadcast() {
    const MANY: usize = 1000;
    raise_the_limit_of_open_files();
    let server = start();
    let mut sockets = Vec::new();
    for _ in 0..MANY {
        sockets.push(connect(server.port).await);
    }
    assert_eq!(server.server.transport_info().connections.websocket, MANY);
    for step in 0..10 {
        assert_eq!(server.server.broadcast_message(numbered(step)).unwrap(), MANY);
    }
    for (index, socket) in sockets.iter_mut().enumerate() {
        socket.send(call(index, "echo", &json!({"text": "after"}))).await;
    }
    for (index, socket) in sockets.iter_mut().enumerate() {
        for step in 0..10 {
            assert_eq!(number(&socket.message().await), step);
        }
        assert_eq!(socket.message().await["id"], index);
    }
    drop(sockets);
    let gone = until("all are gone", || server.server.transport_info().connections.websocket == 0);
    soon(gone).await;
}
