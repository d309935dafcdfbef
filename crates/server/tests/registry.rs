//! Tools come and go while the server runs: what may be registered, what clients see of it, and which handler a
//! call gets.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{AddToolError, Arguments, Context, Server, Tool};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::WebSocket;
use support::{app, call, post, request, start};

fn named(name: &str) -> Tool<Arguments, String> {
    Tool::text(name, "A tool")
}

/// Registers a tool that answers `text`.
fn add(server: &Server, tool: Tool<Arguments, String>, text: &'static str) -> Result<(), AddToolError> {
    server.add_inline_tool(tool, move |_, _| Ok(text.to_owned()))
}

/// All tools, page by page.
async fn list(port: u16) -> Vec<Value> {
    let (mut tools, mut params) = (Vec::new(), json!({}));
    loop {
        let reply = post(port, &[], request(1, "tools/list", &params)).await.json();
        let page = reply["result"]["tools"].as_array().unwrap();
        assert!(page.len() <= 100, "a page has {}", page.len());
        tools.extend(page.iter().cloned());
        let Some(cursor) = reply["result"].get("nextCursor") else { return tools };
        assert_eq!(page.len(), 100);
        params = json!({"cursor": cursor});
    }
}

async fn names(port: u16) -> Vec<String> {
    list(port).await.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn answer(port: u16, tool: &str) -> String {
    let reply = post(port, &[], call(1, tool, &json!({}))).await.json();
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[tokio::test]
async fn a_tool_can_be_called_as_soon_as_it_is_registered_and_no_more_when_it_is_removed() {
    let server = start();
    add(&server.server, named("new"), "here").unwrap();
    assert!(names(server.port).await.contains(&"new".to_owned()));
    assert_eq!(answer(server.port, "new").await, "here");

    assert!(server.server.remove_tool("new"));
    assert!(!server.server.remove_tool("new"));
    assert!(!names(server.port).await.contains(&"new".to_owned()));
    let reply = post(server.port, &[], call(1, "new", &json!({}))).await.json();
    assert_eq!(reply["error"]["code"], -32602);
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"new\""), "it names the tool: {message}");
    assert!(message.contains("app_info, device_info, echo, system_time"), "and those there are: {message}");
}

#[tokio::test]
async fn tools_are_registered_before_the_start_and_stay_when_the_server_stops() {
    let server = Server::builder(app()).ports(jumpseat::Ports::Fixed(0, 0)).initialize().unwrap();
    add(&server, named("early"), "bird").unwrap();
    for _ in 0..2 {
        let info = server.start_blocking().unwrap();
        let endpoint = info.sse_endpoint.unwrap();
        let port = endpoint.trim_start_matches("http://127.0.0.1:").trim_end_matches("/mcp").parse().unwrap();
        assert_eq!(answer(port, "early").await, "bird");
        server.stop().unwrap();
    }
}

#[tokio::test]
async fn a_taken_name_is_an_error_unless_replacing_is_asked_for() {
    let server = start();
    add(&server.server, named("tool"), "first").unwrap();
    let error = add(&server.server, named("tool"), "second").unwrap_err();
    assert!(matches!(&error, AddToolError::NameTaken(name) if name == "tool"));
    assert!(error.to_string().contains("\"tool\"") && error.to_string().contains("replace"), "{error}");
    assert_eq!(answer(server.port, "tool").await, "first");

    let replacement = Tool::text("tool", "Another description").replace();
    add(&server.server, replacement, "third").unwrap();
    assert_eq!(answer(server.port, "tool").await, "third");
    let tools = list(server.port).await;
    let of_that_name: Vec<_> = tools.iter().filter(|tool| tool["name"] == "tool").collect();
    assert_eq!(of_that_name.len(), 1);
    assert_eq!(of_that_name[0]["description"], "Another description");

    // What is not there can be replaced, too; and so can what is built in.
    add(&server.server, named("fresh").replace(), "fresh").unwrap();
    assert_eq!(answer(server.port, "fresh").await, "fresh");
    assert!(add(&server.server, named("device_info"), "").is_err());
    add(&server.server, named("device_info").replace(), "my own").unwrap();
    assert_eq!(answer(server.port, "device_info").await, "my own");
}

#[tokio::test]
async fn a_name_that_mcp_does_not_allow_is_refused() {
    let server = start();
    let before = list(server.port).await;
    for name in ["", " ", "a b", "grüße", "a/b", "a:b", "a\n", &"x".repeat(129)] {
        let error = add(&server.server, named(name), "").unwrap_err();
        assert!(matches!(error, AddToolError::Invalid(_)), "{name:?}");
        assert!(error.to_string().contains("128"), "it says what is allowed: {error}");
    }
    assert_eq!(list(server.port).await, before);
    let longest = "x".repeat(128);
    for name in ["a", "A-z_0.9", &longest] {
        add(&server.server, named(name), "ok").unwrap();
        assert_eq!(answer(server.port, name).await, "ok");
    }
}

