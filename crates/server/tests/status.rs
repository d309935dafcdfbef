//! The status object: in process, and on the status routes.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{HostApp, Ports, Server, TransportInfo};
use serde_json::{Value, json};
use support::websocket::WebSocket;
use support::{
    Events, TestServer, app, builder, call, free_port, get, open_session, post, post_to, request, start,
    start_with, until,
};

fn as_json(info: &TransportInfo) -> Value {
    serde_json::to_value(info).unwrap()
}

async fn status(server: &TestServer, path: &str) -> Value {
    let response = get(server.http_port, path, &[]).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    response.json()
}

const KEYS: [&str; 15] = [
    "app",
    "connections",
    "events_endpoint",
    "is_running",
    "local_socket",
    "message_endpoint",
    "protocol_versions",
    "requests_total",
    "server",
    "sse_endpoint",
    "started_at",
    "status_endpoint",
    "transport_type",
    "uptime_ms",
    "websocket_endpoint",
];

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn the_status_says_what_runs_where() {
    let app = HostApp::new("test.status.keys", "Status app", "4.5.6").debuggable(true);
    let server = start_with(Server::builder(app).ports(Ports::Fixed(0, 0)));
    let status = status(&server, "/mcp/status").await;
    assert_eq!(keys(&status), KEYS);
    assert_eq!(status["transport_type"], "websocket+http_sse");
    assert_eq!(status["is_running"], true);
    let (ws, http) =
        (format!("ws://127.0.0.1:{}", server.port), format!("http://127.0.0.1:{}", server.http_port));
    assert_eq!(status["websocket_endpoint"], format!("{ws}/mcp"));
    assert_eq!(status["sse_endpoint"], format!("{http}/mcp"));
    assert_eq!(status["message_endpoint"], format!("{http}/mcp/message"));
    assert_eq!(status["events_endpoint"], format!("{http}/mcp/events"));
    assert_eq!(status["status_endpoint"], format!("{http}/mcp/status"));
    let pid = std::process::id();
    let local = cfg!(any(target_os = "android", target_os = "linux"))
        .then(|| format!("jumpseat_test.status.keys_{pid}"));
    assert_eq!(status["local_socket"], json!(local));
    assert_eq!(status["server"], json!({"name": "jumpseat", "version": env!("CARGO_PKG_VERSION")}));
    let app = json!({"id": "test.status.keys", "name": "Status app", "version_name": "4.5.6", "pid": pid});
    assert_eq!(status["app"], app);
    let revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
    assert_eq!(status["protocol_versions"], json!(revisions));
    assert_eq!(status["connections"], json!({"websocket": 0, "event_streams": 0, "sessions": 0}));
    assert_eq!(status["requests_total"], 0);
    assert!(status["uptime_ms"].is_u64());
    let started = status["started_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(jiff::Timestamp::now().duration_since(started).abs().as_secs() < 60);
}

#[tokio::test]
async fn every_endpoint_of_the_status_answers() {
    let server = start();
    let status = status(&server, "/mcp/status").await;
    let place = |key: &str| {
        let url = status[key].as_str().unwrap();
        let (_, rest) = url.split_once("://127.0.0.1:").unwrap();
        let (port, path) = rest.split_at(rest.find('/').unwrap());
        (port.parse::<u16>().unwrap(), path.to_owned())
    };
    let (port, path) = place("websocket_endpoint");
    assert_eq!(path, "/mcp");
    assert_eq!(WebSocket::connect(port).await.ask(request(1, "ping", &json!({}))).await["result"], json!({}));
    for key in ["sse_endpoint", "message_endpoint"] {
        let (port, path) = place(key);
        assert_eq!(
            post_to(port, &path, &[], request(1, "ping", &json!({}))).await.json()["result"],
            json!({})
        );
    }
    for key in ["sse_endpoint", "events_endpoint"] {
        let (port, path) = place(key);
        assert!(Events::get(port, &path, &[]).await.next().await.is_some());
    }
    let (port, path) = place("status_endpoint");
    assert_eq!(get(port, &path, &[]).await.json()["app"], status["app"]);
}

/// Everything but the time, which goes on.
fn timeless(mut status: Value) -> Value {
    assert!(status["uptime_ms"].take().is_u64());
    status
}

#[tokio::test]
async fn both_routes_on_both_ports_say_what_the_app_is_told() {
    let server = start();
    open_session(server.port, "2025-11-25").await;
    post(server.port, &[], call(1, "echo", &json!({}))).await;
    let expected = timeless(as_json(&server.server.transport_info()));
    for port in [server.port, server.http_port] {
        for path in ["/mcp", "/mcp/status"] {
            assert_eq!(timeless(get(port, path, &[]).await.json()), expected, "{path}");
        }
    }
}

#[tokio::test]
async fn what_does_not_run_has_no_endpoints() {
    let server = builder().initialize().unwrap();
    let before = as_json(&server.transport_info());
    let started = server.start_blocking().unwrap();
    assert!(started.is_running && server.is_server_running());
    assert_eq!(timeless(as_json(&started)), timeless(as_json(&server.transport_info())));
    server.stop().unwrap();
    let after = as_json(&server.transport_info());
    assert_eq!(before, after);
    assert_eq!(keys(&before), KEYS);
    assert_eq!(before["is_running"], false);
    for key in KEYS {
        let is_null =
            key.ends_with("_endpoint") || matches!(key, "local_socket" | "started_at" | "uptime_ms");
        assert_eq!(before[key].is_null(), is_null, "{key}");
    }
    assert!(!server.is_server_running());
}

#[tokio::test]
async fn a_start_returns_what_runs_and_a_second_one_the_same() {
    let server = builder().initialize().unwrap();
    let first = server.start().await.unwrap();
    let second = server.start_blocking().unwrap();
    let third = server.start_server_async().join().unwrap().unwrap();
    for again in [second, third] {
        assert_eq!(again.websocket_endpoint, first.websocket_endpoint);
        assert_eq!(again.started_at, first.started_at);
    }
    server.stop().unwrap();
}

#[tokio::test]
async fn the_status_counts_who_is_connected_and_what_was_asked() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    socket.ask(request(1, "ping", &json!({}))).await;
    let events = Events::get(server.port, "/mcp/events", &[]).await;
    let id = open_session(server.port, "2025-06-18").await;
    let now = status(&server, "/mcp").await;
    assert_eq!(now["connections"], json!({"websocket": 1, "event_streams": 1, "sessions": 1}));
    // A ping, an initialize and an initialized; a question for the status is none.
    assert_eq!(now["requests_total"], 3);
    socket.abort();
    drop(events);
    let mut http = support::Http::connect(server.port).await;
    assert_eq!(http.roundtrip("DELETE", "/mcp", &[("Mcp-Session-Id", &id)], b"").await.status, 204);
    let connections = || server.server.transport_info().connections;
    until("all are gone", || {
        as_json(&server.server.transport_info())["connections"]
            == json!({"websocket": 0, "event_streams": 0, "sessions": 0})
    })
    .await;
    assert_eq!(connections().sessions, 0);
    assert_eq!(status(&server, "/mcp").await["requests_total"], 3);
}

#[tokio::test]
async fn the_time_goes_on_and_begins_anew_with_a_start() {
    let server = builder().initialize().unwrap();
    let first = server.start_blocking().unwrap();
    until("time has passed", || server.transport_info().uptime_ms > first.uptime_ms).await;
    until("much time has passed", || server.transport_info().uptime_ms >= Some(50)).await;
    server.stop().unwrap();
    let second = server.start_blocking().unwrap();
    assert!(second.started_at > first.started_at);
    server.stop().unwrap();
}

#[tokio::test]
async fn one_port_for_both_is_told_for_both() {
    let free = free_port();
    let server = start_with(Server::builder(app()).ports(Ports::Fixed(free, free)));
    let status = status(&server, "/mcp/status").await;
    assert_eq!(status["websocket_endpoint"], format!("ws://127.0.0.1:{free}/mcp"));
    assert_eq!(status["sse_endpoint"], format!("http://127.0.0.1:{free}/mcp"));
    assert_eq!(WebSocket::connect(free).await.ask(request(1, "ping", &json!({}))).await["id"], 1);
}
