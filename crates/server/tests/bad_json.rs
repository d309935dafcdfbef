//! Bodies that are not JSON, or JSON that is no message: each is answered, and the connection serves on.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use serde_json::{Value, json};
use support::{Http, JSON, TestServer, call, post, request, start};

/// What is not JSON, as a whole text and as a value in one.
#[rustfmt::skip]
const NOT_JSON: &[&str] = &[
    // Nothing
    "", " ", "\t\r\n", "\u{feff}", "\u{a0}", "\u{2028}", "\0",
    // Literals
    "tru", "True", "TRUE", "truee", "fals", "nul", "NULL", "Null", "nulll", "undefined", "NaN", "-NaN", "Inf",
    "Infinity", "-Infinity", "+Infinity", "None", "a", "é", "\\u0061", "*", "@", "<null>", "<.>", "^", "&#91;",
    // Numbers
    "-", "+1", "++1", "--1", "- 1", "-a", ".5", "-.5", "1.", "-1.", "1.e5", "1e", "1E", "1e+", "1e-", "1eE2",
    "1.5e", "1e1.5", "1.2.3", "01", "-01", "00", "012", "0x1", "0x", "0b1", "1_000", "1 000", "1,000", "0e", "0.",
    "0.e1", "2.e3", "1a", "1/2", "\u{ff11}", "1+2",
    // Strings
    "\"", "\"a", "'a'", "'", "`a`", "a\"", "\"\\\"", "\"\\x00\"", "\"\\a\"", "\"\\'\"", "\"\\u\"", "\"\\u1\"",
    "\"\\u12\"", "\"\\u123\"", "\"\\uZZZZ\"", "\"\\u{1}\"", "\"\\U0041\"", "\"\\\u{e9}\"", "\"\\", "\"a\nb\"",
    "\"a\tb\"", "\"a\rb\"", "\"\0\"", "\"\u{1f}\"", "\"a\"b", "\"a\" \"b\"", "\"a\\\n\"",
    // Arrays
    "[", "[1", "[1,", "[\"a", "[,1]", "[1,]", "[1,,2]", "[1,,]", "[1 2]", "[1;2]", "[1}", "[[]", "[1]]", "[,]",
    "[1:2]", "[]a", "[\u{b}1]", "[#\n1]",
];

#[rustfmt::skip]
const NOT_JSON_OBJECTS: &[&str] = &[
    "{", "{}}", "{,}", "{\"a\"", "{\"a\"}", "{\"a\":", "{\"a\":}", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
    "{,\"a\":1}", "{\"a\":1,,\"b\":2}", "{\"a\":1 \"b\":2}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1:2}", "{:1}",
    "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{[]:1}", "{{}:1}", "{\"a\":1]", "{\"a\":1;\"b\":2}", "{\"a\"=1}",
    "{\"a\":a}", "{\"a\\x\":1}", "{\"a\nb\":1}", "{\"a\":/* c */1}", "{\"a\":1} // c", "{\"a\":1}#", "{\"a\":1}{}",
    "{\"a\":1},", "// c\n{}", "/* c */{}", "{\"a\":\"b}",
];

/// JSON that is no message of JSON-RPC 2.0.
#[rustfmt::skip]
const NO_MESSAGES: &[&str] = &[
    "null", "true", "0", "-1.5e3", "\"\"", "\"ping\"", "[]", "{}", " {} ", r#"{"a":1}"#, r#"{"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":1}"#, r#"{"jsonrpc":"2.0","params":{}}"#, r#"{"jsonrpc":"2.0","id":1,"params":{}}"#,
    r#"{"id":1,"method":"ping"}"#, r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2","id":1,"method":"ping"}"#, r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
    r#"{"jsonrpc":2,"id":1,"method":"ping"}"#, r#"{"jsonrpc":null,"id":1,"method":"ping"}"#,
    r#"{"JSONRPC":"2.0","id":1,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":1}"#, r#"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#,
    r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"ping","jsonrpc":"1.0"}"#,
    r#"{"jsonrpc":"2.0","result":{}}"#,
];

/// One connection that is kept, whatever is sent.
struct Kept(Http);

impl Kept {
    async fn connect(server: &TestServer) -> Self {
        Self(Http::connect(server.port).await)
    }

    /// Sends a body that is refused with that code, and then one that is served.
    async fn refused(&mut self, body: &[u8], code: i32) {
        let shown = String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned();
        let response = self.0.roundtrip("POST", "/mcp", &[JSON], body).await;
        assert_eq!(
            (response.status, response.header("content-type")),
            (400, Some("application/json")),
            "{shown:?}"
        );
        let answer = response.json();
        assert_eq!((&answer["jsonrpc"], answer.get("id")), (&json!("2.0"), Some(&Value::Null)), "{shown:?}");
        assert_eq!(answer["error"]["code"], code, "{shown:?}: {answer}");
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
        self.served(call(1, "echo", &json!({"text": shown})).as_bytes(), Some(&shown)).await;
    }

