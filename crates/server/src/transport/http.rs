//! POST: one message in the body, and what comes of it as a JSON body or an event stream. Sessions are
//! looked up here by their id; what is in a message is not looked at.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use jumpseat_proto::{Envelope, ErrorCode, Headers, Reply};

use super::body::{self, Body};
use super::events::{Held, OnClose, PRIMING, events, message_event};
use crate::connection::{Connection, Outgoing, Received, Receiver, outbox};
use crate::listener::Link;
use crate::server::Shared;
use crate::tools::Transport;

pub(crate) static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The headers of a request, as `proto` reads them.
struct HeaderView<'h>(&'h HeaderMap);

impl Headers for HeaderView<'_> {
    fn header(&self, name: &str) -> Option<&[u8]> {
        // The one that every request is asked for needs no look-up of its name.
        let value =
            if name == PROTOCOL_VERSION.as_str() { self.0.get(&PROTOCOL_VERSION) } else { self.0.get(name) };
        value.map(HeaderValue::as_bytes)
    }
}

/// What the client can read.
#[derive(Clone, Copy)]
pub(crate) struct Accept {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

impl Accept {
    /// No header allows everything.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(ACCEPT).iter();
        // What MCP has every client send, word for word.
        if values.next().is_some_and(|value| value == "application/json, text/event-stream")
            && values.next().is_none()
        {
            return Self { json: true, events: true };
        }
        let allows = |media| !headers.contains_key(ACCEPT) || accepted(headers, media).1;
        Self { json: allows("application/json"), events: allows("text/event-stream") }
    }
}

/// How closely the Accept header names a media type, and whether it allows it: of the ranges that it falls in,
/// the closest one decides (RFC 9110, 12.5.1).
fn accepted(headers: &HeaderMap, media: &str) -> (Closeness, bool) {
    let family = media.split('/').next().unwrap_or(media);
    let mut decided = (Closeness::None, false);
    for value in headers.get_all(ACCEPT) {
        for range in value.to_str().unwrap_or("*/*").split(',') {
            let mut parts = range.split(';').map(str::trim);
            let closeness = match parts.next().unwrap_or("") {
                "*/*" => Closeness::Any,
                name if name.eq_ignore_ascii_case(media) => Closeness::Exact,
                name if name.strip_suffix("/*").is_some_and(|f| f.eq_ignore_ascii_case(family)) => {
                    Closeness::Family
                }
                _ => continue,
            };
            if closeness >= decided.0 {
                decided = (closeness, !parts.any(is_refusal));
            }
        }
    }
    decided
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    None,
    Any,
    Family,
    Exact,
}

/// Whether a parameter is `q=0`.
fn is_refusal(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    name.eq_ignore_ascii_case("q") && value.parse::<f32>() == Ok(0.0)
}

/// Whether a GET wants an event stream: it names it. (`*/*`, which everything sends, does not.)
pub(crate) fn wants_events(headers: &HeaderMap) -> bool {
    accepted(headers, "text/event-stream") == (Closeness::Exact, true)
}

/// `POST /mcp`.
pub(crate) async fn post(
    shared: Arc<Shared>,
    link: &Arc<Link>,
    request: Request<Incoming>,
) -> Response<Body> {
    let accept = Accept::of(request.headers());
    if !accept.json && !accept.events {
        let message = "The Accept header allows neither application/json nor text/event-stream: allow one of them, or both";
        return body::error(StatusCode::NOT_ACCEPTABLE, message);
    }
    respond(shared, link, request, accept).await
}

/// `POST /mcp/message`: plain JSON-RPC, with a JSON response; or a message of an HTTP+SSE stream, whose
/// response goes there.
pub(crate) async fn post_message(
    shared: Arc<Shared>,
    link: &Arc<Link>,
    request: Request<Incoming>,
) -> Response<Body> {
    let query = request.uri().query().unwrap_or("");
    let stream = query.split('&').find_map(|pair| pair.strip_prefix("sessionId="));
    let Some(id) = stream else {
        if !Accept::of(request.headers()).json {
            let message =
                "The Accept header does not allow application/json, which is all that this path answers";
            return body::error(StatusCode::NOT_ACCEPTABLE, message);
        }
        return respond(shared, link, request, Accept { json: true, events: false }).await;
    };
    let Some((connection, sender)) = shared.sessions().stream(id) else {
        let message = "There is no open stream of that sessionId: open one with GET /sse, and use the URL in its first event";
        return body::error(StatusCode::NOT_FOUND, message);
    };
    let at_work = connection.begin_work();
    let (parts, incoming) = request.into_parts();
    let body = match read(&parts.headers, incoming, &shared).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let Ok(text) = std::str::from_utf8(&body) else { return body::reply(Reply::not_utf8()) };
    match connection.receive(text, Envelope::Http(&HeaderView(&parts.headers)), &sender) {
        Received::Reply(reply)
            if matches!(reply.error, Some(ErrorCode::ParseError | ErrorCode::InvalidRequest)) =>
        {
            return body::reply(reply);
        }
        Received::Reply(reply) => sender.reply(reply),
        Received::Pending { .. } | Received::Nothing => {}
    }
    let mut response = body::full(StatusCode::ACCEPTED, "text/plain", "Accepted");
    response.body_mut().hold_in_flight(at_work);
    response
}

