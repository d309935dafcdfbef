//! Conversations as data: how a transcript is read, and how what came is compared with what it says. It plays
//! nothing.
//!
//! A transcript is a file of lines. It begins with its settings:
//!
//! ```text
//! # A comment.
//! revisions: plain 2025-06-18         who speaks: without a handshake, or after that of a revision
//! transports: websocket post          where it can be played; all of them when it is left out
//! more-tools: 250                     so many more tools, many_000 and on; 0 when it is left out
//! $meta = "_meta":{}                  from here on, $meta stands for that text
//! ```
//!
//! and goes on with messages, one a line: `>>` goes to the server, `<<` comes from it before anything else is
//! sent. `<< 404 {…}` says that the answer to a POST has that HTTP status; otherwise it is 200. A line `---`
//! ends a conversation, and begins another one with the same settings.
//!
//! What comes must be the same JSON but for the order of members, with numbers the same digit by digit. A `…`
//! in a string stands for any text, and alone in an array for any elements.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

pub mod tools;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::value::RawValue;

/// The name of a conversation without a handshake, among those of the revisions.
pub const PLAIN: &str = "plain";
/// The revision that is stateless.
pub const MODERN: &str = "2026-07-28";
/// Requests that one session may have in flight wherever a transcript is played.
pub const MAX_IN_FLIGHT: usize = 4;

/// Where a transcript is played: `post` is POST to `/mcp`, `message` to `/mcp/message`.
pub const TRANSPORTS: [&str; 4] = ["websocket", "post", "message", "http+sse"];

/// One conversation.
#[derive(Clone)]
pub struct Transcript {
    pub file: String,
    pub revisions: Vec<String>,
    pub transports: Vec<String>,
    pub more_tools: usize,
    pub exchanges: Vec<Exchange>,
}

/// A message to the server, and what comes of it.
#[derive(Clone)]
pub struct Exchange {
    /// Its line in the file.
    pub line: usize,
    pub sent: String,
    pub expected: Vec<Expected>,
}

#[derive(Clone)]
pub struct Expected {
    /// The HTTP status, where it is the answer to a POST.
    pub status: u16,
    pub text: String,
}

/// All transcripts in the folder, by name.
pub fn transcripts(folder: &Path) -> Vec<Transcript> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no transcripts in {}", folder.display());
    paths.iter().flat_map(|path| Transcript::read(path)).collect()
}

impl Transcript {
    fn read(path: &Path) -> Vec<Self> {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let transports = TRANSPORTS.map(str::to_owned).to_vec();
        let mut now = Self { file, revisions: Vec::new(), transports, more_tools: 0, exchanges: Vec::new() };
        let (mut names, mut before) = (Vec::new(), Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(sent) = text.strip_prefix(">>") {
                let sent = spelled_out(sent.trim(), &names);
                now.exchanges.push(Exchange { line, sent, expected: Vec::new() });
            } else if let Some(expected) = text.strip_prefix("<<") {
                let exchange = now.exchanges.last_mut().expect("a << follows a >>");
                exchange.expected.push(Expected::read(&spelled_out(expected.trim(), &names)));
            } else if let Some((name, value)) = text.strip_prefix('$').and_then(|rest| rest.split_once(" = "))
            {
                names.push((name, spelled_out(value, &names)));
            } else if text == "---" {
                let next = Self { exchanges: Vec::new(), ..now.clone() };
                before.push(std::mem::replace(&mut now, next));
            } else if !text.is_empty() && !text.starts_with('#') {
                now.set(text, line);
            }
        }
        assert!(!now.revisions.is_empty(), "{}: no `revisions:`", now.file);
        before.push(now);
        before
    }

    fn set(&mut self, text: &str, line: usize) {
        let (name, value) = text.split_once(": ").unwrap_or((text, ""));
        let words = || value.split_whitespace().map(str::to_owned).collect();
        match name {
            "revisions" => self.revisions = words(),
            "transports" => self.transports = words(),
            "more-tools" => self.more_tools = value.parse().unwrap(),
            _ => panic!("{}:{line}: {text:?} is neither a message nor a setting", self.file),
        }
    }

