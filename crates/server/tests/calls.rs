//! Calls of an app's tools: the three kinds of handler, panics, deadlines, failures, typed arguments and outputs.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::Duration;

use jumpseat::{Arguments, CallResult, Content, Context, Limits, Server, Tool, ToolError};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::WebSocket;
use support::{builder, call, post, start, start_with};

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

/// One call by a plain POST.
async fn called(port: u16, tool: &str, arguments: &Value) -> Value {
    post(port, &[], call(1, tool, arguments)).await.json()
}

/// Registers a handler as each of the three kinds, under the kinds' names.
fn add_each(
    server: &Server,
    tool: impl Fn(&str) -> Tool<Arguments, String>,
    handler: impl Fn(Arguments, Context) -> Result<String, ToolError> + Copy + Send + Sync + 'static,
) {
    server.add_inline_tool(tool(Kind::Inline.name()), handler).unwrap();
    server.add_blocking_tool(tool(Kind::Blocking.name()), handler).unwrap();
    server.add_tool(tool(Kind::Async.name()), move |a, c| async move { handler(a, c) }).unwrap();
}

fn named(name: &str) -> Tool<Arguments, String> {
    Tool::text(name, "One of each kind")
}

#[tokio::test]
async fn every_kind_of_handler_gets_its_arguments_and_answers() {
    let server = start();
    add_each(&server.server, named, |arguments, _| Ok(arguments.raw().to_owned()));
    for kind in Kind::ALL {
        // Arguments come as the client wrote them: numbers keep their digits, and blanks stay.
        let raw = r#"{"a": 0.10000000000000000000001, "b":12345678901234567890123 }"#;
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{raw}}}}}"#,
            kind.name()
        );
        assert_eq!(text(&post(server.port, &[], message).await.json()), raw, "{kind:?}");
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}"}}}}"#,
            kind.name()
        );
        assert_eq!(text(&post(server.port, &[], message).await.json()), "{}", "{kind:?}");
    }
}

