//! What the client accepts, and whether a POST is answered with JSON or with an event stream.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use serde_json::json;
use support::held::{Held, Kind};
use support::{Events, Http, JSON, Response, TestServer, call, get, open_session, post, request, start};

/// The lines of Accept, and the content type of the answer; `None` is a refusal.
const ACCEPTED: [(&[&str], Option<&str>); 21] = [
    (&[], Some("application/json")),
    (&["*/*"], Some("application/json")),
    (&["application/json"], Some("application/json")),
    (&["application/*"], Some("application/json")),
    (&["application/json, text/event-stream"], Some("application/json")),
    (&["text/event-stream, application/json"], Some("application/json")),
    (&["text/event-stream", "application/json"], Some("application/json")),
    (&["Application/JSON;charset=utf-8,TEXT/Event-Stream"], Some("application/json")),
    (&["text/html, */*;q=0.1"], Some("application/json")),
    (&["text/event-stream;q=0, */*"], Some("application/json")),
    (&["text/event-stream"], Some("text/event-stream")),
    (&["text/*"], Some("text/event-stream")),
    (&["text/html, text/event-stream;q=0.5"], Some("text/event-stream")),
    (&["application/json;q=0, text/event-stream"], Some("text/event-stream")),
    (&["*/*, application/json; q=0"], Some("text/event-stream")),
    (&["text/html"], None),
    (&["application/xml"], None),
    (&["application/json;q=0"], None),
    (&["*/*;q=0.0"], None),
    (&["application/json;q=0, text/event-stream; q=0.000"], None),
    (&["image/png, text/plain"], None),
];

fn headers<'a>(accept: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    accept.iter().map(|value| ("Accept", *value)).collect()
}

#[tokio::test]
async fn a_post_is_answered_in_a_form_that_the_client_accepts() {
    let server = start();
    for (accept, answered) in ACCEPTED {
        let response = post(server.port, &headers(accept), call(1, "echo", &json!({"text": "hi"}))).await;
        let Some(answered) = answered else {
            assert_eq!(response.status, 406, "{accept:?}");
            let message = response.json()["error"]["message"].to_string();
            assert!(message.contains("application/json") && message.contains("text/event-stream"));
            continue;
        };
        assert_eq!((response.status, response.header("content-type")), (200, Some(answered)), "{accept:?}");
        let answer = if answered == "application/json" { response.json() } else { only_event(&response) };
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("hi")));
    }
}

/// The message of an event stream that has one event and is over.
fn only_event(response: &Response) -> serde_json::Value {
    let text = response.text();
    let data = text.strip_suffix("\n\n").unwrap().split_once("data: ").unwrap().1;
    serde_json::from_str(data).unwrap()
}

#[tokio::test]
async fn the_message_path_answers_json_and_needs_it_accepted() {
    let server = start();
    for (accept, answered) in ACCEPTED {
        let body = call(1, "echo", &json!({"text": "hi"}));
        let response = support::post_to(server.port, "/mcp/message", &headers(accept), body).await;
        let status = if answered == Some("application/json") { 200 } else { 406 };
        assert_eq!(
            (response.status, response.header("content-type")),
            (status, Some("application/json")),
            "{accept:?}"
        );
        assert!(response.json().is_object());
    }
}

#[tokio::test]
async fn a_get_is_an_event_stream_only_when_one_is_asked_for() {
    let server = start();
    for accept in ["text/event-stream;q=0", "application/json, text/event-stream;q=0.0", "text/*", "*/*"] {
        // A stream would not end.
        let mut http = Http::connect(server.port).await;
        http.send("GET", "/mcp", &[("Accept", accept)], b"").await;
        assert_eq!(http.head().await.header("content-type"), Some("application/json"), "{accept}");
    }
    for accept in ["Text/Event-Stream", "application/json, text/event-stream;q=0.1"] {
        let events = Events::open(server.port, "GET", "/mcp", &[("Accept", accept)], b"").await;
        assert_eq!(events.head.header("cache-control"), Some("no-cache"));
    }
}

#[tokio::test]
async fn an_error_keeps_its_status_when_only_event_streams_are_accepted() {
    let server = start();
    let accept = ("Accept", "text/event-stream");
    for (body, status, code) in [("{", 400, -32700), ("{}", 400, -32600)] {
        let response = post(server.port, &[accept], body).await;
        assert_eq!((response.status, response.header("content-type")), (status, Some("application/json")));
        assert_eq!(response.json()["error"]["code"], code);
    }
    let (body, mut headers) = support::modern(1, "tools/unknown", &json!({}));
    headers[0].1 = "text/event-stream".into();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    let response = post(server.port, &headers, body).await;
    assert_eq!((response.status, &response.json()["error"]["code"]), (404, &json!(-32601)));
    // One that has the status of a result comes as what was asked for.
    let response = post(server.port, &[accept], request(1, "unknown", &json!({}))).await;
    assert_eq!((response.status, &only_event(&response)["error"]["code"]), (200, &json!(-32601)));
}

