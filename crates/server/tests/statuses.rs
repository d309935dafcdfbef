//! HTTP statuses, and that every error has a body of JSON that says what is wrong.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{Limits, Tool, ToolError};
use serde_json::{Value, json};
use support::{
    Http, Response, builder, call, get, modern, open_session, post, post_modern, post_to, request, start,
    start_with,
};

/// An error that no request is to blame for, with a message that has `words` in it.
#[track_caller]
fn assert_refused(response: &Response, status: u16, code: i32, words: &str) {
    assert_eq!(response.status, status, "{}", response.text());
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    assert_eq!((&body["jsonrpc"], body.get("id")), (&json!("2.0"), Some(&Value::Null)));
    assert_eq!(body["error"]["code"], code, "{body}");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
}

#[track_caller]
fn assert_error(response: &Response, status: u16, code: i32, id: &Value) {
    assert_eq!(response.status, status, "{}", response.text());
    let body = response.json();
    assert_eq!((&body["id"], &body["error"]["code"]), (id, &json!(code)), "{body}");
    assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    assert_eq!(body.get("result"), None);
}

#[tokio::test]
async fn what_is_no_message_is_400_without_an_id() {
    let server = start();
    for path in ["/mcp", "/mcp/message"] {
        for (body, code) in [
            ("", -32700),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700),
            ("{}", -32600),
            ("[]", -32600),
            ("\"ping\"", -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (r#"{"id":1,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        ] {
            assert_refused(&post_to(server.port, path, &[], body).await, 400, code, "");
        }
    }
}

#[tokio::test]
async fn what_needs_no_answer_is_202_without_a_body() {
    let server = start();
    for path in ["/mcp", "/mcp/message"] {
        for body in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
        ] {
            let response = post_to(server.port, path, &[], body).await;
            assert_eq!((response.status, response.text().as_str()), (202, ""), "{path} {body}");
        }
    }
}

#[tokio::test]
async fn a_content_type_other_than_json_is_415() {
    let server = start();
    let body = call(1, "echo", &json!({"text": "x"}));
    for path in ["/mcp", "/mcp/message"] {
        for given in
            ["text/plain", "application/json5", "application/x-www-form-urlencoded", "text/json", "", "json"]
        {
            let mut http = Http::connect(server.port).await;
            let response = http.roundtrip("POST", path, &[("Content-Type", given)], body.as_bytes()).await;
            assert_refused(&response, 415, -32600, "application/json");
        }
        let mut http = Http::connect(server.port).await;
        let response = http.roundtrip("POST", path, &[], body.as_bytes()).await;
        assert_refused(&response, 415, -32600, "application/json");
        for given in ["application/json; charset=utf-8", "Application/JSON", " application/json ;a=b"] {
            let mut http = Http::connect(server.port).await;
            let response = http.roundtrip("POST", path, &[("Content-Type", given)], body.as_bytes()).await;
            assert_eq!(response.status, 200, "{given}");
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_however_it_comes() {
    let server = start_with(builder().limits(Limits { max_message_bytes: 1000, ..Limits::default() }));
    for path in ["/mcp", "/mcp/message"] {
        let fits = format!("{:<1000}", call(1, "echo", &json!({"text": "fits"})));
        assert_eq!(post_to(server.port, path, &[], &fits).await.status, 200);
        assert_refused(&post_to(server.port, path, &[], fits.clone() + " ").await, 413, -32600, "1000 bytes");
        for (size, status) in [(1000, 200), (1001, 413)] {
            let mut http = Http::connect(server.port).await;
            let head = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
            let head = format!("POST {path} {head}Transfer-Encoding: chunked\r\n\r\n");
            http.write(format!("{head}1f4\r\n{}\r\n", &fits[..500])).await;
            http.write(format!(
                "{:x}\r\n{:<width$}\r\n0\r\n\r\n",
                size - 500,
                &fits[500..],
                width = size - 500
            ))
            .await;
            let response = http.response().await;
            assert_eq!(response.status, status, "{size} bytes in chunks");
            if status == 413 {
                assert_refused(&response, 413, -32600, "1000 bytes");
            }
        }
    }
    // The length alone is enough: the body is not waited for.
    let mut http = Http::connect(server.port).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    http.write(format!("{head}Content-Length: 1001\r\n\r\n")).await;
    assert_refused(&http.response().await, 413, -32600, "1000 bytes");
}

#[tokio::test]
async fn a_client_that_sends_all_of_a_far_too_large_body_reads_the_413() {
    let server = start_with(builder().limits(Limits { max_message_bytes: 1000, ..Limits::default() }));
    // More than the buffers of both sides hold, so that it is written only when somebody reads it.
    let body = vec![b' '; 24 << 20];
    assert_refused(&post(server.port, &[], body).await, 413, -32600, "1000 bytes");
}

#[tokio::test]
async fn a_dead_session_is_404_to_every_request() {
    let server = start();
    let deleted = open_session(server.port, "2025-06-18").await;
    let named = [("Mcp-Session-Id", &*deleted)];
    let response = Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &named, b"").await;
    assert_eq!((response.status, response.text().as_str()), (204, ""));
    for id in [&*deleted, "8d2c5b8e-5a3c-4d0e-9a51-5f6f2b8f7f11", "js1", "js1.2025-11-25.....", "%00", ""] {
        let session = ("Mcp-Session-Id", id);
        let responses = [
            post(server.port, &[session], request(1, "ping", &json!({}))).await,
            post(server.port, &[session], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await,
            get(server.port, "/mcp", &[session, ("Accept", "text/event-stream")]).await,
            Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &[session], b"").await,
        ];
        for response in responses {
            assert_refused(&response, 404, -32600, "Mcp-Session-Id");
        }
    }
}

#[tokio::test]
async fn a_delete_without_a_session_is_400() {
    let server = start();
    let response = Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &[], b"").await;
    assert_refused(&response, 400, -32600, "Mcp-Session-Id");
}

#[tokio::test]
async fn a_message_to_no_open_http_sse_stream_is_404() {
    let server = start();
    for id in ["", "x", "00000000000000000000000000000000"] {
        let path = format!("/mcp/message?sessionId={id}");
        let response = post_to(server.port, &path, &[], request(1, "ping", &json!({}))).await;
        assert_refused(&response, 404, -32600, "/sse");
    }
}

#[tokio::test]
async fn the_json_rpc_error_of_a_request_is_200_when_it_is_plain_or_in_a_session() {
    let server = start();
    server.server.add_inline_tool(Tool::text("panics", ""), |_, _| panic!("on purpose")).unwrap();
    server.server.add_inline_tool(Tool::text("fails", ""), |_, _| Err(ToolError::new("no luck"))).unwrap();
    let mut sessions = vec![vec![]];
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        sessions.push(vec![("Mcp-Session-Id", open_session(server.port, revision).await)]);
    }
    for session in sessions {
        let headers: Vec<_> = session.iter().map(|(name, id)| (*name, id.as_str())).collect();
        for (message, code) in [
            (request("a", "tools/unknown", &json!({})), -32601),
            (request("a", "server/discover", &json!({})), -32601),
            (request("a", "tools/call", &json!([1])), -32602),
            (request("a", "tools/call", &json!({"name": 7})), -32602),
            (request("a", "tools/call", &json!({"name": "echo", "arguments": []})), -32602),
            (request("a", "tools/list", &json!({"cursor": "nonsense"})), -32602),
            (call("a", "no_such_tool", &json!({})), -32602),
            (call("a", "panics", &json!({})), -32603),
        ] {
            assert_error(&post(server.port, &headers, &message).await, 200, code, &json!("a"));
            assert_error(
                &post_to(server.port, "/mcp/message", &headers, &message).await,
                200,
                code,
                &json!("a"),
            );
        }
        let failed = post(server.port, &headers, call(1, "fails", &json!({}))).await;
        assert_eq!((failed.status, &failed.json()["result"]["isError"]), (200, &json!(true)));
    }
}