/// Reads the message, has it run, and answers with what comes first.
async fn respond(
    shared: Arc<Shared>,
    link: &Arc<Link>,
    request: Request<Incoming>,
    accept: Accept,
) -> Response<Body> {
    let in_flight = shared.in_flight().enter();
    let (parts, incoming) = request.into_parts();
    let body = match read(&parts.headers, incoming, &shared).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let view = HeaderView(&parts.headers);
    let envelope = Envelope::Http(&view);
    let connection = match connection(&shared, &parts.headers, &envelope) {
        Ok(connection) => connection,
        Err(refused) => return refused,
    };
    let Ok(text) = std::str::from_utf8(&body) else { return body::reply(Reply::not_utf8()) };
    let (sender, receiver) = outbox(shared.limits(), Some(link.clone()));
    let outcome = connection.receive(text, envelope, &sender);
    drop(sender);
    let mut response = match outcome {
        Received::Nothing => body::empty(StatusCode::ACCEPTED),
        Received::Reply(reply) if reply.initialized => begin_session(&shared, connection, reply, accept),
        Received::Reply(reply) => answer(reply, accept),
        Received::Pending { listening: true, .. } => {
            return subscription(&shared, connection, receiver, accept);
        }
        Received::Pending { cancel_on_close, .. } => {
            let priming = connection.revision().has_priming_event();
            let on_close = cancel_on_close.then(|| OnClose::new(move || connection.close()));
            first_message(&shared, receiver, accept, priming, on_close).await
        }
    };
    response.body_mut().hold_in_flight(in_flight);
    response
}

/// The first outgoing message decides: a response is a JSON body, and anything before it begins a stream.
async fn first_message(
    shared: &Shared,
    receiver: Receiver,
    accept: Accept,
    priming: bool,
    on_close: Option<OnClose>,
) -> Response<Body> {
    loop {
        match receiver.next().await {
            // Cancelled: there is no response.
            None => return body::empty(StatusCode::ACCEPTED),
            Some(Outgoing::Reply(reply)) => return answer(reply, accept),
            Some(Outgoing::News(_)) if !accept.events => {}
            Some(Outgoing::News(text)) => {
                let first = [if priming { PRIMING } else { "" }, &message_event(&text)].concat();
                let held = Held { on_close, ..Held::default() };
                return events(receiver, first, shared.limits().comment_interval, held);
            }
        }
    }
}

/// The stream of a `subscriptions/listen`, which stays open until one of the two sides ends it.
fn subscription(
    shared: &Shared,
    connection: Arc<Connection>,
    receiver: Receiver,
    accept: Accept,
) -> Response<Body> {
    let on_close = OnClose::new(move || connection.close());
    if !accept.events {
        let message = "subscriptions/listen is answered with an event stream: allow text/event-stream in the Accept header";
        return body::error(StatusCode::NOT_ACCEPTABLE, message);
    }
    let limit = shared.limits().max_event_streams;
    let Some(entered) = shared.streams().try_enter(limit) else {
        return body::too_many("event streams", limit);
    };
    let held = Held { entered: Some(entered), on_close: Some(on_close), ..Held::default() };
    events(receiver, String::new(), shared.limits().comment_interval, held)
}

/// One response, in the form that the client can read. An error of the HTTP request is JSON in any case.
fn answer(reply: Reply, accept: Accept) -> Response<Body> {
    if accept.json || body::status(&reply) != StatusCode::OK {
        body::reply(reply)
    } else {
        body::full(StatusCode::OK, "text/event-stream", message_event(&reply.text))
    }
}

/// The result of an `initialize`, with the id of the session that it began.
fn begin_session(
    shared: &Shared,
    connection: Arc<Connection>,
    reply: Reply,
    accept: Accept,
) -> Response<Body> {
    let id = shared.sessions().open(connection, shared.limits());
    match id.and_then(|id| HeaderValue::try_from(id).map_err(std::io::Error::other)) {
        Ok(id) => {
            let mut response = answer(reply, accept);
            response.headers_mut().insert(&SESSION_ID, id);
            response
        }
        Err(error) => body::error(StatusCode::INTERNAL_SERVER_ERROR, &format!("No session id: {error}")),
    }
}