#[tokio::test]
async fn a_simple_tool_has_a_name_a_description_and_a_handler_and_no_more() {
    let server = start();
    let add = |name: &str| {
        let name = name.to_owned();
        server.server.add_simple_tool(name.clone(), "What the app is doing", move |arguments| {
            Ok(format!("{name}: {}", arguments.str("topic").unwrap_or_else(|| "all is well".into())))
        })
    };
    add("debug_info").unwrap();
    assert_eq!(text(&called(server.port, "debug_info", &json!({})).await), "debug_info: all is well");
    let reply = called(server.port, "debug_info", &json!({"topic": "network"})).await;
    assert_eq!(reply["result"], json!({"content": [{"type": "text", "text": "debug_info: network"}]}));
    let list = post(server.port, &[], r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.json();
    let tools = list["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "debug_info").unwrap();
    assert_eq!(
        *tool,
        json!({"name": "debug_info", "description": "What the app is doing", "inputSchema": {"type": "object"}})
    );
}

#[tokio::test]
async fn a_tool_that_panics_answers_an_error_and_the_server_goes_on() {
    let server = start();
    add_each(&server.server, named, |_, _| panic!("on purpose"));
    server
        .server
        .add_tool(named("late"), |_, _| async {
            tokio::task::yield_now().await;
            panic!("on purpose, when it is polled again")
        })
        .unwrap();
    let mut socket = WebSocket::connect(server.port).await;
    for tool in ["inline", "blocking", "async", "late"] {
        for reply in
            [socket.ask(call(1, tool, &json!({}))).await, called(server.port, tool, &json!({})).await]
        {
            assert_eq!(
                (&reply["id"], &reply["error"]["code"]),
                (&json!(1), &json!(-32603)),
                "{tool}: {reply}"
            );
            let message = reply["error"]["message"].as_str().unwrap();
            assert!(message.contains(tool) && message.contains("panicked"), "{message}");
        }
        assert_eq!(text(&socket.ask(call(1, "echo", &json!({"text": "on"}))).await), "on");
    }
}

#[tokio::test]
async fn a_tool_that_fails_answers_a_result_that_the_model_reads() {
    let server = start();
    add_each(&server.server, named, |_, _| Err(ToolError::new("no such screen")));
    for kind in Kind::ALL {
        let reply = called(server.port, kind.name(), &json!({})).await;
        let result = json!({"content": [{"type": "text", "text": "no such screen"}], "isError": true});
        assert_eq!(reply, json!({"jsonrpc": "2.0", "id": 1, "result": result}), "{kind:?}");
    }
    let failing = |_, _| Ok("x".parse::<u8>()?.to_string());
    server.server.add_inline_tool(named("any_error"), failing).unwrap();
    let reply = called(server.port, "any_error", &json!({})).await;
    assert_eq!(reply["result"]["isError"], true);
    assert_eq!(text(&reply), "invalid digit found in string");
}

#[tokio::test]
async fn a_tool_has_a_deadline_unless_it_is_inline() {
    let server =
        start_with(builder().limits(Limits { call_timeout: Duration::from_millis(50), ..Limits::default() }));
    let mut helds: Vec<_> = [Kind::Blocking, Kind::Async]
        .map(|kind| (kind, Held::named(&server.server, kind.name(), kind)))
        .into();
    let mut socket = WebSocket::connect(server.port).await;
    for (kind, held) in &mut helds {
        socket.send(call("slow", kind.name(), &json!({}))).await;
        let context = held.begun().await;
        let reply = socket.message().await;
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!("slow"), &json!(-32603)), "{reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("timed out") && message.contains(kind.name()), "{message}");
        assert!(context.is_cancelled(), "{kind:?} can see that nobody waits any more");
        // A blocking handler runs on, and its answer comes too late.
        if *kind == Kind::Blocking {
            held.release();
        }
        held.ended().await;
        assert_eq!(socket.ask(call("next", "echo", &json!({}))).await["id"], "next");
        let reply = called(server.port, kind.name(), &json!({})).await;
        assert_eq!(reply["error"]["code"], -32603);
    }
    let slow = |_, _| {
        std::thread::sleep(Duration::from_millis(100));
        Ok("at last".into())
    };
    server.server.add_inline_tool(named("inline"), slow).unwrap();
    assert_eq!(text(&called(server.port, "inline", &json!({})).await), "at last");
}

#[tokio::test]
async fn a_tool_may_have_a_deadline_of_its_own() {
    let limits = Limits { call_timeout: Duration::from_millis(20), ..Limits::default() };
    let server = start_with(builder().limits(limits));
    let mut patient =
        Held::add(&server.server, named("patient").deadline(Duration::from_secs(60)), Kind::Async);
    let hasty = Held::add(&server.server, named("hasty").deadline(Duration::from_millis(10)), Kind::Async);
    let usual = Held::named(&server.server, "usual", Kind::Async);
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call("patient", "patient", &json!({}))).await;
    patient.begun().await;
    for tool in ["hasty", "usual"] {
        let reply = socket.ask(call(tool, tool, &json!({}))).await;
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(tool), &json!(-32603)));
    }
    patient.release();
    assert_eq!(socket.message().await["id"], "patient");
    drop((hasty, usual));
}

