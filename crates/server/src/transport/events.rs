//! Event streams (Server-Sent Events): messages as events, and a comment line now and then.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::time::{Instant, Sleep};

use super::body::Body;
use crate::connection::{Outgoing, Receiver, Seat};
use crate::listener::Entered;

/// A comment: it keeps the stream open, and at the beginning it brings the head of the response along.
const COMMENT: &str = ":\n\n";

/// The event that begins a stream of 2025-11-25 (transports, "Sending Messages to the Server").
pub(crate) const PRIMING: &str = "id: 0\ndata: \n\n";

/// What a stream holds while it is open.
#[derive(Default)]
#[expect(dead_code, reason = "held until they are dropped, never read")]
pub(crate) struct Held {
    /// Its place among the listeners.
    pub(crate) seat: Option<Seat>,
    /// It counts as an open stream.
    pub(crate) entered: Option<Entered>,
    /// What to do when it ends, whoever ends it.
    pub(crate) on_close: Option<OnClose>,
}

/// Runs when it is dropped.
pub(crate) struct OnClose(Option<Box<dyn FnOnce() + Send>>);

impl OnClose {
    pub(crate) fn new(action: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(action)))
    }
}

impl Drop for OnClose {
    fn drop(&mut self) {
        if let Some(action) = self.0.take() {
            action();
        }
    }
}

/// The body of an event stream.
pub(crate) struct EventStream {
    first: Option<Bytes>,
    receiver: Receiver,
    interval: Duration,
    comment: Pin<Box<Sleep>>,
    _held: Held,
}

impl EventStream {
    /// What to send next; `None` at the end.
    pub(crate) fn poll_data(&mut self, cx: &mut Context) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        if let Poll::Ready(next) = self.receiver.poll_next(cx) {
            return Poll::Ready(next.map(|message| event(&message)));
        }
        if self.comment.as_mut().poll(cx).is_ready() {
            self.comment.as_mut().reset(Instant::now() + self.interval);
            return Poll::Ready(Some(Bytes::from_static(COMMENT.as_bytes())));
        }
        Poll::Pending
    }
}

/// The response that is an event stream. It begins with `first`, which may be empty: then with a comment.
pub(crate) fn events(receiver: Receiver, first: String, interval: Duration, held: Held) -> Response<Body> {
    let first = if first.is_empty() { Bytes::from_static(COMMENT.as_bytes()) } else { first.into() };
    let comment = Box::pin(tokio::time::sleep(interval));
    let stream = EventStream { first: Some(first), receiver, interval, comment, _held: held };
    let mut response = Response::new(Body::events(stream));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// A message as an event.
fn event(message: &Outgoing) -> Bytes {
    message_event(match message {
        Outgoing::News(text) => text,
        Outgoing::Reply(reply) => &reply.text,
    })
    .into()
}

/// An event whose data is one line. In JSON, line breaks stand only between tokens, where a blank will do.
pub(crate) fn message_event(text: &str) -> String {
    let mut event = String::with_capacity(text.len() + 24);
    event.push_str("event: message\ndata: ");
    if text.contains(['\n', '\r']) {
        event.extend(text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
    } else {
        event.push_str(text);
    }
    event.push_str("\n\n");
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_data() {
        assert_eq!(message_event("{\r\n\"a\":1\n}"), "event: message\ndata: {  \"a\":1 }\n\n");
    }
}
