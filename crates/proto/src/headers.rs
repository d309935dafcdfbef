//! The HTTP headers that repeat parts of a modern message, checked against its body
//! (MCP 2026-07-28, Streamable HTTP, "Request Metadata" and "Server Validation").

use data_encoding::BASE64;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{ErrorCode, ErrorObject};
use crate::json::{is_string, members, string};
use crate::version::Revision;

/// The headers of the HTTP request that a message came in.
pub trait Headers: Sync {
    /// The first value of the header of that name, which is given in lower case.
    fn header(&self, name: &str) -> Option<&[u8]>;
}

/// What a message came in.
#[derive(Clone, Copy)]
pub enum Envelope<'a> {
    /// A stream of messages, such as a WebSocket: there are no headers to a message.
    Stream,
    /// The body of an HTTP request.
    Http(&'a dyn Headers),
}

impl Envelope<'_> {
    /// The `MCP-Protocol-Version` header, trimmed; empty when it is no text.
    pub(crate) fn protocol_version(&self) -> Option<&str> {
        let Self::Http(headers) = self else { return None };
        headers.header("mcp-protocol-version").map(|value| plain(value).unwrap_or(""))
    }

    /// Whether the header alone says that the request is modern. Such a request has no session.
    pub fn is_modern(&self) -> bool {
        self.protocol_version().and_then(Revision::parse).is_some_and(Revision::is_modern)
    }
}

/// An argument that clients repeat as a header `Mcp-Param-…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderParam {
    /// The header's name in lower case.
    header: String,
    /// The keys that lead to the argument.
    path: Vec<String>,
}

impl HeaderParam {
    /// All `x-mcp-header` annotations of an input schema.
    pub(crate) fn find(schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        walk(schema, Some(&mut Vec::new()), &mut found)?;
        for (index, param) in found.iter().enumerate() {
            if found[..index].iter().any(|other| other.header == param.header) {
                return Err(format!("two properties have the x-mcp-header of {:?}", param.header));
            }
        }
        Ok(found)
    }

    /// The argument's JSON text; `None` when it is absent or null.
    fn argument<'a>(&self, arguments: &'a str) -> Option<&'a RawValue> {
        let mut value: Option<&RawValue> = None;
        for key in &self.path {
            let object = value.map_or(arguments, RawValue::get);
            let [member] = members(object, &[key]).ok()?;
            value = Some(member?);
        }
        value.filter(|value| value.get() != "null")
    }
}

/// `path` is `None` below a keyword other than `properties`, where an annotation is not allowed.
fn walk(
    schema: &Value,
    mut path: Option<&mut Vec<String>>,
    found: &mut Vec<HeaderParam>,
) -> Result<(), String> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(items) => return items.iter().try_for_each(|item| walk(item, None, found)),
        _ => return Ok(()),
    };
    if let Some(name) = members.get("x-mcp-header") {
        let path = path.as_deref().filter(|path| !path.is_empty());
        found.push(annotation(name, members.get("type"), path)?);
    }
    for (keyword, value) in members {
        match (keyword.as_str(), value, &mut path) {
            ("properties", Value::Object(properties), Some(path)) => {
                for (key, property) in properties {
                    path.push(key.clone());
                    walk(property, Some(path), found)?;
                    path.pop();
                }
            }
            // Data, not schemas.
            ("const" | "default" | "enum" | "examples", ..) => {}
            _ => walk(value, None, found)?,
        }
    }
    Ok(())
}

fn annotation(name: &Value, kind: Option<&Value>, path: Option<&Vec<String>>) -> Result<HeaderParam, String> {
    let tchar = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let name = name.as_str().filter(|name| !name.is_empty() && name.chars().all(tchar));
    let name = name.ok_or("x-mcp-header must be an HTTP field name")?;
    let path = path.ok_or("x-mcp-header is only for properties that are reached through \"properties\"")?;
    if !kind.and_then(Value::as_str).is_some_and(|kind| matches!(kind, "string" | "integer" | "boolean")) {
        return Err(format!("the property with x-mcp-header {name:?} must be a string, integer or boolean"));
    }
    Ok(HeaderParam { header: format!("mcp-param-{}", name.to_ascii_lowercase()), path: path.clone() })
}

fn mismatch(message: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::HeaderMismatch, message)
}

/// `MCP-Protocol-Version` must say the same as `_meta`.
pub(crate) fn check_version(envelope: &Envelope, version: &str) -> Result<(), ErrorObject> {
    match (envelope, envelope.protocol_version()) {
        (Envelope::Stream, _) => Ok(()),
        (_, Some(header)) if header == version => Ok(()),
        (_, Some(header)) => Err(mismatch(format!(
            "The header MCP-Protocol-Version says {header:?}, and params._meta says {version:?}"
        ))),
        (_, None) => Err(mismatch(format!("The header MCP-Protocol-Version: {version} is missing"))),
    }
}

/// `Mcp-Method` must say the same as the body.
pub(crate) fn check_method(envelope: &Envelope, method: &str) -> Result<(), ErrorObject> {
    match envelope {
        Envelope::Stream => Ok(()),
        Envelope::Http(headers) => check(*headers, "mcp-method", Some(method), Form::Plain),
    }
}