#[tokio::test]
async fn more_blocking_calls_than_threads_wait_their_turn() {
    let limits = Limits { max_blocking_threads: 2, ..Limits::default() };
    let server = start_with(builder().limits(limits));
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let mut socket = WebSocket::connect(server.port).await;
    for id in 0..6 {
        socket.send(call(id, "held", &json!({"text": id.to_string()}))).await;
    }
    held.begun().await;
    held.begun().await;
    assert_eq!(socket.ask(call("quick", "echo", &json!({}))).await["id"], "quick");
    assert!(!held.has_begun(), "two threads run two calls");
    let mut answered = Vec::new();
    for _ in 0..6 {
        held.release();
        let reply = socket.message().await;
        assert_eq!(text(&reply), reply["id"].to_string());
        answered.push(reply["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, [0, 1, 2, 3, 4, 5]);
}

/// More requests than the pool has threads, from several clients at once: none is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clients_call_every_kind_at_once() {
    for worker_threads in [1, 3] {
        let server = start_with(builder().worker_threads(worker_threads));
        let twice = |arguments: Arguments, _| {
            let text = arguments.str("text").unwrap_or_default();
            Ok(format!("{text}{text}"))
        };
        add_each(&server.server, named, twice);
        let port = server.port;
        let clients: Vec<_> = (0..8u64)
            .map(|client| {
                tokio::spawn(async move {
                    let mut socket = WebSocket::connect(port).await;
                    for id in 0..60u64 {
                        let kind = Kind::ALL[usize::try_from(id % 3).unwrap()];
                        let text = format!("{client}.{id} ");
                        socket.send(call(id, kind.name(), &json!({"text": text}))).await;
                    }
                    let mut seen = [false; 60];
                    for _ in 0..60 {
                        let reply = socket.message().await;
                        let id = reply["id"].as_u64().unwrap();
                        assert_eq!(text(&reply), format!("{client}.{id} ").repeat(2));
                        seen[usize::try_from(id).unwrap()] = true;
                    }
                    assert_eq!(seen, [true; 60]);
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    /// How many.
    count: u8,
    colour: Colour,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Clone, Copy, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Blue,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Receipt {
    total: u32,
    colour: Colour,
    notes: Vec<String>,
}

fn add_order(server: &Server) {
    let order = |order: Order, _| {
        Ok(Receipt { total: u32::from(order.count) * 3, colour: order.colour, notes: order.notes })
    };
    server.add_inline_tool(Tool::typed("order", "Orders"), order).unwrap();
}

#[tokio::test]
async fn a_typed_tool_has_schemas_and_answers_structured_content_and_the_same_as_text() {
    let server = start();
    add_order(&server.server);
    let list = post(server.port, &[], r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.json();
    let tools = list["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "order").unwrap();
    assert_eq!(tool["inputSchema"]["type"], "object");
    assert_eq!(tool["inputSchema"]["required"], json!(["count", "colour"]));
    assert_eq!(tool["inputSchema"]["properties"]["count"]["description"], "How many.");
    assert_eq!(tool["outputSchema"]["type"], "object");
    assert_eq!(tool["outputSchema"]["required"], json!(["total", "colour", "notes"]));

    let reply = called(server.port, "order", &json!({"count": 7, "colour": "blue", "notes": ["a"]})).await;
    let receipt = json!({"total": 21, "colour": "blue", "notes": ["a"]});
    assert_eq!(reply["result"]["structuredContent"], receipt);
    assert_eq!(serde_json::from_str::<Value>(text(&reply)).unwrap(), receipt);
    assert_eq!(reply["result"].get("isError"), None);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_a_tool_error_that_names_the_field() {
    let server = start();
    add_order(&server.server);
    for (arguments, named) in [
        (json!({"colour": "red"}), "`count`"),
        (json!({"count": 300, "colour": "red"}), "`count`"),
        (json!({"count": "7", "colour": "red"}), "`count`"),
        (json!({"count": 7, "colour": "green"}), "`colour`"),
        (json!({"count": 7, "colour": "red", "notes": ["a", 2]}), "`notes[1]`"),
    ] {
        let reply = called(server.port, "order", &arguments).await;
        assert_eq!(reply["result"]["isError"], true, "{arguments}: {reply}");
        assert!(text(&reply).contains(named), "{arguments}: {reply}");
    }
    // What is no object at all never reaches the tool.
    let reply = called(server.port, "order", &json!([1])).await;
    assert_eq!(reply["error"]["code"], -32602);
}

#[tokio::test]
async fn a_result_may_have_content_of_every_kind() {
    let server = start();
    let all = |_, _| {
        Ok(CallResult::content(vec![
            Content::text("t"),
            Content::image(b"png", "image/png"),
            Content::audio(b"wav", "audio/wav"),
            Content::resource_text("app://log", "text/plain", "line"),
            Content::resource_blob("app://db", "application/octet-stream", &[0, 255]),
            Content::resource_link("app://more", "more"),
        ]))
    };
    server.server.add_inline_tool(Tool::new("all", "All kinds of content"), all).unwrap();
    let mut socket = WebSocket::connect(server.port).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    socket.ask(support::request(0, "initialize", &params)).await;
    let reply = socket.ask(call(1, "all", &json!({}))).await;
    assert_eq!(
        reply["result"]["content"],
        json!([
            {"type": "text", "text": "t"},
            {"type": "image", "data": "cG5n", "mimeType": "image/png"},
            {"type": "audio", "data": "d2F2", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "app://log", "mimeType": "text/plain", "text": "line"}},
            {"type": "resource", "resource": {"uri": "app://db", "mimeType": "application/octet-stream", "blob": "AP8="}},
            {"type": "resource_link", "uri": "app://more", "name": "more"},
        ])
    );
}
