//! Who may come in: `Host` and `Origin` on every route, and what a page of another origin may read.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jumpseat::Tool;
use serde_json::{Value, json};
use support::door::Door;
use support::websocket::HANDSHAKE;
use support::{Http, JSON, Response, TestServer, builder, call, open_session, start, start_with};

const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// Method, path, usual headers, and the status of the response to that.
type Route = (&'static str, &'static str, &'static [(&'static str, &'static str)], u16);

/// Each route with each method that it has, and two that there are not.
const ROUTES: [Route; 13] = [
    ("GET", "/mcp", &HANDSHAKE, 101),
    ("GET", "/mcp", &[EVENTS], 200),
    ("GET", "/mcp", &[], 200),
    ("POST", "/mcp", &[JSON], 200),
    ("DELETE", "/mcp", &[("Mcp-Session-Id", "none")], 404),
    ("POST", "/mcp/message", &[JSON], 200),
    ("GET", "/mcp/events", &[EVENTS], 200),
    ("GET", "/sse", &[EVENTS], 200),
    ("GET", "/mcp/status", &[], 200),
    ("HEAD", "/mcp/status", &[], 200),
    ("GET", "/", &[], 200),
    ("GET", "/nowhere", &[], 404),
    ("PUT", "/mcp", &[], 405),
];

fn body(method: &str) -> Vec<u8> {
    if method == "POST" { call(1, "echo", &json!({"text": "x"})).into_bytes() } else { Vec::new() }
}

/// The head of the response of each route to a request with those headers, beside its usual status.
async fn heads(door: &Door, headers: &[(&str, &str)]) -> Vec<(String, u16, Response)> {
    let mut all = Vec::new();
    for (method, path, usual, status) in ROUTES {
        let mut http = door.connect().await;
        http.send(method, path, &[usual, headers].concat(), &body(method)).await;
        all.push((format!("{method} {path} {headers:?}"), status, http.head().await));
    }
    all
}

async fn assert_served(door: &Door, headers: &[(&str, &str)]) {
    for (what, status, head) in heads(door, headers).await {
        assert_eq!(head.status, status, "{what}");
    }
}

async fn assert_refused(door: &Door, headers: &[(&str, &str)]) {
    for (what, _, head) in heads(door, headers).await {
        assert_eq!((head.status, head.header("content-type")), (403, Some("application/json")), "{what}");
        assert_eq!(head.header("access-control-allow-origin"), None, "{what}");
    }
}

async fn ask(server: &TestServer, headers: &[(&str, &str)]) -> Response {
    Http::connect(server.port).await.roundtrip("GET", "/mcp/status", headers, b"").await
}

const LOOPBACK_HOSTS: [&str; 8] = [
    "localhost",
    "LocalHost",
    "localhost:8080",
    "localhost:65535",
    "127.0.0.1",
    "127.0.0.1:8081",
    "[::1]",
    "[::1]:9000",
];

const FOREIGN_HOSTS: [&str; 24] = [
    "",
    "evil.example.com",
    "evil.example.com:8080",
    "localhost.evil.com",
    "localhost.evil.com:8080",
    "evil-localhost",
    "localhost@evil.com",
    "evil.com#localhost",
    "127.0.0.1.evil.com",
    "127.0.0.1.nip.io:8080",
    "127.0.0.2",
    "127.0.0.10",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0.0.0.0",
    "0.0.0.0:8080",
    "[::]",
    "[::1].evil.com",
    "[::ffff:127.0.0.1]",
    "192.168.1.20:8080",
    "localhost:8080.evil.com",
    "localhost, evil.com",
    "phone",
];

#[tokio::test]
async fn a_loopback_host_is_served_whatever_its_port() {
    let server = start();
    for host in LOOPBACK_HOSTS {
        assert_served(&Door::Tcp(server.port), &[("Host", host)]).await;
    }
}

#[tokio::test]
async fn a_foreign_host_is_403_on_every_route() {
    let server = start();
    for host in FOREIGN_HOSTS {
        assert_refused(&Door::Tcp(server.port), &[("Host", host)]).await;
    }
}

#[tokio::test]
async fn host_and_origin_count_on_every_listener() {
    let server = start();
    for door in Door::all(&server) {
        assert_served(&door, &[("Origin", "http://localhost:6274")]).await;
        assert_refused(&door, &[("Host", "evil.example.com")]).await;
        assert_refused(&door, &[("Origin", "http://evil.example.com")]).await;
    }
}

#[tokio::test]
async fn a_request_without_a_host_or_with_two_is_403() {
    let server = start();
    for head in [
        "GET /mcp/status HTTP/1.1\r\n\r\n",
        "GET /mcp/status HTTP/1.0\r\n\r\n",
        "GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n",
        "GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "GET http://evil.com/mcp/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://localhost/mcp/status HTTP/1.1\r\nHost: evil.com\r\n\r\n",
        "GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.com\r\n\r\n",
        "GET /mcp/status HTTP/1.1\r\nHost: local\u{e9}host\r\n\r\n",
    ] {
        let mut http = Http::connect(server.port).await;
        http.write(head).await;
        let response = http.response().await;
        assert_eq!((response.status, response.json()["id"].clone()), (403, Value::Null), "{head}");
    }
}

const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost",
    "http://localhost:6274",
    "https://localhost:443",
    "http://127.0.0.1:3000",
    "https://127.0.0.1",
    "http://[::1]:5173",
];