const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");

/// A call of the tool `held` that asks for progress.
fn with_progress() -> String {
    let meta = json!({"progressToken": "token"});
    request(1, "tools/call", &json!({"name": "held", "arguments": {"text": "done"}, "_meta": meta}))
}

async fn sent(server: &TestServer, path: &str, headers: &[(&str, &str)], body: &str) -> Http {
    let mut http = Http::connect(server.port).await;
    http.send("POST", path, &[&[JSON], headers].concat(), body.as_bytes()).await;
    http
}

#[tokio::test]
async fn a_call_that_reports_progress_is_an_event_stream() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    // No Accept and `*/*` allow it, too.
    for accept in [&[BOTH][..], &[], &[("Accept", "*/*")], &[("Accept", "text/event-stream")]] {
        let headers = [&[JSON], accept].concat();
        let body = with_progress();
        let open = Events::open(server.port, "POST", "/mcp", &headers, body.as_bytes());
        let (mut events, context) = tokio::join!(open, async {
            let context = held.begun().await;
            context.progress(1.0, Some(2.0), Some("half"));
            context
        });
        let progress = events.next().await.unwrap();
        assert_eq!((progress.event.as_deref(), &progress.id), (Some("message"), &None));
        let progress = progress.json();
        assert_eq!(progress["method"], "notifications/progress");
        let expected = json!({"progressToken": "token", "progress": 1, "total": 2, "message": "half"});
        assert_eq!(progress["params"], expected);
        context.progress(2.0, Some(2.0), None);
        assert_eq!(events.message().await.unwrap()["params"]["progress"], 2);
        held.release();
        let answer = events.message().await.unwrap();
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("done")));
        assert_eq!(events.next().await, None);
    }
}

#[tokio::test]
async fn a_call_with_progress_is_json_to_a_client_that_accepts_nothing_else() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    for (path, accept) in [
        ("/mcp", "application/json"),
        ("/mcp", "application/json, text/event-stream;q=0"),
        // Nothing else comes from here.
        ("/mcp/message", "*/*"),
        ("/mcp/message", BOTH.1),
    ] {
        let mut http = sent(&server, path, &[("Accept", accept)], &with_progress()).await;
        held.begun().await.progress(1.0, None, None);
        held.release();
        let response = http.response().await;
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        assert_eq!(response.json()["result"]["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn a_call_without_progress_is_json_however_long_it_takes() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    // It asks for progress, and the tool has none to tell; or it does not ask.
    for (body, reports) in [(with_progress(), false), (call(1, "held", &json!({"text": "done"})), true)] {
        let mut http = sent(&server, "/mcp", &[BOTH], &body).await;
        let context = held.begun().await;
        if reports {
            context.progress(1.0, None, None);
        }
        // Another request goes all the way meanwhile.
        assert_eq!(post(server.port, &[BOTH], request(2, "ping", &json!({}))).await.status, 200);
        held.release();
        let response = http.response().await;
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        assert_eq!(response.json()["result"]["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn only_a_stream_of_2025_11_25_begins_with_a_priming_event() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut headers = vec![(None, vec![BOTH])];
    let mut ids = Vec::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        ids.push((revision, open_session(server.port, revision).await));
    }
    headers.extend(ids.iter().map(|(revision, id)| (Some(*revision), vec![BOTH, ("Mcp-Session-Id", id)])));
    for (revision, headers) in headers {
        let primes = revision == Some("2025-11-25");
        let body = with_progress();
        let (mut events, ()) = tokio::join!(Events::post(server.port, &headers, &body), async {
            held.begun().await.progress(1.0, None, None);
            held.release();
        });
        let first = events.next().await.unwrap();
        assert_eq!(first.data.as_deref() == Some(""), primes, "{revision:?}: {first:?}");
        assert_eq!(first.id.is_some(), primes);
        if primes {
            assert_eq!(events.next().await.unwrap().json()["method"], "notifications/progress");
        }
        assert_eq!(events.message().await.unwrap()["id"], 1);

        if revision.is_some() {
            let mut events = Events::get(server.port, "/mcp", &headers[1..]).await;
            let first = events.next().await.unwrap();
            assert_eq!(
                first.data.as_deref() == Some("") && first.id.is_some(),
                primes,
                "{revision:?}: {first:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_handshake_gives_the_session_id_in_either_form() {
    let server = start();
    for accept in ["application/json", "text/event-stream"] {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
        let response = post(server.port, &[("Accept", accept)], request(0, "initialize", &params)).await;
        assert_eq!((response.status, response.header("content-type")), (200, Some(accept)));
        let id = response.header("mcp-session-id").unwrap();
        let ping = request(1, "ping", &json!({}));
        assert_eq!(post(server.port, &[("Mcp-Session-Id", id)], ping).await.status, 200);
    }
    assert_eq!(get(server.port, "/mcp/status", &[]).await.json()["connections"]["sessions"], 2);
}
