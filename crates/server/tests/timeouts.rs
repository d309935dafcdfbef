//! What a request may take: time for its head and its body, bytes of its head, and time between requests.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::Duration;

use jumpseat::Limits;
use serde_json::json;
use support::held::{Held, Kind};
use support::raw::POST_HEAD;
use support::{Events, Http, JSON, Response, TestServer, builder, call, get, start_with};
use tokio::io::{AsyncWriteExt, Join, Sink, join, sink};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

/// So short that a test need not wait for it.
const SHORT: Duration = Duration::from_millis(400);

fn limited(limits: Limits) -> TestServer {
    start_with(builder().limits(limits))
}

async fn assert_408_and_closed<S>(mut http: Http<S>, words: &str)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let response = http.response().await;
    assert_eq!((response.status, response.header("content-type")), (408, Some("application/json")));
    let body = response.json();
    assert_eq!((&body["id"], &body["error"]["code"]), (&json!(null), &json!(-32600)));
    assert!(body["error"]["message"].as_str().unwrap().contains(words), "{body}");
    assert!(http.is_ended().await);
}

/// Writes `start`, and then one byte after the other for as long as the server takes them.
async fn dribble(port: u16, start: &str) -> Http<Join<OwnedReadHalf, Sink>> {
    let (read, mut write) = TcpStream::connect(("127.0.0.1", port)).await.unwrap().into_split();
    write.write_all(start.as_bytes()).await.unwrap();
    tokio::spawn(async move {
        while write.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    Http::over(join(read, sink()))
}

#[tokio::test]
async fn a_head_that_does_not_come_whole_in_time_is_408() {
    let server = limited(Limits { head_timeout: SHORT, ..Limits::default() });
    for start in
        ["G", "GET /mcp/status HTTP/1.1\r\n", "GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nX-Header: "]
    {
        let mut http = Http::connect(server.port).await;
        http.write(start).await;
        assert_408_and_closed(http, "400 ms").await;
    }
}

#[tokio::test]
async fn a_dribbled_head_gets_no_more_time() {
    let server = limited(Limits { head_timeout: SHORT, ..Limits::default() });
    let http = dribble(server.port, "GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nX-Header: ").await;
    assert_408_and_closed(http, "head").await;
}

#[tokio::test]
async fn the_head_of_a_later_request_has_its_time_too() {
    let server = limited(Limits { head_timeout: SHORT, ..Limits::default() });
    let mut http = Http::connect(server.port).await;
    for _ in 0..3 {
        assert_eq!(http.roundtrip("GET", "/mcp/status", &[], b"").await.status, 200);
    }
    http.write("GET /mcp/status HT").await;
    assert_408_and_closed(http, "head").await;
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_ended() {
    let server = limited(Limits { head_timeout: SHORT, ..Limits::default() });
    let mut http = Http::connect(server.port).await;
    let mut said = Vec::new();
    let reading = tokio::io::AsyncReadExt::read_to_end(&mut http.stream, &mut said);
    support::soon(reading).await.unwrap();
}

#[tokio::test]
async fn a_body_that_does_not_come_whole_in_time_is_408() {
    let server = limited(Limits { body_timeout: SHORT, ..Limits::default() });
    for start in [
        "Content-Length: 100\r\n\r\n".to_owned(),
        "Content-Length: 100\r\n\r\n{\"jsonrpc\":".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"jso".to_owned(),
        "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n".to_owned(),
    ] {
        let mut http = Http::connect(server.port).await;
        http.write(POST_HEAD.to_owned() + &start).await;
        if start.starts_with("Expect") {
            assert_eq!(http.head().await.status, 100);
        }
        assert_408_and_closed(http, "body").await;
    }
}

#[tokio::test]
async fn a_dribbled_body_gets_no_more_time() {
    let server = limited(Limits { body_timeout: SHORT, ..Limits::default() });
    let http = dribble(server.port, &format!("{POST_HEAD}Content-Length: 1000000\r\n\r\n")).await;
    assert_408_and_closed(http, "400 ms").await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_without_a_word() {
    let server = limited(Limits { idle_timeout: SHORT, head_timeout: SHORT, ..Limits::default() });
    let mut http = Http::connect(server.port).await;
    for _ in 0..2 {
        assert_eq!(http.roundtrip("GET", "/mcp/status", &[], b"").await.status, 200);
    }
    assert!(http.is_ended().await);
}

/// Opens a connection, and waits until it has been idle for too long.
async fn outlast_an_idle_connection(server: &TestServer) {
    let mut http = Http::connect(server.port).await;
    assert_eq!(http.roundtrip("GET", "/mcp/status", &[], b"").await.status, 200);
    assert!(http.is_ended().await);
}

#[tokio::test]
async fn a_connection_with_a_call_or_a_stream_on_it_is_not_idle() {
    let limits =
        Limits { idle_timeout: SHORT, head_timeout: SHORT, body_timeout: SHORT, ..Limits::default() };
    let server = limited(limits);
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    let mut http = Http::connect(server.port).await;
    http.send("POST", "/mcp", &[JSON], call(1, "held", &json!({"text": "done"})).as_bytes()).await;
    held.begun().await;
    outlast_an_idle_connection(&server).await;
    held.release();
    assert_eq!(http.response().await.json()["result"]["content"][0]["text"], "done");
    let news = json!({"jsonrpc": "2.0", "method": "notifications/custom"});
    assert_eq!(server.server.broadcast_message(news.to_string()).unwrap(), 1);
    assert_eq!(events.message().await, Some(news));
    // From here on the first one is.
    assert!(http.is_ended().await);
}

#[track_caller]
fn assert_431(response: &Response) {
    assert_eq!((response.status, response.header("content-type")), (431, Some("application/json")));
    assert_eq!(response.json()["error"]["code"], -32600);
}

#[tokio::test]
async fn a_head_over_the_limit_is_431() {
    let server = limited(Limits { max_head_bytes: 1000, ..Limits::default() });
    let fits = "x".repeat(900);
    let long = "x".repeat(1100);
    assert_eq!(get(server.port, "/mcp/status", &[("X-Header", &fits)]).await.status, 200);
    assert_431(&get(server.port, "/mcp/status", &[("X-Header", &long)]).await);
    assert_eq!(get(server.port, &format!("/mcp/status?{fits}"), &[]).await.status, 200);
    assert_431(&get(server.port, &format!("/mcp/status?{long}"), &[]).await);
    // Many small ones count as one large one.
    assert_eq!(get(server.port, "/mcp/status", &[("X-Header", "x"); 40]).await.status, 200);
    assert_431(&get(server.port, "/mcp/status", &[("X-Header", "x"); 90]).await);
}

#[tokio::test]
async fn a_head_far_over_the_limit_is_431() {
    let server = limited(Limits::default());
    for (size, status) in [(15_000, 200), (17_000, 431), (60_000, 431), (200_000, 431), (1_000_000, 431)] {
        let response = get(server.port, "/mcp/status", &[("X-Header", &"x".repeat(size))]).await;
        assert_eq!((response.status, response.header("content-type")), (status, Some("application/json")));
        assert!(response.json().is_object());
    }
    let many = get(server.port, "/mcp/status", &[("X-Header", "x"); 500]).await;
    assert_431(&many);
    // One that does not end is not waited for.
    let mut http = Http::connect(server.port).await;
    http.write("GET /mcp/status HTTP/1.1\r\nHost: localhost\r\nX-Header: ").await;
    http.write(vec![b'x'; 1_000_000]).await;
    assert_431(&http.response().await);
}