const FOREIGN_ORIGINS: [&str; 20] = [
    "null",
    "",
    "*",
    "localhost",
    "http://evil.example.com",
    "https://evil.example.com:8080",
    "http://localhost.evil.com",
    "http://localhost@evil.com",
    "http://localhost:8080@evil.com",
    "http://evil.com#localhost",
    "http://evil.com?localhost",
    "http://127.0.0.1.evil.com",
    "http://127.0.0.2",
    "http://0.0.0.0:8080",
    "http://[::]",
    "http://192.168.1.20",
    "file://",
    "file://localhost",
    "chrome-extension://localhost",
    "http://localhost http://evil.com",
];

#[tokio::test]
async fn a_page_from_loopback_is_served_and_may_read_the_response() {
    let server = start();
    for origin in LOOPBACK_ORIGINS {
        for (what, status, head) in heads(&Door::Tcp(server.http_port), &[("Origin", origin)]).await {
            assert_eq!(head.status, status, "{what}");
            assert_eq!(head.header("access-control-allow-origin"), Some(origin), "{what}");
            assert_eq!(head.header("vary"), Some("Origin"), "{what}");
            let exposed = head.header("access-control-expose-headers").unwrap();
            assert!(exposed.contains("Mcp-Session-Id"), "{what}");
            // There is no cookie that it would be for.
            assert_eq!(head.header("access-control-allow-credentials"), None, "{what}");
        }
    }
}

#[tokio::test]
async fn a_page_from_elsewhere_is_403_on_every_route() {
    let server = start();
    for origin in FOREIGN_ORIGINS {
        assert_refused(&Door::Tcp(server.port), &[("Origin", origin)]).await;
    }
}

#[tokio::test]
async fn a_client_that_is_no_page_is_told_nothing_of_origins() {
    let server = start();
    for (what, _, head) in heads(&Door::Tcp(server.port), &[]).await {
        assert_eq!(head.header("access-control-allow-origin"), None, "{what}");
    }
}

