//! Sessions over HTTP: their ids, how they outlive a restart of the app, and how they end.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{HostApp, Limits, Ports, Server, Tool};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::{
    Events, Http, Response, TestServer, app, builder, call, get, open_session, post, request, start,
    start_with,
};

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

async fn ping(server: &TestServer, id: &str) -> Response {
    post(server.port, &[("Mcp-Session-Id", id)], request(1, "ping", &json!({}))).await
}

async fn delete(server: &TestServer, id: &str) -> Response {
    Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &[("Mcp-Session-Id", id)], b"").await
}

async fn sessions(server: &TestServer) -> Value {
    get(server.port, "/mcp/status", &[]).await.json()["connections"]["sessions"].clone()
}

/// A server with a tool that says in which revision, and by whom, it was called.
fn start_telling(app: HostApp) -> TestServer {
    let server = start_with(Server::builder(app).ports(Ports::Fixed(0, 0)));
    let tell = |_, context: jumpseat::Context| {
        let caller = context.caller();
        Ok(format!("{} {}", caller.revision, caller.client.as_ref().map_or("", |client| &client.name)))
    };
    server.server.add_inline_tool(Tool::text("tell", ""), tell).unwrap();
    server
}

async fn told(server: &TestServer, id: &str) -> Value {
    let response = post(server.port, &[("Mcp-Session-Id", id)], call(1, "tell", &json!({}))).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["result"]["content"][0]["text"].clone()
}

#[tokio::test]
async fn an_id_is_visible_ascii_and_of_one_session_only() {
    let server = start();
    let mut ids = Vec::new();
    for revision in REVISIONS {
        for _ in 0..3 {
            let id = open_session(server.port, revision).await;
            assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{id}");
            assert!(id.len() <= 512, "{id}");
            assert!(!ids.contains(&id));
            ids.push(id);
        }
    }
    assert_eq!(sessions(&server).await, ids.len());
}

#[tokio::test]
async fn a_plain_request_begins_no_session() {
    let server = start();
    let response = post(server.port, &[], call(1, "echo", &json!({}))).await;
    assert_eq!((response.status, response.header("mcp-session-id")), (200, None));
    assert_eq!(sessions(&server).await, 0);
}

#[tokio::test]
async fn a_session_outlives_a_restart_of_the_app() {
    let app = app();
    let first = start_telling(app.clone());
    let mut ids = Vec::new();
    for revision in REVISIONS {
        ids.push((revision, open_session(first.port, revision).await));
    }
    assert_eq!(told(&first, &ids[0].1).await, "2024-11-05 test");
    drop(first);

    let second = restarted(&app).await;
    for (revision, id) in &ids {
        assert_eq!(told(&second, id).await, format!("{revision} test"));
        let stream = Events::get(second.port, "/mcp", &[("Mcp-Session-Id", id)]).await;
        assert_eq!(stream.head.status, 200);
    }
    assert_eq!(sessions(&second).await, ids.len());
    // A session that was only restored can be ended, too.
    let (_, id) = &ids[0];
    assert_eq!((delete(&second, id).await.status, ping(&second, id).await.status), (204, 404));
}

/// A server that knows nothing of the one before it, as in a new process.
async fn restarted(app: &HostApp) -> TestServer {
    // The last handle to the one before is dropped by its thread, after `stop` has returned.
    support::until("the first server is gone", || {
        let server = Server::builder(app.clone()).initialize().unwrap();
        server.transport_info().requests_total == 0
    })
    .await;
    start_telling(app.clone())
}

#[tokio::test]
async fn a_session_outlives_a_stop_and_a_start() {
    let server = start_telling(app());
    let id = open_session(server.port, "2025-06-18").await;
    server.server.stop().unwrap();
    let again = server.server.start_blocking().unwrap().websocket_endpoint.unwrap();
    let port = again.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
    let response = post(port, &[("Mcp-Session-Id", &id)], call(1, "tell", &json!({}))).await;
    assert_eq!(response.json()["result"]["content"][0]["text"], "2025-06-18 test");
}

