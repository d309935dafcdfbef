//! HTTP: who may come, which route a request takes, and the upgrade to WebSocket. It knows no MCP method.

mod body;
mod events;
mod http;
mod origin;
mod page;
mod streams;
mod websocket;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, CONNECTION, HeaderMap, HeaderValue,
    ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
    VARY,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use self::body::Body;
use self::http::SESSION_ID;
pub(crate) use self::origin::Allowed;
use crate::listener::{Entered, Link, Stream, Wire};
use crate::server::Shared;

/// Serves one connection to its end.
pub(crate) async fn serve_connection(shared: Arc<Shared>, stream: Stream, _entered: Entered) {
    let link = Arc::new(Link::default());
    let wire = Wire::new(stream, link.clone(), shared.limits());
    let Some((mut wire, read, upgraded)) = serve_http(&shared, wire, &link).await else { return };
    if upgraded {
        wire.upgrade();
        websocket::serve(shared, wire, read.to_vec()).await;
    } else {
        // A peer that does not close within a second has had its time.
        _ = tokio::time::timeout(Duration::from_secs(1), wire.end()).await;
    }
}

/// Serves HTTP until the connection ends or becomes a WebSocket, and gives back the bytes' stream and what
/// was read of it already; `None` when it failed or was cut off.
async fn serve_http(
    shared: &Arc<Shared>,
    wire: Wire,
    link: &Arc<Link>,
) -> Option<(Wire, bytes::Bytes, bool)> {
    let upgraded = AtomicBool::new(false);
    let service = service_fn(async |request| {
        let busy = link.begin();
        let mut response = route(shared, link, request).await;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            upgraded.store(true, Ordering::Relaxed);
        }
        response.body_mut().hold_busy(busy);
        Ok::<_, Infallible>(response)
    });
    let mut http = http1::Builder::new();
    http.max_buf_size(buffer_size(shared));
    // In a box, so that a WebSocket does not carry it on.
    let connection = Box::pin(http.serve_connection(TokioIo::new(wire), service).without_shutdown());
    let served = tokio::select! {
        biased;
        () = link.cut_off() => return None,
        served = connection => served,
    };
    match served {
        Ok(parts) => Some((parts.io.into_inner(), parts.read_buf, upgraded.load(Ordering::Relaxed))),
        Err(error) => {
            tracing::debug!("a connection ended: {error}");
            None
        }
    }
}

/// Room for a head that is over the limit, so that it is refused with a word; and for bodies to come in
/// large pieces.
fn buffer_size(shared: &Shared) -> usize {
    (shared.limits().max_head_bytes * 2).max(512 << 10)
}

async fn route(shared: &Arc<Shared>, link: &Arc<Link>, request: Request<Incoming>) -> Response<Body> {
    if let Err(reason) = origin::check(&request, shared.allowed()) {
        return body::error(StatusCode::FORBIDDEN, &reason);
    }
    let limit = shared.limits().max_head_bytes;
    if head_bytes(&request) > limit {
        let message = format!("The head of the request is over the limit of {limit} bytes");
        return body::error(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, &message);
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = match (request.uri().path(), request.method()) {
        _ if origin.is_some() && *request.method() == Method::OPTIONS => preflight(request.headers()),
        ("/mcp", &Method::POST) => http::post(shared.clone(), link, request).await,
        ("/mcp", &Method::GET) => get_mcp(shared, link, &request),
        ("/mcp", &Method::DELETE) => delete(shared, request.headers()),
        ("/mcp", _) => body::method_not_allowed("GET, POST, DELETE"),
        ("/mcp/message", &Method::POST) => http::post_message(shared.clone(), link, request).await,
        ("/mcp/message", _) => body::method_not_allowed("POST"),
        ("/mcp/events", &Method::GET) => streams::all_events(shared, link),
        ("/sse", &Method::GET) => streams::http_sse(shared, link),
        ("/mcp/events" | "/sse", _) => body::method_not_allowed("GET"),
        ("/mcp/status", &Method::GET | &Method::HEAD) => status(shared),
        ("/", &Method::GET | &Method::HEAD) => page::page(shared),
        ("/mcp/status" | "/", _) => body::method_not_allowed("GET, HEAD"),
        (path, _) => body::error(StatusCode::NOT_FOUND, &format!("There is no {path} here. {PATHS}")),
    };
    if let Some(origin) = origin {
        share_with(&mut response, origin);
    }
    response
}

const PATHS: &str =
    "The paths are /mcp (POST, GET, DELETE, WebSocket), /mcp/message, /mcp/events, /mcp/status, /sse and /";

/// The bytes of the request line and the header lines.
fn head_bytes<B>(request: &Request<B>) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let line = request.method().as_str().len() + target + " HTTP/1.1\r\n ".len();
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    line + headers.sum::<usize>() + 2
}