/// The session that the request belongs to, or one of its own.
fn connection(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    envelope: &Envelope,
) -> Result<Arc<Connection>, Response<Body>> {
    match headers.get(&SESSION_ID) {
        // 2026-07-28 has no sessions, and passes over the header.
        Some(id) if !envelope.is_modern() => session(shared, id),
        _ => Ok(Connection::new(shared.clone(), Transport::Http)),
    }
}

pub(crate) fn session(shared: &Arc<Shared>, id: &HeaderValue) -> Result<Arc<Connection>, Response<Body>> {
    let found = id.to_str().ok().and_then(|id| shared.sessions().find(id, shared));
    found.ok_or_else(|| {
        let message = "There is no session of that Mcp-Session-Id: begin a new one with initialize";
        body::error(StatusCode::NOT_FOUND, message)
    })
}

/// Refuses a revision that is not served, where there is no message to answer.
pub(crate) fn check_version(headers: &HeaderMap) -> Result<(), Response<Body>> {
    let refusal = Reply::unknown_version(&Envelope::Http(&HeaderView(headers)));
    refusal.map_or(Ok(()), |reply| Err(body::reply(reply)))
}

/// Reads the body within its limits.
async fn read(headers: &HeaderMap, incoming: Incoming, shared: &Shared) -> Result<Bytes, Response<Body>> {
    check_content_type(headers)?;
    let limits = shared.limits();
    let too_large = || {
        let message = format!(
            "The body is over the limit of {} bytes: send less, or have the app raise Limits::max_message_bytes",
            limits.max_message_bytes
        );
        body::error(StatusCode::PAYLOAD_TOO_LARGE, &message)
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limits.max_message_bytes as u64) {
        return Err(too_large());
    }
    let mut collected = pin!(collect(incoming, limits.max_message_bytes, length));
    // Most bodies come with their head, and need no timer.
    let first_look = std::future::poll_fn(|cx| Poll::Ready(collected.as_mut().poll(cx))).await;
    let collected = match first_look {
        Poll::Ready(collected) => Ok(collected),
        Poll::Pending => tokio::time::timeout(limits.body_timeout, collected).await,
    };
    match collected {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => Err(too_large()),
        Ok(Err(error)) => {
            Err(body::error(StatusCode::BAD_REQUEST, &format!("The body did not arrive whole: {error}")))
        }
        Err(_) => {
            let millis = limits.body_timeout.as_millis();
            let message = format!("The body did not arrive within {millis} ms");
            Err(body::error(StatusCode::REQUEST_TIMEOUT, &message))
        }
    }
}

/// The whole body; `None` when it is longer than `limit`.
async fn collect(
    mut incoming: Incoming,
    limit: usize,
    length: Option<u64>,
) -> Result<Option<Bytes>, hyper::Error> {
    let expected = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut whole = Whole::None;
    while let Some(frame) = std::future::poll_fn(|cx| std::pin::Pin::new(&mut incoming).poll_frame(cx)).await
    {
        let Ok(data) = frame?.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Ok(None);
        }
        whole = match whole {
            Whole::None => Whole::One(data),
            Whole::One(first) => {
                let mut many = BytesMut::with_capacity(expected.max(first.len() + data.len()));
                many.extend_from_slice(&first);
                many.extend_from_slice(&data);
                Whole::Many(many)
            }
            Whole::Many(mut many) => {
                many.extend_from_slice(&data);
                Whole::Many(many)
            }
        };
    }
    Ok(Some(match whole {
        Whole::None => Bytes::new(),
        Whole::One(one) => one,
        Whole::Many(many) => many.freeze(),
    }))
}

/// A body as far as it has come. Most come in one piece, which is not copied.
enum Whole {
    None,
    One(Bytes),
    Many(BytesMut),
}

impl Whole {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(one) => one.len(),
            Self::Many(many) => many.len(),
        }
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Response<Body>> {
    let given = headers.get(CONTENT_TYPE);
    if given.is_some_and(|value| value == "application/json") {
        return Ok(());
    }
    let given = given.map(|value| String::from_utf8_lossy(value.as_bytes()));
    let media = given.as_deref().and_then(|value| value.split(';').next()).unwrap_or("").trim();
    if media.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let given = given.unwrap_or(Cow::Borrowed("missing"));
    let message = format!("The Content-Type is {given:?}; expected application/json");
    Err(body::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message))
}
