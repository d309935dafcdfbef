//! Replies: the text to send, and what a transport must know of it.

use crate::error::{ErrorCode, ErrorObject};
use crate::headers::Envelope;
use crate::json::{ObjectWriter, into_text};
use crate::message::Id;
use crate::offer::Offer;
use crate::session::check_known_version;
use crate::version::Revision;

/// A response that is ready to send: one JSON-RPC response, or an array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The JSON text.
    pub text: String,
    /// The error that it carries; `None` for a result, and for a batch.
    pub error: Option<ErrorCode>,
    /// Whether it answers a modern request. Modern requests know errors by their HTTP status too.
    pub modern: bool,
    /// Whether it is the result of an `initialize`: over HTTP, it is where a session begins.
    pub initialized: bool,
}

impl Reply {
    /// A result. `write` writes its members.
    pub(crate) fn result(
        id: &Id,
        revision: Revision,
        offer: &Offer,
        write: impl FnOnce(&mut ObjectWriter),
    ) -> Self {
        Self::result_with_meta(id, revision, offer, 0, write, |_| {})
    }

    /// A result whose `_meta` has more than the server's name; `_meta` is written for modern requests only.
    pub(crate) fn result_with_meta(
        id: &Id,
        revision: Revision,
        offer: &Offer,
        size: usize,
        write: impl FnOnce(&mut ObjectWriter),
        write_meta: impl FnOnce(&mut ObjectWriter),
    ) -> Self {
        let modern = revision.is_modern();
        let text = response(Some(id), size, |response| {
            response.object("result", |result| {
                if modern {
                    result.raw("resultType", r#""complete""#);
                }
                write(result);
                if modern {
                    result.object("_meta", |meta| {
                        meta.raw("io.modelcontextprotocol/serverInfo", offer.info());
                        write_meta(meta);
                    });
                }
            });
        });
        Self { text, error: None, modern, initialized: false }
    }

    /// An error. Without an `id` that could be read, the member is null.
    pub(crate) fn error(id: Option<&Id>, revision: Revision, error: &ErrorObject) -> Self {
        let text = response(id, 0, |response| error.write(response.key("error")));
        Self { text, error: Some(error.code), modern: revision.is_modern(), initialized: false }
    }

    /// The answer to a message that a transport could not read as text.
    pub fn not_utf8() -> Self {
        let error = ErrorObject::parse_error("it is not UTF-8");
        Self::error(None, Revision::PLAIN, &error)
    }

    /// The answer to an HTTP request that has no message, when its `MCP-Protocol-Version` is unknown.
    pub fn unknown_version(envelope: &Envelope) -> Option<Self> {
        let error = check_known_version(envelope).err()?;
        Some(Self::error(None, Revision::PLAIN, &error))
    }
}

fn response(id: Option<&Id>, size: usize, write: impl FnOnce(&mut ObjectWriter)) -> String {
    let mut buffer = Vec::with_capacity(256 + size);
    let mut response = ObjectWriter::begin(&mut buffer);
    response.raw("jsonrpc", r#""2.0""#);
    response.raw("id", id.map_or("null", Id::as_json));
    write(&mut response);
    response.end();
    into_text(buffer)
}