fn get_mcp(shared: &Arc<Shared>, link: &Arc<Link>, request: &Request<Incoming>) -> Response<Body> {
    let headers = request.headers();
    if headers.get(UPGRADE).is_some_and(|value| has_token(value, "websocket")) {
        return upgrade(headers);
    }
    if !http::wants_events(headers) {
        return status(shared);
    }
    let Some(id) = headers.get(&SESSION_ID) else { return streams::http_sse(shared, link) };
    match http::check_version(headers) {
        Ok(()) => streams::of_session(shared, link, id),
        Err(refused) => refused,
    }
}

fn delete(shared: &Arc<Shared>, headers: &HeaderMap) -> Response<Body> {
    let Some(id) = headers.get(&SESSION_ID) else {
        let message = "Which session? Name it in the header Mcp-Session-Id";
        return body::error(StatusCode::BAD_REQUEST, message);
    };
    if let Err(refused) = http::check_version(headers) {
        return refused;
    }
    if id.to_str().is_ok_and(|id| shared.sessions().delete(id, shared)) {
        body::empty(StatusCode::NO_CONTENT)
    } else {
        body::error(StatusCode::NOT_FOUND, "There is no session of that Mcp-Session-Id")
    }
}

fn status(shared: &Shared) -> Response<Body> {
    match serde_json::to_vec(&shared.transport_info()) {
        Ok(json) => body::json(StatusCode::OK, json),
        Err(error) => body::error(StatusCode::INTERNAL_SERVER_ERROR, &format!("No status: {error}")),
    }
}

/// 101, or what is wrong with the handshake (RFC 6455, 4.2).
fn upgrade(headers: &HeaderMap) -> Response<Body> {
    let token = |name, token| headers.get_all(name).iter().any(|value| has_token(value, token));
    if !token(CONNECTION, "upgrade") {
        return body::error(
            StatusCode::BAD_REQUEST,
            "A WebSocket handshake has the header Connection: Upgrade",
        );
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let response = body::error(
            StatusCode::UPGRADE_REQUIRED,
            "A WebSocket handshake has the header Sec-WebSocket-Version: 13",
        );
        return body::with_header(response, SEC_WEBSOCKET_VERSION, "13");
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    let accept = key.map(|key| HeaderValue::try_from(derive_accept_key(key.as_bytes())));
    let Some(Ok(accept)) = accept else {
        let message = "A WebSocket handshake has the header Sec-WebSocket-Key: 16 bytes in Base64";
        return body::error(StatusCode::BAD_REQUEST, message);
    };
    let mut response = body::empty(StatusCode::SWITCHING_PROTOCOLS);
    let answer = response.headers_mut();
    answer.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if token(SEC_WEBSOCKET_PROTOCOL, "mcp") {
        answer.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("mcp"));
    }
    response
}

fn has_token(value: &HeaderValue, token: &str) -> bool {
    value.to_str().is_ok_and(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(token)))
}

/// What a browser asks before it lets a page POST. The origin has been checked, so it gets the headers that it
/// asks for: those of MCP are no closed list (`Mcp-Param-…`).
fn preflight(asked: &HeaderMap) -> Response<Body> {
    let mut response = body::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    response
}

/// Lets the page that asked read the response, by its name: nobody else.
fn share_with(response: &mut Response<Body>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id"));
    headers.insert(VARY, HeaderValue::from_static("Origin"));
}