#[tokio::test]
async fn modern_errors_have_the_status_that_their_revision_says() {
    let server = start();
    let params = json!({"name": "echo", "arguments": {"text": "x"}});
    assert_eq!(post_modern(server.port, 1, "tools/call", &params).await.status, 200);
    for method in ["tools/unknown", "initialize", "ping"] {
        assert_error(&post_modern(server.port, 1, method, &json!({})).await, 404, -32601, &json!(1));
    }
    let unknown_tool = post_modern(server.port, 1, "tools/call", &json!({"name": "none"})).await;
    assert_error(&unknown_tool, 200, -32602, &json!(1));

    let headers = |given: &[(&'static str, &'static str)]| [&[("Accept", "*/*")], given].concat();
    let version = ("MCP-Protocol-Version", "2026-07-28");
    // The envelope: nothing of it, half of it, and headers that say something else than the body.
    let bare = request(1, "tools/list", &json!({}));
    let envelope = [version, ("Mcp-Method", "tools/list")];
    assert_error(&post(server.port, &headers(&envelope), &bare).await, 400, -32602, &json!(1));
    let (list, _) = modern(1, "tools/list", &json!({}));
    assert_eq!(post(server.port, &headers(&envelope), &list).await.status, 200);
    for (given, code) in [
        (&[version][..], -32020),
        (&[version, ("Mcp-Method", "tools/call")], -32020),
        (&[("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/list")], -32020),
        (&[("Mcp-Method", "tools/list")], -32020),
    ] {
        assert_error(&post(server.port, &headers(given), &list).await, 400, code, &json!(1));
    }
    let future = list.replace("2026-07-28", "2099-01-01");
    let headers = [("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list")];
    let response = post(server.port, &headers, &future).await;
    assert_error(&response, 400, -32022, &json!(1));
    assert_eq!(response.json()["error"]["data"]["requested"], "2099-01-01");
}

#[tokio::test]
async fn an_unknown_protocol_version_header_is_400_to_every_request() {
    let server = start();
    let id = open_session(server.port, "2025-06-18").await;
    for version in ["1999-01-01", "2025-06-18 2025-11-25", "", "latest"] {
        for session in [None, Some(("Mcp-Session-Id", &*id))] {
            let mut headers = vec![("MCP-Protocol-Version", version)];
            headers.extend(session);
            let response = post(server.port, &headers, request(1, "tools/list", &json!({}))).await;
            assert_eq!(response.status, 400, "{version:?}");
            assert!(response.json()["error"]["message"].as_str().unwrap().contains("2025-06-18"));
            let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let response = post(server.port, &headers, notification).await;
            assert_eq!(response.status, 400, "a notification with {version:?}");
        }
        let headers = [("MCP-Protocol-Version", version), ("Mcp-Session-Id", &*id)];
        let stream =
            get(server.port, "/mcp", &[&headers[..], &[("Accept", "text/event-stream")]].concat()).await;
        assert_refused(&stream, 400, -32022, "2025-06-18");
        let deletion = Http::connect(server.port).await.roundtrip("DELETE", "/mcp", &headers, b"").await;
        assert_refused(&deletion, 400, -32022, "2025-06-18");
    }
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let headers = [("MCP-Protocol-Version", version), ("Mcp-Session-Id", &*id)];
        let response = post(server.port, &headers, request(1, "tools/list", &json!({}))).await;
        assert_eq!(response.status, 200, "{version}");
    }
}
