//! The sessions of HTTP clients, by their ids. It is a cache: an id describes its session, so one that is not
//! here is restored, unless it was deleted.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jumpseat_proto::{Session, SessionId};

use super::Connection;
use super::outbox::Sender;
use crate::limits::Limits;
use crate::server::Shared;
use crate::tools::Transport;

/// Ids of deleted sessions are remembered up to this many.
const MAX_DELETED: usize = 4096;

struct Known {
    connection: Arc<Connection>,
    used: Instant,
}

#[derive(Default)]
struct Table {
    known: HashMap<String, Known>,
    deleted: VecDeque<String>,
    /// The streams of HTTP+SSE, which live as long as their GET request.
    streams: HashMap<String, (Arc<Connection>, Sender)>,
}

/// The sessions of one server.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Table>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().known.len()
    }

    /// Takes a session in that has just done its handshake, and gives its id.
    pub(crate) fn open(&self, connection: Arc<Connection>, limits: &Limits) -> io::Result<String> {
        let id = connection.session_id(random()?);
        self.lock().insert(id.clone(), connection, limits);
        Ok(id)
    }

    /// The session of that id; `None` when it is not an id of ours, or was deleted.
    pub(crate) fn find(&self, id: &str, shared: &Arc<Shared>) -> Option<Arc<Connection>> {
        let mut table = self.lock();
        if let Some(known) = table.known.get_mut(id) {
            known.used = Instant::now();
            return Some(known.connection.clone());
        }
        if table.deleted.iter().any(|deleted| deleted == id) {
            return None;
        }
        let session = Session::restore(SessionId::parse(id)?, shared.limits().max_in_flight);
        let connection = Connection::with_session(shared.clone(), Transport::Http, session);
        table.insert(id.to_owned(), connection.clone(), shared.limits());
        Some(connection)
    }

    /// Ends a session; `false` when there is none of that id.
    pub(crate) fn delete(&self, id: &str, shared: &Arc<Shared>) -> bool {
        let Some(connection) = self.find(id, shared) else { return false };
        let mut table = self.lock();
        table.known.remove(id);
        if table.deleted.len() >= MAX_DELETED {
            table.deleted.pop_front();
        }
        table.deleted.push_back(id.to_owned());
        drop(table);
        shared.hub().end_session(&connection);
        connection.close();
        true
    }

    /// The server stops: nothing is in flight any more. Sessions come back by their ids.
    pub(crate) fn end(&self) {
        let (known, streams) = {
            let mut table = self.lock();
            (std::mem::take(&mut table.known), std::mem::take(&mut table.streams))
        };
        let known = known.into_values().map(|known| known.connection);
        for connection in known.chain(streams.into_values().map(|(connection, _)| connection)) {
            connection.close();
        }
    }

    /// Takes in a stream of HTTP+SSE, and gives the id that its messages name it by.
    pub(crate) fn open_stream(&self, connection: Arc<Connection>, sender: Sender) -> io::Result<String> {
        let id = format!("{:032x}", random()?);
        self.lock().streams.insert(id.clone(), (connection, sender));
        Ok(id)
    }

    pub(crate) fn stream(&self, id: &str) -> Option<(Arc<Connection>, Sender)> {
        self.lock().streams.get(id).map(|(connection, sender)| (connection.clone(), sender.clone()))
    }

    pub(crate) fn close_stream(&self, id: &str) {
        let closed = self.lock().streams.remove(id);
        if let Some((connection, _)) = &closed {
            connection.close();
        }
    }
}

impl Table {
    fn insert(&mut self, id: String, connection: Arc<Connection>, limits: &Limits) {
        if self.known.len() >= limits.max_sessions {
            self.known.retain(|_, known| known.used.elapsed() < limits.session_idle);
        }
        while self.known.len() >= limits.max_sessions.max(1) {
            // One that something refers to (a call, a stream) is worth more than one that is only remembered.
            let oldest =
                self.known.iter().min_by_key(|(_, k)| (Arc::strong_count(&k.connection) > 1, k.used));
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { break };
            self.known.remove(&id);
        }
        self.known.insert(id, Known { connection, used: Instant::now() });
    }
}

fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
    Ok(u128::from_ne_bytes(bytes))
}