#[tokio::test]
async fn an_id_that_was_changed_or_made_up_is_404() {
    let server = start();
    let id = open_session(server.port, "2025-11-25").await;
    let mut others = vec![
        id.replace("2025-11-25", "2025-06-18"),
        id.replace("2025-11-25", "2026-07-28"),
        id[..id.len() - 1].to_owned(),
        format!("{id}0"),
        format!("{id}.0"),
        id.to_ascii_uppercase(),
        "x".repeat(8000),
        "../../etc/passwd".into(),
        "8d2c5b8e-5a3c-4d0e-9a51-5f6f2b8f7f11".into(),
    ];
    others.extend((0..id.len()).map(|at| {
        let mut bytes = id.clone().into_bytes();
        bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
        String::from_utf8(bytes).unwrap()
    }));
    for other in others {
        let response = ping(&server, &other).await;
        assert_eq!(response.status, 404, "{other}");
        assert!(response.json()["error"]["message"].as_str().unwrap().contains("initialize"));
    }
    assert_eq!(ping(&server, &id).await.status, 200);
    assert_eq!(sessions(&server).await, 1);
}

#[tokio::test]
async fn an_id_of_other_bytes_than_ascii_is_404() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    let body = request(1, "ping", &json!({}));
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let head = format!("{head}Content-Length: {}\r\nMcp-Session-Id: ", body.len());
    http.write([head.as_bytes(), b"\xff\xfe\xc3\xa9\r\n\r\n", body.as_bytes()].concat()).await;
    assert_eq!(http.response().await.status, 404);
}

#[tokio::test]
async fn a_deleted_session_is_gone_and_its_call_is_cancelled_and_its_stream_ends() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let id = open_session(server.port, "2025-11-25").await;
    let other = open_session(server.port, "2025-11-25").await;
    let session = [("Mcp-Session-Id", &*id)];
    let mut stream = Events::get(server.port, "/mcp", &session).await;
    stream.next().await.unwrap();
    let mut pending = Http::connect(server.port).await;
    pending.send("POST", "/mcp", &[session[0], support::JSON], call(1, "held", &json!({})).as_bytes()).await;
    let context = held.begun().await;

    let response = delete(&server, &id).await;
    assert_eq!((response.status, response.text().as_str()), (204, ""));
    held.ended().await;
    assert!(context.is_cancelled());
    assert_eq!(stream.next().await, None);
    assert_eq!((ping(&server, &id).await.status, delete(&server, &id).await.status), (404, 404));
    assert_eq!(ping(&server, &other).await.status, 200);
    assert_eq!(sessions(&server).await, 1);
}

#[tokio::test]
async fn the_sessions_over_the_limit_are_dropped_and_come_back_by_their_ids() {
    let server = start_with(builder().limits(Limits { max_sessions: 3, ..Limits::default() }));
    let mut ids = Vec::new();
    for revision in REVISIONS.into_iter().cycle().take(10) {
        ids.push(open_session(server.port, revision).await);
    }
    assert_eq!(sessions(&server).await, 3);
    for id in &ids {
        assert_eq!(ping(&server, id).await.status, 200);
    }
    assert_eq!(sessions(&server).await, 3);
    // Deleted is deleted, also when others have taken its place.
    assert_eq!(delete(&server, &ids[0]).await.status, 204);
    for id in &ids[1..] {
        assert_eq!(ping(&server, id).await.status, 200);
    }
    assert_eq!(ping(&server, &ids[0]).await.status, 404);
}

#[tokio::test]
async fn a_session_with_a_call_or_a_stream_is_dropped_last() {
    let server = start_with(builder().limits(Limits { max_sessions: 3, ..Limits::default() }));
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let calling = open_session(server.port, "2025-06-18").await;
    let listening = open_session(server.port, "2025-06-18").await;
    let session = |id| ("Mcp-Session-Id", id);
    let mut pending = Http::connect(server.port).await;
    let body = call("mine", "held", &json!({"text": "done"}));
    pending.send("POST", "/mcp", &[session(&*calling), support::JSON], body.as_bytes()).await;
    held.begun().await;
    let mut stream = Events::get(server.port, "/mcp", &[session(&*listening)]).await;
    for _ in 0..5 {
        open_session(server.port, "2025-06-18").await;
    }
    // The one is still the session that its call runs in: it can cancel it. The other still has its stream.
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"mine"}}"#;
    assert_eq!(post(server.port, &[session(&*calling)], cancel).await.status, 202);
    held.ended().await;
    assert_eq!(delete(&server, &listening).await.status, 204);
    assert_eq!(stream.message().await, None);
}

#[tokio::test]
async fn sessions_idle_too_long_go_first() {
    let limits = Limits { max_sessions: 4, session_idle: std::time::Duration::ZERO, ..Limits::default() };
    let server = start_with(builder().limits(limits));
    for _ in 0..4 {
        open_session(server.port, "2025-06-18").await;
    }
    assert_eq!(sessions(&server).await, 4);
    // Idle sessions are kept until there is one too many; then all idle ones go.
    open_session(server.port, "2025-06-18").await;
    assert_eq!(sessions(&server).await, 1);
}