    async fn served(&mut self, body: &[u8], text: Option<&str>) {
        let response = self.0.roundtrip("POST", "/mcp", &[JSON], body).await;
        let answer = response.json();
        assert_eq!(response.status, 200, "{answer}");
        if let Some(text) = text {
            assert_eq!(answer["result"]["content"][0]["text"], text, "{answer}");
        }
    }
}

/// A call of `echo` with that text as an argument.
fn with_argument(value: &[u8]) -> Vec<u8> {
    let head = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x","v":"#;
    [head, value, b"}}}"].concat()
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    for text in NOT_JSON.iter().chain(NOT_JSON_OBJECTS) {
        kept.refused(text.as_bytes(), -32700).await;
    }
}

#[tokio::test]
async fn what_is_not_json_deep_inside_of_a_message_is_a_parse_error() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    kept.served(&with_argument(b"1"), Some("x")).await;
    for text in NOT_JSON.iter().chain(NOT_JSON_OBJECTS) {
        // What only adds a member is another matter.
        if *text != "1,000" {
            kept.refused(&with_argument(text.as_bytes()), -32700).await;
        }
    }
}

#[tokio::test]
async fn json_that_is_no_message_is_an_invalid_request() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    for text in NO_MESSAGES {
        kept.refused(text.as_bytes(), -32600).await;
    }
}

#[tokio::test]
async fn what_is_no_message_in_a_batch_is_answered_in_its_place() {
    let server = start();
    for text in NO_MESSAGES {
        let batch = format!("[{text},{}]", request(7, "ping", &json!({})));
        let answer = post(server.port, &[], batch).await.json();
        assert_eq!((&answer[0]["error"]["code"], &answer[0]["id"]), (&json!(-32600), &Value::Null), "{text}");
        assert_eq!(answer[1], json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    }
}

#[tokio::test]
async fn a_message_that_is_cut_anywhere_is_a_parse_error() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    let whole = call("an id", "echo", &json!({"text": "é\\\"", "list": [1.5, true, null]}));
    for end in 0..whole.len() {
        kept.refused(&whole.as_bytes()[..end], -32700).await;
    }
    kept.served(whole.as_bytes(), Some("é\\\"")).await;
}

#[tokio::test]
async fn what_is_not_utf_8_is_a_parse_error() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    for bytes in [
        &b"\xff"[..],
        b"\xfe",
        b"\x80",
        b"\xc3",
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xed\xb0\x80",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"caf\xe9",
    ] {
        kept.refused(bytes, -32700).await;
        kept.refused(&with_argument(&[b"\"", bytes, b"\""].concat()), -32700).await;
        kept.refused(&[with_argument(b"1").as_slice(), bytes].concat(), -32700).await;
    }
    let utf_16 = request(1, "ping", &json!({})).encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    kept.refused(&utf_16, -32700).await;
    kept.refused(&[b"\xff\xfe", utf_16.as_slice()].concat(), -32700).await;
    kept.refused(format!("\u{feff}{}", request(1, "ping", &json!({}))).as_bytes(), -32700).await;
}

#[tokio::test]
async fn what_is_nested_too_deep_is_a_parse_error() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    // The argument stands on the third level.
    for depth in [126, 127, 1000, 100_000] {
        let arrays = [vec![b'['; depth], vec![b']'; depth]].concat();
        kept.refused(&with_argument(&arrays), -32700).await;
        let objects = [r#"{"a":"#.repeat(depth), "1".into(), "}".repeat(depth)].concat();
        kept.refused(&with_argument(objects.as_bytes()), -32700).await;
    }
    for depth in [129, 1000, 500_000] {
        kept.refused(&[vec![b'['; depth], vec![b']'; depth]].concat(), -32700).await;
        kept.refused(&vec![b'['; depth], -32700).await;
        kept.refused(r#"{"a":"#.repeat(depth).as_bytes(), -32700).await;
    }
    let arrays = [vec![b'['; 125], vec![b']'; 125]].concat();
    kept.served(&with_argument(&arrays), Some("x")).await;
    kept.served(&with_argument(format!("\"{}\"", "[{".repeat(1000)).as_bytes()), Some("x")).await;
}

#[tokio::test]
async fn unusual_json_is_json() {
    let server = start();
    let mut kept = Kept::connect(&server).await;
    for value in [
        "-0",
        "0.0",
        "1E400",
        "-1e-400",
        "123456789012345678901234567890.12345678901234567890",
        "\"\\u0000\"",
        "\"\\ud83d\\ude00\"",
        "\"\u{7f}\u{2028}\u{ffff}\u{10ffff}\"",
        "\"\\/\\b\\f\"",
        "{\"\":0}",
        "{\"a\":1,\"a\":2}",
        "[[],{},\"\",null]",
        " \t\r\n1\n",
    ] {
        kept.served(&with_argument(value.as_bytes()), Some("x")).await;
    }
    let digits = "9".repeat(100_000);
    kept.served(&with_argument(digits.as_bytes()), Some("x")).await;
    let spaced = format!("\r\n\t {} \n\n", request(1, "ping", &json!({})));
    kept.served(spaced.as_bytes(), None).await;
    let escaped = r#"{"\u006asonrpc":"2\u002e0","id":1,"method":"\u0070ing"}"#;
    kept.served(escaped.as_bytes(), None).await;
}
