//! Responses: JSON bodies, errors, event streams; and which HTTP status a JSON-RPC error has.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use jumpseat_proto::{ErrorCode, Reply};

use super::events::EventStream;
use crate::listener::{Busy, Entered, error_body};

/// The body of a response.
pub(crate) struct Body {
    content: Content,
    /// The connection waits for nothing else while this is being sent.
    busy: Option<Busy>,
    /// The server waits for this when it stops.
    in_flight: Option<Entered>,
}

enum Content {
    /// All of it, at once.
    Full(Option<Bytes>),
    /// Events as they come.
    Events(Box<EventStream>),
}

impl Body {
    fn full(bytes: Option<Bytes>) -> Self {
        Self { content: Content::Full(bytes), busy: None, in_flight: None }
    }

    pub(crate) fn events(stream: EventStream) -> Self {
        Self { content: Content::Events(Box::new(stream)), busy: None, in_flight: None }
    }

    pub(crate) fn hold_busy(&mut self, busy: Busy) {
        self.busy = Some(busy);
    }

    pub(crate) fn hold_in_flight(&mut self, in_flight: Entered) {
        self.in_flight = Some(in_flight);
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut self.content {
            Content::Full(bytes) => Poll::Ready(bytes.take()),
            Content::Events(events) => events.poll_data(cx),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, Content::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Events(_) => SizeHint::default(),
        }
    }
}

/// A response with a body of that content type.
pub(crate) fn full(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(Some(body.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    full(status, "application/json", body)
}

/// A response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::full(None));
    *response.status_mut() = status;
    response
}

/// An error that no JSON-RPC request is to blame for. The message says what is wrong and what is expected.
pub(crate) fn error(status: StatusCode, message: &str) -> Response<Body> {
    let code = if status.is_server_error() { ErrorCode::Internal } else { ErrorCode::InvalidRequest };
    json(status, error_body(code, message))
}

/// 405, with the methods that there are.
pub(crate) fn method_not_allowed(allow: &'static str) -> Response<Body> {
    let message = format!("This path is for {allow}");
    with_header(error(StatusCode::METHOD_NOT_ALLOWED, &message), ALLOW, allow)
}

/// 503: there are as many as there may be.
pub(crate) fn too_many(what: &str, limit: usize) -> Response<Body> {
    let message = format!("{limit} {what} are open, which is the limit: close one, or try again in a second");
    with_header(error(StatusCode::SERVICE_UNAVAILABLE, &message), RETRY_AFTER, "1")
}

pub(crate) fn with_header(
    mut response: Response<Body>,
    name: HeaderName,
    value: &'static str,
) -> Response<Body> {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

/// A JSON-RPC response as the body of an HTTP response.
pub(crate) fn reply(reply: Reply) -> Response<Body> {
    json(status(&reply), reply.text)
}

/// The HTTP status of a JSON-RPC response: that of its error.
pub(crate) fn status(reply: &Reply) -> StatusCode {
    match reply.error {
        // The last three are of MCP 2026-07-28, Streamable HTTP: what is wrong with the envelope of a message
        // is wrong with the HTTP request.
        Some(
            ErrorCode::ParseError
            | ErrorCode::InvalidRequest
            | ErrorCode::InvalidEnvelope
            | ErrorCode::HeaderMismatch
            | ErrorCode::UnsupportedProtocolVersion,
        ) => StatusCode::BAD_REQUEST,
        Some(ErrorCode::MethodNotFound) if reply.modern => StatusCode::NOT_FOUND,
        Some(ErrorCode::MethodNotFound | ErrorCode::InvalidParams | ErrorCode::Internal) | None => {
            StatusCode::OK
        }
    }
}
