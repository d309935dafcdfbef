//! HTTP in its less usual shapes, all of which are right and are served.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::Limits;
use serde_json::{Value, json};
use support::raw::{POST_HEAD, assert_echoed, chunked, echo};
use support::{Http, Response, builder, call, start, start_with};

#[track_caller]
fn assert_refused(response: &Response, statuses: &[u16], what: &str) {
    assert!(statuses.contains(&response.status), "{what}: {}", response.status);
    let body = response.json();
    assert_eq!(
        (body.get("id"), body["error"]["code"].is_i64()),
        (Some(&Value::Null), true),
        "{what}: {body}"
    );
}

#[tokio::test]
async fn a_body_in_chunks_with_extensions_and_trailers_is_served() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    for trailers in ["", "X-Trailer: a\r\n", "X-Trailer: a\r\nContent-Length: 3\r\nHost: evil.com\r\n"] {
        http.write(format!("{}{trailers}\r\n", chunked("in chunks"))).await;
        assert_echoed(&http.response().await, "in chunks");
    }
}

#[tokio::test]
async fn a_request_that_arrives_byte_by_byte_is_served() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    http.stream.get_ref().set_nodelay(true).unwrap();
    for request in [echo("slow"), chunked("slow") + "\r\n"] {
        for byte in request.into_bytes() {
            http.write([byte]).await;
        }
        assert_echoed(&http.response().await, "slow");
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let server = start();
    let names: Vec<_> = (0..200).map(|number| format!("number {number}")).collect();
    let mut http = Http::connect(server.port).await;
    http.write(names.iter().map(|name| echo(name)).collect::<String>()).await;
    for name in &names {
        assert_echoed(&http.response().await, name);
    }
    // One that has to wait holds the next ones up, and they do not get lost.
    let slow = call(1, "device_info", &json!({}));
    let slow = format!("{POST_HEAD}Content-Length: {}\r\n\r\n{slow}", slow.len());
    http.write(format!("{slow}{}{slow}{}", echo("a"), echo("b"))).await;
    for name in ["a", "b"] {
        assert!(http.response().await.json()["result"]["structuredContent"].is_object());
        assert_echoed(&http.response().await, name);
    }
}

#[tokio::test]
async fn a_client_that_expects_100_continue_gets_it_or_the_refusal() {
    let server = start_with(builder().limits(Limits { max_message_bytes: 1000, ..Limits::default() }));
    let body = call(1, "echo", &json!({"text": "continued"}));
    let head =
        |head: &str, length: usize| format!("{head}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n");
    let mut http = Http::connect(server.port).await;
    http.write(head(POST_HEAD, body.len())).await;
    assert_eq!(http.head().await.status, 100);
    http.write(&body).await;
    assert_echoed(&http.response().await, "continued");

    let text = POST_HEAD.replace("application/json", "text/plain");
    let foreign = POST_HEAD.replace("localhost", "evil.com");
    for (refused, length, status) in [(POST_HEAD, 1001, 413), (&text, 10, 415), (&foreign, 10, 403)] {
        let mut http = Http::connect(server.port).await;
        http.write(head(refused, length)).await;
        assert_refused(&http.response().await, &[status], refused);
    }
}

#[tokio::test]
async fn http_1_0_is_served_and_the_connection_ended() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    http.write(echo("old").replace("HTTP/1.1", "HTTP/1.0")).await;
    assert_echoed(&http.response().await, "old");
    assert!(http.is_ended().await);

    let mut http = Http::connect(server.port).await;
    let kept =
        echo("old").replace("HTTP/1.1", "HTTP/1.0").replace("Host:", "Connection: keep-alive\r\nHost:");
    for _ in 0..2 {
        http.write(&kept).await;
        let response = http.response().await;
        assert_eq!(response.header("connection"), Some("keep-alive"));
        assert_echoed(&response, "old");
    }
}

#[tokio::test]
async fn connection_close_is_obeyed() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    http.write(echo("last").replace("Host:", "Connection: close\r\nHost:")).await;
    let response = http.response().await;
    assert_eq!(response.header("connection"), Some("close"));
    assert_echoed(&response, "last");
    assert!(http.is_ended().await);
}

#[tokio::test]
async fn a_target_in_absolute_form_is_its_path() {
    let server = start();
    let mut http = Http::connect(server.port).await;
    for base in ["http://localhost", "http://localhost:8080", "http://127.0.0.1:1", "HTTP://[::1]"] {
        http.write(format!("GET {base}/mcp/status HTTP/1.1\r\nHost: localhost\r\n\r\n")).await;
        let response = http.response().await;
        assert_eq!((response.status, &response.json()["is_running"]), (200, &json!(true)), "{base}");
    }
    for other in ["CONNECT localhost:80", "OPTIONS *"] {
        http.write(format!("{other} HTTP/1.1\r\nHost: localhost\r\n\r\n")).await;
        assert_refused(&http.response().await, &[404, 405], other);
    }
}

#[tokio::test]
async fn many_small_headers_are_served_or_431() {
    let server = start();
    for (count, status) in [(50, 200), (90, 200), (101, 431), (1000, 431)] {
        let mut http = Http::connect(server.port).await;
        let headers = "X-Header: a\r\n".repeat(count);
        http.write(format!("GET /mcp/status HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await;
        let response = http.response().await;
        assert_eq!(response.status, status, "{count}");
        if status == 431 {
            assert_refused(&response, &[431], "many headers");
        }
    }
}
