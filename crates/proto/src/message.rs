//! One JSON-RPC message: what it is, told by the members present, with its params still raw.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::ErrorObject;
use crate::json::{Members, Name, is_number, is_string, string, too_deep};

/// The `id` of a request: the JSON text of a string or a number, echoed as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// `None` when the value is neither a string nor a number.
    pub(crate) fn from_raw(raw: &RawValue) -> Option<Self> {
        (is_string(raw) || is_number(raw)).then(|| Self(raw.get().into()))
    }

    /// The JSON text: `1`, `"1"` and `1.0` are three ids.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) enum Message<'a> {
    Request {
        id: Id,
        method: Cow<'a, str>,
        params: Option<Params<'a>>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<Params<'a>>,
    },
    /// The answer to a request of ours; nobody asks the client for anything yet.
    Response,
}

/// What a transport handed over: one message, or a batch of them.
pub(crate) enum Incoming<'a> {
    One(&'a str),
    Batch(Vec<&'a RawValue>),
}

pub(crate) fn incoming(text: &str) -> Result<Incoming<'_>, ErrorObject> {
    if too_deep(text) {
        return Err(ErrorObject::parse_error("it is nested deeper than 128 levels"));
    }
    match text.trim_ascii_start().bytes().next() {
        Some(b'{') => Ok(Incoming::One(text)),
        Some(b'[') => serde_json::from_str(text).map(Incoming::Batch).map_err(ErrorObject::parse_error),
        _ => Err(match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => ErrorObject::invalid_request("A message is a JSON object, or an array of them"),
            Err(error) => ErrorObject::parse_error(error),
        }),
    }
}

impl<'a> Message<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, ErrorObject> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let found = deserializer.deserialize_map(Parts).and_then(|found| deserializer.end().map(|()| found));
        let ([version, id, method, result, error], params) = found.map_err(|error| {
            if error.is_data() {
                ErrorObject::invalid_request("A message is a JSON object")
            } else {
                ErrorObject::parse_error(error)
            }
        })?;
        if version.and_then(|version| string(version).ok()).as_deref() != Some("2.0") {
            return Err(ErrorObject::invalid_request(r#"A message has the member "jsonrpc": "2.0""#));
        }
        let Some(method) = method else {
            // An error may come without an id (MCP 2025-11-25, schema, `JSONRPCErrorResponse`).
            return if error.is_some() || id.is_some() && result.is_some() {
                Ok(Self::Response)
            } else {
                Err(ErrorObject::invalid_request(
                    r#"A message has a "method" (request, notification), or an "id" and a "result", or an "error" (response)"#,
                ))
            };
        };
        let method = string(method)
            .map_err(|_| ErrorObject::invalid_request(r#"The "method" of a message is a string"#))?;
        let Some(id) = id else { return Ok(Self::Notification { method, params }) };
        let id = Id::from_raw(id).ok_or_else(|| {
            ErrorObject::invalid_request(
                r#"The "id" of a request is a string or a number; a notification has none"#,
            )
        })?;
        Ok(Self::Request { id, method, params })
    }
}

/// The members of `params` that any method reads, found in one pass.
#[derive(Default)]
pub(crate) struct Params<'a> {
    pub(crate) meta: Option<&'a RawValue>,
    pub(crate) name: Option<&'a RawValue>,
    pub(crate) arguments: Option<&'a RawValue>,
    pub(crate) cursor: Option<&'a RawValue>,
    pub(crate) notifications: Option<&'a RawValue>,
    pub(crate) protocol_version: Option<&'a RawValue>,
    pub(crate) capabilities: Option<&'a RawValue>,
    pub(crate) client_info: Option<&'a RawValue>,
    pub(crate) request_id: Option<&'a RawValue>,
}

const PARAMS: [&str; 9] = [
    "_meta",
    "name",
    "arguments",
    "cursor",
    "notifications",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "requestId",
];

/// Reads a message in one pass: its members and those of its params, which are `None` when they are no object.
struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = ([Option<&'de RawValue>; 5], Option<Params<'de>>);

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut params) = ([None; 5], Some(Params::default()));
        while let Some(index) =
            map.next_key_seed(Name(&["jsonrpc", "id", "method", "result", "error", "params"]))?
        {
            match index {
                Some(5) => params = map.next_value_seed(Members(&PARAMS))?.map(Params::new),
                Some(index) => found[index] = Some(map.next_value()?),
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok((found, params))
    }
}

impl<'a> Params<'a> {
    fn new(found: [Option<&'a RawValue>; 9]) -> Self {
        let [
            meta,
            name,
            arguments,
            cursor,
            notifications,
            protocol_version,
            capabilities,
            client_info,
            request_id,
        ] = found;
        Self {
            meta,
            name,
            arguments,
            cursor,
            notifications,
            protocol_version,
            capabilities,
            client_info,
            request_id,
        }
    }
}
