//! HTTP that is wrong, unusual or meant to do harm: it is answered or ended, and the server serves on.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jumpseat::{Limits, Tool};
use serde_json::{Value, json};
use support::raw::{POST_HEAD, assert_echoed, chunked, echo};
use support::{Http, JSON, Response, TestServer, builder, call, request, soon, start, start_with, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[track_caller]
fn assert_refused(response: &Response, statuses: &[u16], what: &str) {
    assert!(statuses.contains(&response.status), "{what}: {}", response.status);
    assert_eq!(response.header("content-type"), Some("application/json"), "{what}");
    let body = response.json();
    assert_eq!((&body["jsonrpc"], body.get("id")), (&json!("2.0"), Some(&Value::Null)), "{what}");
    assert!(body["error"]["code"].is_i64() && body["error"]["message"].is_string(), "{what}: {body}");
}

async fn assert_serves(server: &TestServer) {
    let mut http = Http::connect(server.port).await;
    http.write(echo("still here")).await;
    assert_echoed(&http.response().await, "still here");
}

/// Requests that no HTTP server could make sense of.
const MALFORMED: &[&str] = &[
    "hello there\r\n\r\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\r\n",
    "GET\r\n\r\n",
    "GET /mcp\r\n\r\n",
    "GET /mcp HTTP\r\n\r\n",
    "GET /mcp HTTP/1\r\n\r\n",
    "GET /mcp HTTP/1.2\r\n\r\n",
    "GET /mcp HTTP/2.0\r\n\r\n",
    "GET /mcp FTP/1.1\r\n\r\n",
    "GET /mcp http/1.1\r\n\r\n",
    "GET  /mcp HTTP/1.1\r\n\r\n",
    " GET /mcp HTTP/1.1\r\n\r\n",
    "G\u{e9}T /mcp HTTP/1.1\r\n\r\n",
    "GET /m\0cp HTTP/1.1\r\n\r\n",
    "GET /mcp HTTP/1.1\r\nHost localhost\r\n\r\n",
    "GET /mcp HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "GET /mcp HTTP/1.1\r\n: localhost\r\n\r\n",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nA B: c\r\n\r\n",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\0c\r\n\r\n",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\r\n folded\r\n\r\n",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nA: b\rC: d\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x5\r\n\r\nhello",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5 5\r\n\r\nhello",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: \r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}",
];

#[tokio::test]
async fn a_malformed_request_is_400_with_a_body_and_ends_the_connection() {
    let server = start();
    for request in MALFORMED {
        let mut http = Http::connect(server.port).await;
        http.write(request).await;
        let response = http.response().await;
        assert_refused(&response, &[400], request);
        assert_eq!(response.header("connection"), Some("close"), "{request}");
        assert!(http.is_ended().await, "{request}");
    }
    assert_serves(&server).await;
}

#[tokio::test]
async fn a_malformed_request_behind_others_takes_nothing_from_their_responses() {
    let server = start();
    for first in [echo("first"), format!("{POST_HEAD}Content-Length: 1\r\n\r\n{{")] {
        for malformed in MALFORMED {
            let mut http = Http::connect(server.port).await;
            http.write(format!("{first}{first}{malformed}")).await;
            for _ in 0..2 {
                let response = http.response().await;
                if first.contains("first") {
                    assert_echoed(&response, "first");
                } else {
                    assert_eq!(response.json()["error"]["code"], -32700);
                }
            }
            assert_refused(&http.response().await, &[400], malformed);
            assert!(http.is_ended().await);
        }
    }
}

#[tokio::test]
async fn a_body_in_malformed_chunks_is_400() {
    let server = start();
    for chunks in [
        "zz\r\n",
        "-1\r\n",
        "\r\n\r\n",
        "5\r\nhelloX\r\n",
        "5\r\nhello5\r\nhello\r\n",
        "1;\u{1}\n",
        " 5\r\nhello\r\n",
        "10000000000000000\r\n",
        "0x5\r\nhello\r\n",
        "5 5\r\n",
    ] {
        let mut http = Http::connect(server.port).await;
        http.write(format!("{POST_HEAD}Transfer-Encoding: chunked\r\n\r\n{chunks}")).await;
        // Where it might still become right, it is cut here.
        http.stream.get_mut().shutdown().await.unwrap();
        assert_refused(&http.response().await, &[400], chunks);
        assert!(http.is_ended().await);
    }
    assert_serves(&server).await;
}

/// A server with a tool that counts its calls.
fn counting() -> (TestServer, Arc<AtomicUsize>) {
    let server = start();
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let count = move |_, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(String::new())
    };
    server.server.add_inline_tool(Tool::text("count", ""), count).unwrap();
    (server, calls)
}

