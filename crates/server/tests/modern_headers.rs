//! The headers of a modern request against its body, over real POSTs: every case of the `proto` crate, and the
//! HTTP status that it has.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

#[path = "../../proto/tests/header_cases/mod.rs"]
mod header_cases;
mod support;

use header_cases::{ID, TOOL, cases, input_schema};
use jumpseat::{Arguments, CallResult, Tool};
use serde_json::{Value, json};
use support::{TestServer, open_session, post, post_modern, start};

fn server() -> TestServer {
    let server = start();
    let tool = Tool::new(TOOL, "").input_schema(input_schema());
    server.server.add_inline_tool(tool, |_: Arguments, _| Ok(CallResult::default())).unwrap();
    server
}

#[tokio::test]
async fn headers_that_do_not_say_what_the_body_says_are_refused_with_400() {
    let server = server();
    let discovered = post_modern(server.http_port, 1, "server/discover", &json!({})).await.json();
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap().clone();
    for case in cases() {
        let headers: Vec<_> = case.headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let response = post(server.http_port, &headers, &case.body).await;
        let body = response.json();
        let came = (response.status, body["error"]["code"].as_i64());
        assert_eq!(came, (case.status, case.code), "{}: {:?} {}: {body}", case.name, case.headers, case.body);
        assert_eq!(body["id"], ID, "{}", case.name);
        assert_eq!(response.header("content-type"), Some("application/json"), "{}", case.name);
        if case.code == Some(-32022) {
            says_what_is_served(&body["error"]["data"], &versions);
        }
    }
}

fn says_what_is_served(data: &Value, served: &[Value]) {
    let supported = data["supported"].as_array().unwrap();
    assert!(!supported.is_empty() && supported.iter().all(|version| served.contains(version)), "{data}");
    assert!(data["requested"].is_string(), "{data}");
}

#[tokio::test]
async fn a_modern_request_passes_over_the_header_of_a_session() {
    let server = server();
    let (body, headers) = support::modern(ID, "tools/list", &json!({}));
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    headers.push(("Mcp-Session-Id", "nobody-gave-this"));
    let response = post(server.http_port, &headers, &body).await;
    assert_eq!((response.status, response.header("mcp-session-id")), (200, None), "{}", response.text());
    assert_eq!(response.json()["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_session_can_be_used_with_the_header_of_its_revision_or_without() {
    let server = server();
    let session = open_session(server.http_port, "2025-06-18").await;
    let ping = support::request(ID, "ping", &json!({}));
    for version in [None, Some("2025-06-18"), Some("2025-11-25")] {
        let mut headers = vec![("Mcp-Session-Id", &*session)];
        headers.extend(version.map(|version| ("MCP-Protocol-Version", version)));
        assert_eq!(post(server.http_port, &headers, &ping).await.status, 200, "{version:?}");
    }
    let headers = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "1900-01-01")];
    let response = post(server.http_port, &headers, &ping).await;
    assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (400, Some(-32022)));
}
