//! Requests written out, to be sent as they are or with something wrong in them.

use serde_json::json;

use super::{Response, call};

/// The head of a POST, but for the length and the end.
pub const POST_HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

/// A whole request that calls `echo`.
pub fn echo(text: &str) -> String {
    let body = call(text, "echo", &json!({"text": text}));
    format!("{POST_HEAD}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The same with the body in chunks of a few bytes, as far as the trailers.
pub fn chunked(text: &str) -> String {
    let body = call(text, "echo", &json!({"text": text}));
    let chunks = body.as_bytes().chunks(7).map(|chunk| {
        let text = std::str::from_utf8(chunk).unwrap();
        format!("{:X};ext=\"a b\"\r\n{text}\r\n", chunk.len())
    });
    format!("{POST_HEAD}Transfer-Encoding: chunked\r\n\r\n{}0\r\n", chunks.collect::<String>())
}

#[track_caller]
pub fn assert_echoed(response: &Response, text: &str) {
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.json()["result"]["content"][0]["text"], text);
}
