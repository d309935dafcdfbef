//! Headers against arguments: a call is served exactly when its header says what its argument says.
#![no_main]

use arbitrary::Arbitrary;
use data_encoding::BASE64;
use jumpseat_proto::{Annotations, Envelope, Headers, Implementation, Offer, Session, Step, Tool};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    argument: Option<&'a str>,
    header: Option<Header<'a>>,
    /// A schema, as JSON text.
    schema: &'a str,
    arguments: &'a str,
}

#[derive(Arbitrary, Debug)]
enum Header<'a> {
    /// Bytes as they are.
    Raw(&'a [u8]),
    /// What a client writes for a text.
    Client(&'a str),
    /// Between the marks of Base64, whatever it is.
    Marked(&'a str),
}

struct Given(Option<Vec<u8>>);

impl Headers for Given {
    fn header(&self, name: &str) -> Option<&[u8]> {
        match name {
            "mcp-protocol-version" => Some(b"2026-07-28"),
            "mcp-method" => Some(b"tools/call"),
            "mcp-name" => Some(b"tool"),
            "mcp-param-a" => self.0.as_deref(),
            _ => None,
        }
    }
}

impl Header<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Raw(bytes) => bytes.to_vec(),
            Self::Client(text) => format!("=?base64?{}?=", BASE64.encode(text.as_bytes())).into_bytes(),
            Self::Marked(text) => format!("=?base64?{text}?=").into_bytes(),
        }
    }
}

/// The text that a header stands for (MCP 2026-07-28, Streamable HTTP, "Value Encoding").
fn read(header: &[u8]) -> Option<String> {
    if !header.iter().all(|byte| *byte == b'\t' || (b' '..=b'~').contains(byte)) {
        return None;
    }
    let text = String::from_utf8_lossy(header).into_owned();
    let text = text.trim_matches([' ', '\t']);
    let marked = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(encoded) = marked else { return Some(text.to_owned()) };
    let bytes = BASE64.decode(encoded.as_bytes()).ok()?;
    // Strict: there is one way to write it.
    (BASE64.encode(&bytes) == encoded).then(|| String::from_utf8(bytes).ok())?
}

fn is_served(schema: &Value, arguments: &str, headers: &dyn Headers) -> Option<bool> {
    let mut offer = Offer::new(&Implementation::default(), None);
    offer.tools.insert(Tool::new("tool", None, "", schema, None, Annotations::default()).ok()?);
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"tool","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let mut session = Session::new(1);
    let served = matches!(session.receive(&request, Envelope::Http(headers), &offer), Step::Call(_));
    Some(served)
}

fuzz_target!(|input: Input| {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}});
    let arguments = input.argument.map_or_else(|| json!({}), |argument| json!({"a": argument})).to_string();
    let headers = Given(input.header.as_ref().map(Header::bytes));
    let expected = match (&headers.0, input.argument) {
        (None, None) => true,
        (Some(header), Some(argument)) => read(header).as_deref() == Some(argument),
        _ => false,
    };
    assert_eq!(is_served(&schema, &arguments, &headers), Some(expected));

    // A schema and arguments of any kind: no panic.
    if let Ok(mut schema) = serde_json::from_str::<Value>(input.schema) {
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("type".to_owned(), json!("object"));
        }
        is_served(&schema, input.arguments, &headers);
    }
});