    /// The name of one playing of it, for messages of failed tests.
    pub fn at(&self, exchange: &Exchange, revision: &str) -> String {
        format!("{}:{} ({revision}): {}", self.file, exchange.line, exchange.sent)
    }

    /// What the client says first.
    pub fn handshake(revision: &str) -> Option<[String; 2]> {
        let initialize = format!(
            r#"{{"jsonrpc":"2.0","id":"initialize","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"transcript","version":"1"}}}}}}"#
        );
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
        (revision != PLAIN && revision != MODERN).then_some([initialize, initialized])
    }
}

impl Expected {
    fn read(text: &str) -> Self {
        let status = text.get(..3).and_then(|status| status.parse().ok());
        let text = if status.is_some() { text[3..].trim_start() } else { text };
        Self { status: status.unwrap_or(200), text: text.to_owned() }
    }
}

/// The text with all names in it replaced, the last ones first.
fn spelled_out(text: &str, names: &[(&str, String)]) -> String {
    names.iter().rev().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

/// The headers that a conforming client sends with a message over HTTP.
pub fn headers(revision: &str, message: &str) -> Vec<(&'static str, String)> {
    let mut headers = vec![("Accept", "application/json, text/event-stream".to_owned())];
    if matches!(revision, "2025-06-18" | "2025-11-25" | MODERN) {
        headers.push(("MCP-Protocol-Version", revision.to_owned()));
    }
    if let (MODERN, Ok(message)) = (revision, serde_json::from_str::<serde_json::Value>(message)) {
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        headers.extend(text(&message["method"]).map(|method| ("Mcp-Method", method)));
        headers.extend(text(&message["params"]["name"]).map(|name| ("Mcp-Name", name)));
    }
    headers
}

/// Whether a message is a request, or an array with one in it.
pub fn wants_answer(message: &str) -> bool {
    let wants = |message: &serde_json::Value| message.get("id").is_some() && message.get("method").is_some();
    match serde_json::from_str(message) {
        Ok(serde_json::Value::Array(messages)) => messages.iter().any(wants),
        Ok(message) => wants(&message),
        Err(_) => false,
    }
}

/// Whether `actual` is what `expected` says.
pub fn matches(expected: &str, actual: &str) -> bool {
    let parse = |text| serde_json::from_str::<&RawValue>(text).ok();
    match (parse(expected), parse(actual)) {
        (Some(expected), Some(actual)) => value_matches(expected, actual),
        _ => false,
    }
}

fn value_matches(expected: &RawValue, actual: &RawValue) -> bool {
    let (expected, actual) = (expected.get(), actual.get());
    if expected.starts_with('{') {
        type Object<'a> = BTreeMap<String, &'a RawValue>;
        let expected: Object = serde_json::from_str(expected).unwrap();
        let Ok(actual) = serde_json::from_str::<Object>(actual) else { return false };
        expected.len() == actual.len()
            && expected.iter().zip(&actual).all(|(e, a)| e.0 == a.0 && value_matches(e.1, a.1))
    } else if expected.starts_with('[') {
        let expected: Vec<&RawValue> = serde_json::from_str(expected).unwrap();
        serde_json::from_str::<Vec<&RawValue>>(actual).is_ok_and(|actual| elements_match(&expected, &actual))
    } else if expected.starts_with('"') {
        let expected: String = serde_json::from_str(expected).unwrap();
        serde_json::from_str::<String>(actual).is_ok_and(|actual| text_matches(&expected, &actual))
    } else {
        expected == actual
    }
}

fn elements_match(expected: &[&RawValue], actual: &[&RawValue]) -> bool {
    match expected {
        [] => actual.is_empty(),
        [any, rest @ ..] if any.get() == r#""…""# => {
            (0..=actual.len()).any(|skipped| elements_match(rest, &actual[skipped..]))
        }
        [first, rest @ ..] => {
            actual.first().is_some_and(|actual| value_matches(first, actual))
                && elements_match(rest, &actual[1..])
        }
    }
}

fn text_matches(expected: &str, actual: &str) -> bool {
    let Some((first, rest)) = expected.split_once('…') else { return expected == actual };
    let Some(actual) = actual.strip_prefix(first) else { return false };
    actual.char_indices().map(|(at, _)| at).chain([actual.len()]).any(|at| text_matches(rest, &actual[at..]))
}
