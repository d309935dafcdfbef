//! GET: the event streams. One of a session, one of HTTP+SSE (2024-11-05), and `/mcp/events`.

use std::sync::Arc;

use hyper::header::HeaderValue;
use hyper::{Response, StatusCode};

use super::body::{self, Body};
use super::events::{Held, OnClose, PRIMING, events};
use super::http::session;
use crate::connection::{Connection, Kind, outbox};
use crate::listener::{Entered, Link};
use crate::server::Shared;
use crate::tools::Transport;

fn enter(shared: &Shared) -> Result<Entered, Response<Body>> {
    let limit = shared.limits().max_event_streams;
    shared.streams().try_enter(limit).ok_or_else(|| body::too_many("event streams", limit))
}

/// `GET /mcp` with a session: what the server says without being asked.
pub(crate) fn of_session(shared: &Arc<Shared>, link: &Arc<Link>, id: &HeaderValue) -> Response<Body> {
    let opened = session(shared, id).and_then(|connection| Ok((connection, enter(shared)?)));
    let (connection, entered) = match opened {
        Ok(opened) => opened,
        Err(refused) => return refused,
    };
    let (sender, receiver) = outbox(shared.limits(), Some(link.clone()));
    let first = if connection.revision().has_priming_event() { PRIMING } else { "" };
    let seat = shared.hub().join(Kind::SessionStream, sender, Some(connection));
    let held = Held { seat: Some(seat), entered: Some(entered), ..Held::default() };
    events(receiver, first.to_owned(), shared.limits().comment_interval, held)
}

/// `GET /sse`: the transport of 2024-11-05. The first event says where to POST; all responses come here.
pub(crate) fn http_sse(shared: &Arc<Shared>, link: &Arc<Link>) -> Response<Body> {
    let entered = match enter(shared) {
        Ok(entered) => entered,
        Err(refused) => return refused,
    };
    let connection = Connection::new(shared.clone(), Transport::HttpSse);
    let (sender, receiver) = outbox(shared.limits(), Some(link.clone()));
    let id = match shared.sessions().open_stream(connection.clone(), sender.clone()) {
        Ok(id) => id,
        Err(error) => {
            return body::error(StatusCode::INTERNAL_SERVER_ERROR, &format!("No session id: {error}"));
        }
    };
    // A path without a host: it is right whichever port the client came through.
    let first = format!("event: endpoint\ndata: /mcp/message?sessionId={id}\n\n");
    let seat = shared.hub().join(Kind::Stream, sender, Some(connection));
    let server = shared.clone();
    let on_close = OnClose::new(move || server.sessions().close_stream(&id));
    let held = Held { seat: Some(seat), entered: Some(entered), on_close: Some(on_close) };
    events(receiver, first, shared.limits().comment_interval, held)
}

/// `GET /mcp/events`: broadcasts and list changes, for whoever wants to watch.
pub(crate) fn all_events(shared: &Arc<Shared>, link: &Arc<Link>) -> Response<Body> {
    let entered = match enter(shared) {
        Ok(entered) => entered,
        Err(refused) => return refused,
    };
    let (sender, receiver) = outbox(shared.limits(), Some(link.clone()));
    let seat = shared.hub().join(Kind::Events, sender, None);
    let held = Held { seat: Some(seat), entered: Some(entered), ..Held::default() };
    events(receiver, String::new(), shared.limits().comment_interval, held)
}
