//! One request to a server over plain HTTP/1.1: a `POST`, and its response as JSON or as an event stream. It
//! keeps no connection and knows no session.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a response may keep silent.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Sends a JSON-RPC request to `/mcp` on that port of 127.0.0.1, and gives its result.
///
/// `on_notification` gets the notifications that come before it. A JSON-RPC error is an error here too.
pub(crate) fn request(
    port: u16,
    method: &str,
    params: &Value,
    mut on_notification: impl FnMut(&Value),
) -> io::Result<Value> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    // HTTP/1.0: the body ends with the connection, and never comes in chunks.
    write!(
        stream,
        "POST /mcp HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut stream = BufReader::new(stream);
    if read_head(&mut stream)? {
        for line in stream.lines() {
            let Some(message) = line?.strip_prefix("data: ").map(serde_json::from_str).transpose()? else {
                continue;
            };
            if is_response(&message) {
                return result(message);
            }
            on_notification(&message);
        }
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut body = Vec::new();
    stream.read_to_end(&mut body)?;
    result(serde_json::from_slice(&body)?)
}

/// Reads the head of the response; `true` when an event stream follows.
fn read_head(stream: &mut impl BufRead) -> io::Result<bool> {
    let mut is_events = false;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if line.trim_end().is_empty() {
            return Ok(is_events);
        }
        is_events |= line.trim_end().eq_ignore_ascii_case("content-type: text/event-stream");
    }
}

fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
}

fn result(mut response: Value) -> io::Result<Value> {
    match response.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => {
            Err(io::Error::other(response["error"]["message"].as_str().unwrap_or("no result").to_owned()))
        }
    }
}