#[tokio::test]
async fn a_request_with_two_lengths_smuggles_nothing() {
    let (server, calls) = counting();
    let hidden = call(1, "count", &json!({}));
    let hidden = format!("{POST_HEAD}Content-Length: {}\r\n\r\n{hidden}", hidden.len());
    let ping = request(1, "ping", &json!({}));
    let chunk = format!("{:x}\r\n{ping}\r\n0\r\n\r\n", ping.len());
    // What one reader takes for a body, another one takes for the next request.
    for (lengths, body) in [
        ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", &*chunk),
        ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", &chunk),
        ("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", &chunk),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", &chunk),
        ("Transfer-Encoding: chunked, cow\r\nContent-Length: 4\r\n", &chunk),
        ("Transfer-Encoding : chunked\r\nContent-Length: 0\r\n", &chunk),
        ("Content-Length: 0\r\nContent-Length: 44\r\n", &ping),
        ("Content-Length: 0, 44\r\n", &ping),
        ("Content-Length: 44 \r\n Content-Length: 0\r\n", &ping),
    ] {
        let mut http = Http::connect(server.port).await;
        http.write(format!("{POST_HEAD}{lengths}\r\n{body}{hidden}")).await;
        let response = http.response().await;
        assert!([200, 400].contains(&response.status), "{lengths}: {}", response.status);
        assert!(response.json().is_object());
        assert!(http.is_ended().await, "{lengths}");
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{lengths}");
    }
    let mut http = Http::connect(server.port).await;
    http.write(hidden).await;
    assert_eq!((http.response().await.status, calls.load(Ordering::Relaxed)), (200, 1));
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_400_and_calls_nothing() {
    let (server, calls) = counting();
    let body = call(1, "count", &json!({}));
    let padded = format!("{body:<300}");
    for request in [
        format!("{POST_HEAD}Content-Length: 400\r\n\r\n{padded}"),
        format!("{POST_HEAD}Transfer-Encoding: chunked\r\n\r\n12c\r\n{padded}\r\n"),
        format!("{POST_HEAD}Transfer-Encoding: chunked\r\n\r\nfff\r\n{padded}"),
    ] {
        let mut http = Http::connect(server.port).await;
        http.write(request).await;
        http.stream.get_mut().shutdown().await.unwrap();
        assert_refused(&http.response().await, &[400], "half a body");
        assert!(http.is_ended().await);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn clients_that_vanish_anywhere_in_a_request_leave_nothing_behind() {
    let server = start_with(builder().limits(Limits { max_connections: 4, ..Limits::default() }));
    let events = "GET /mcp/events HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned();
    let slow = call(1, "device_info", &json!({}));
    let slow = format!("{POST_HEAD}Content-Length: {}\r\n\r\n{slow}", slow.len());
    for request in [echo("gone"), chunked("gone"), events, slow] {
        for end in (0..=request.len()).step_by(9) {
            for reset in [false, true] {
                let mut stream = soon(TcpStream::connect(("127.0.0.1", server.port))).await.unwrap();
                // Too many at a time are refused, which may be before all is written.
                _ = stream.write_all(&request.as_bytes()[..end]).await;
                if reset {
                    stream.set_zero_linger().unwrap();
                }
            }
        }
    }
    // There is room for all of them again, all at once.
    let room = || {
        let mut all: Vec<_> =
            (0..4).map(|_| std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
        all.iter_mut().all(|stream| {
            use std::io::{Read, Write};
            let mut answer = [0; 12];
            stream.write_all(echo("here").as_bytes()).is_ok()
                && stream.read_exact(&mut answer).is_ok()
                && answer == *b"HTTP/1.1 200"
        })
    };
    until("all four places are free", room).await;
    assert_eq!(server.server.transport_info().connections.event_streams, 0);
}

#[tokio::test]
async fn noise_is_refused_or_ended() {
    let server = start();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..300 {
        let mut noise: Vec<u8> = (0..round)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random.to_le_bytes()[3]
            })
            .collect();
        // Every other one goes wrong in the middle of something right.
        if round % 2 == 1 {
            let mut request = echo("noise").into_bytes();
            let at = usize::try_from(random % request.len() as u64).unwrap();
            request.splice(at..at, noise);
            noise = request;
        }
        let mut http = Http::connect(server.port).await;
        http.write(&noise).await;
        http.stream.get_mut().shutdown().await.unwrap();
        let mut answer = Vec::new();
        _ = soon(http.stream.read_to_end(&mut answer)).await;
        let first = String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned();
        assert!(
            answer.is_empty() || first.starts_with("HTTP/1.1 4") || first.starts_with("HTTP/1.1 2"),
            "{first}"
        );
    }
    assert_serves(&server).await;
    let mut http = Http::connect(server.port).await;
    assert_eq!(http.roundtrip("POST", "/mcp", &[JSON], b"{").await.status, 400);
}