#[tokio::test]
async fn a_refused_request_calls_no_tool_and_ends_no_session() {
    let server = start();
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let count = move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(String::new())
    };
    server.server.add_inline_tool(Tool::text("count", ""), count).unwrap();
    let id = open_session(server.port, "2025-11-25").await;
    let named = ("Mcp-Session-Id", &*id);
    for header in [("Host", "evil.example.com"), ("Origin", "http://evil.example.com")] {
        for path in ["/mcp", "/mcp/message"] {
            let body = call(1, "count", &json!({}));
            let mut http = Http::connect(server.port).await;
            let response = http.roundtrip("POST", path, &[JSON, header, named], body.as_bytes()).await;
            assert_eq!(response.status, 403);
            let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains("evil.example.com") && message.contains("localhost"), "{message}");
        }
        let deletion =
            Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &[header, named], b"").await;
        assert_eq!(deletion.status, 403);
    }
    let ping = support::request(1, "ping", &json!({}));
    assert_eq!(support::post(server.port, &[named], ping).await.status, 200);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_host_that_the_app_allows_is_served_with_any_port() {
    let server = start_with(builder().allow_host("Phone.example.com"));
    let door = Door::Tcp(server.port);
    for host in ["phone.example.com", "PHONE.example.com:8080", "localhost"] {
        assert_served(&door, &[("Host", host)]).await;
    }
    for host in ["example.com", "a.phone.example.com", "phone.example.com.evil.com", "evil.com"] {
        assert_eq!(ask(&server, &[("Host", host)]).await.status, 403, "{host}");
    }
    // A page from there is another matter.
    assert_refused(&door, &[("Origin", "http://phone.example.com")]).await;
}

#[tokio::test]
async fn an_origin_that_the_app_allows_is_served_and_no_other() {
    const ALLOWED: &str = "https://inspector.example.com";
    let server = start_with(builder().allow_origin(ALLOWED));
    assert_served(&Door::Tcp(server.port), &[("Origin", ALLOWED)]).await;
    let response = ask(&server, &[("Origin", ALLOWED)]).await;
    assert_eq!(response.header("access-control-allow-origin"), Some(ALLOWED));
    for origin in [
        "http://inspector.example.com",
        "https://inspector.example.com:8443",
        "https://inspector.example.com.evil.com",
        "https://evil.com",
        "https://example.com",
    ] {
        assert_eq!(ask(&server, &[("Origin", origin)]).await.status, 403, "{origin}");
    }
    let host = ask(&server, &[("Host", "inspector.example.com")]).await;
    assert_eq!(host.status, 403, "an origin is no host");
}

/// What a client of any revision sends, and a page may not send without being allowed to.
const HEADERS: [&str; 7] = [
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-param-region",
    "mcp-protocol-version",
    "mcp-session-id",
];

async fn preflight(server: &TestServer, path: &str, origin: &str) -> Response {
    let asked = HEADERS.join(",");
    let headers = [
        ("Origin", origin),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", &asked),
    ];
    Http::connect(server.port).await.roundtrip("OPTIONS", path, &headers, b"").await
}

#[tokio::test]
async fn a_preflight_allows_a_page_what_a_client_needs() {
    let server = start_with(builder().allow_origin("https://inspector.example.com"));
    for origin in ["http://localhost:6274", "https://inspector.example.com"] {
        for path in ["/mcp", "/mcp/message"] {
            let response = preflight(&server, path, origin).await;
            assert_eq!((response.status, response.text().as_str()), (204, ""));
            assert_eq!(response.header("access-control-allow-origin"), Some(origin));
            assert_eq!(response.header("vary"), Some("Origin"));
            let methods = response.header("access-control-allow-methods").unwrap();
            assert!(["GET", "POST", "DELETE"].iter().all(|method| methods.contains(method)), "{methods}");
            let headers = response.header("access-control-allow-headers").unwrap();
            assert!(HEADERS.iter().all(|header| headers.contains(header)), "{headers}");
        }
    }
}

#[tokio::test]
async fn a_preflight_from_elsewhere_allows_nothing() {
    let server = start();
    for origin in FOREIGN_ORIGINS {
        let response = preflight(&server, "/mcp", origin).await;
        assert_eq!(response.status, 403);
        assert!(!response.headers.iter().any(|(name, _)| name.starts_with("access-control")), "{origin}");
    }
}