/// `Mcp-Name` must say the same as `params.name`, and each `Mcp-Param-…` the same as its argument.
pub(crate) fn check_call(
    envelope: &Envelope,
    name: &str,
    params: &[HeaderParam],
    arguments: &str,
) -> Result<(), ErrorObject> {
    let Envelope::Http(headers) = envelope else { return Ok(()) };
    check(*headers, "mcp-name", Some(name), Form::Encoded)?;
    for param in params {
        let argument = param.argument(arguments);
        let form = if argument.is_some_and(|raw| !is_string(raw)) { Form::Number } else { Form::Encoded };
        let text = argument.map(|raw| string(raw).unwrap_or_else(|_| raw.get().into()));
        check(*headers, &param.header, text.as_deref(), form)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// May be `=?base64?…?=`.
    Encoded,
    /// The same, and compared as a number.
    Number,
}

fn check(headers: &dyn Headers, name: &str, body: Option<&str>, form: Form) -> Result<(), ErrorObject> {
    let (value, body) = match (headers.header(name), body) {
        (None, None) => return Ok(()),
        (None, Some(body)) => {
            return Err(mismatch(format!("The header {name} is missing; the body says {body:?}")));
        }
        (Some(_), None) => {
            return Err(mismatch(format!("The header {name} is given, and the body has no such value")));
        }
        (Some(value), Some(body)) => (value, body),
    };
    let header = plain(value)
        .ok_or_else(|| mismatch(format!("The header {name} has characters other than visible ASCII")))?;
    let decoded = match form {
        Form::Plain => header.to_owned(),
        Form::Encoded | Form::Number => decode(header).ok_or_else(|| {
            mismatch(format!("The header {name} is not the Base64 of UTF-8 text between =?base64? and ?="))
        })?,
    };
    if decoded == body || form == Form::Number && is_same_number(&decoded, body) {
        Ok(())
    } else {
        Err(mismatch(format!("The header {name} says {decoded:?}, and the body says {body:?}")))
    }
}

/// Whether two texts are the same number, such as `42` and `42.0`. Integers above 2^53 are not safe in a header
/// (MCP 2026-07-28, "Schema Extension"), and doubles would not tell them apart: they must be the same text.
fn is_same_number(header: &str, body: &str) -> bool {
    let number = |text: &str| text.parse().ok().filter(|n: &f64| n.abs() < 9_007_199_254_740_992.0);
    number(header).is_some_and(|header| Some(header) == number(body))
}

/// A header's value without the blanks around it; `None` when it is not visible ASCII, space and tab.
fn plain(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    text.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~')).then(|| text.trim_matches([' ', '\t']))
}

/// The value behind `=?base64?…?=`, or the text itself. `None` when the Base64 is not strict.
fn decode(text: &str) -> Option<String> {
    match text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64.decode(encoded.as_bytes()).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Given(Vec<(&'static str, &'static str)>);

    impl Headers for Given {
        fn header(&self, name: &str) -> Option<&[u8]> {
            self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_bytes())
        }
    }

    fn checked(value: &'static str, arguments: &str) -> bool {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "Value"}}},
        }});
        let params = HeaderParam::find(&schema).unwrap();
        let headers = Given(vec![("mcp-name", "t"), ("mcp-param-value", value)]);
        check_call(&Envelope::Http(&headers), "t", &params, arguments).is_ok()
    }

    #[test]
    fn a_nested_integer_is_compared_as_a_number() {
        assert!(checked("42", r#"{"a":{"b":42}}"#));
        assert!(checked(" 42.0 ", r#"{"a":{"b":42}}"#));
        assert!(checked("=?base64?NDI=?=", r#"{"a":{"b":42}}"#));
        assert!(!checked("43", r#"{"a":{"b":42}}"#));
        assert!(!checked("42", r#"{"a":{"b":null}}"#));
        assert!(!checked("42", "{}"));
    }

    #[test]
    fn base64_is_decoded_strictly_and_only_between_both_marks() {
        assert_eq!(decode("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(decode("=?base64?SGVsbG8?="), None);
        assert_eq!(decode("=?base64?SGV_bG8=?="), None);
        assert_eq!(decode("SGVsbG8=").as_deref(), Some("SGVsbG8="));
        assert_eq!(decode("=?base64?SGVsbG8=").as_deref(), Some("=?base64?SGVsbG8="));
    }

    #[test]
    fn an_annotation_that_clients_would_refuse_is_refused_at_registration() {
        let property = |schema| json!({"type": "object", "properties": {"p": schema}});
        for bad in [
            property(json!({"type": "number", "x-mcp-header": "N"})),
            property(json!({"type": "string", "x-mcp-header": ""})),
            property(json!({"type": "string", "x-mcp-header": "a b"})),
            property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "N"}})),
            json!({"type": "object", "x-mcp-header": "N"}),
            json!({"type": "object", "properties": {
                "p": {"type": "string", "x-mcp-header": "N"}, "q": {"type": "string", "x-mcp-header": "n"}}}),
        ] {
            assert!(HeaderParam::find(&bad).is_err(), "{bad}");
        }
        let data = property(json!({"type": "object", "default": {"x-mcp-header": "N"}}));
        assert_eq!(HeaderParam::find(&data), Ok(vec![]));
    }
}