#[tokio::test]
async fn an_input_schema_that_is_not_an_objects_is_refused() {
    let server = start();
    for schema in [
        json!({}),
        json!(true),
        json!(null),
        json!({"type": "string"}),
        json!({"type": ["object", "null"]}),
        json!({"properties": {}}),
    ] {
        let error = add(&server.server, named("tool").input_schema(schema.clone()), "").unwrap_err();
        assert!(error.to_string().contains("object"), "{schema}: {error}");
    }
    let not_named = Tool::typed_text::<u32>("tool", "Takes a number");
    assert!(server.server.add_inline_tool(not_named, |_, _| Ok(String::new())).is_err());
    assert!(!names(server.port).await.contains(&"tool".to_owned()));
}

#[tokio::test]
async fn what_is_said_of_a_tool_reaches_the_client() {
    let server = start();
    let tool = Tool::text("tool", "Does \"it\"\n🦀")
        .title("The tool")
        .input_schema(json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}))
        .output_schema(json!({"type": "object"}))
        .destructive(true)
        .idempotent()
        .open_world(false);
    add(&server.server, tool, "").unwrap();
    let tools = list(server.port).await;
    let tool = tools.iter().find(|tool| tool["name"] == "tool").unwrap();
    assert_eq!(
        *tool,
        json!({
            "name": "tool",
            "title": "The tool",
            "description": "Does \"it\"\n🦀",
            "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            "outputSchema": {"type": "object"},
            "annotations": {"destructiveHint": true, "idempotentHint": true, "openWorldHint": false},
        })
    );
}

#[tokio::test]
async fn many_tools_are_sorted_by_name_and_come_in_pages() {
    let server = start();
    let mut expected = vec!["app_info".to_owned(), "device_info".into(), "echo".into(), "system_time".into()];
    for number in (0..246).rev() {
        let name = format!("tool{number}");
        add(&server.server, named(&name), "").unwrap();
        expected.push(name);
    }
    expected.sort_unstable();
    assert_eq!(names(server.port).await, expected);
    let reply = post(server.port, &[], request(1, "tools/list", &json!({"cursor": "tool7"}))).await.json();
    assert_eq!(reply["error"]["code"], -32602, "a cursor is one that the server gave");
}

#[tokio::test]
async fn a_call_that_runs_keeps_its_handler() {
    let server = start();
    let mut first = Held::named(&server.server, "tool", Kind::Blocking);
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call("first", "tool", &json!({"text": "the old one"}))).await;
    first.begun().await;
    add(&server.server, named("tool").replace(), "the new one").unwrap();
    assert_eq!(socket.message().await["method"], "notifications/tools/list_changed");
    let reply = socket.ask(call("second", "tool", &json!({}))).await;
    assert_eq!(reply["result"]["content"][0]["text"], "the new one");
    assert!(server.server.remove_tool("tool"));
    assert_eq!(socket.message().await["method"], "notifications/tools/list_changed");
    first.release();
    let reply = socket.message().await;
    assert_eq!(
        (&reply["id"], &reply["result"]["content"][0]["text"]),
        (&json!("first"), &json!("the old one"))
    );
}

#[tokio::test]
async fn tools_are_registered_and_removed_from_any_thread() {
    const THREADS: usize = 4;
    const EACH: usize = 50;
    let server = start();
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let server = server.server.clone();
            std::thread::spawn(move || {
                for number in 0..EACH {
                    let name = format!("t{thread}.{number:02}");
                    add(&server, named(&name), "ok").unwrap();
                    if number % 2 == 1 {
                        assert!(server.remove_tool(&name));
                    }
                }
                // One name for all threads: one of them gets it.
                add(&server, named("shared"), "one of us").is_ok()
            })
        })
        .collect();
    // Clients see some state meanwhile, and each is a whole one.
    for _ in 0..20 {
        let names = names(server.port).await;
        assert!(names.is_sorted(), "{names:?}");
    }
    let got_it = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|got| *got).count();
    assert_eq!(got_it, 1);
    let left = names(server.port).await.iter().filter(|name| name.contains('.')).count();
    assert_eq!(left, THREADS * EACH / 2);
    assert_eq!(answer(server.port, "shared").await, "one of us");
}

#[tokio::test]
async fn a_handler_may_register_and_remove_tools() {
    let server = start();
    let handle = server.server.clone();
    let grow = move |arguments: Arguments, _: Context| {
        let name = arguments.str("name").unwrap_or_default();
        add(&handle, named(&name), "grown")?;
        handle.remove_tool("grow");
        Ok("it grew".to_owned())
    };
    server.server.add_inline_tool(named("grow"), grow).unwrap();
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, "grow", &json!({"name": "leaf"}))).await;
    assert_eq!(socket.message().await["method"], "notifications/tools/list_changed");
    assert_eq!(socket.message().await["method"], "notifications/tools/list_changed");
    assert_eq!(socket.message().await["result"]["content"][0]["text"], "it grew");
    let names = names(server.port).await;
    assert_eq!(names, ["app_info", "device_info", "echo", "leaf", "system_time"]);
}
