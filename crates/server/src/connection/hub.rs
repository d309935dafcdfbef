//! Everybody who listens: WebSockets, event streams and subscriptions, and what goes to all of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::Connection;
use super::outbox::{End, Sender};

/// What a listener gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A WebSocket, or the stream of HTTP+SSE: the connection's only stream.
    Stream,
    /// A stream of an HTTP session, which may have several: only the newest one gets anything
    /// (MCP 2025-11-25, transports, "Multiple Connections").
    SessionStream,
    /// `/mcp/events`: no connection behind it, only what goes to all.
    Events,
    /// The response of a `subscriptions/listen` over HTTP: only what it asked for.
    Subscription,
}

struct Listener {
    key: u64,
    kind: Kind,
    sender: Sender,
    connection: Option<Arc<Connection>>,
}

impl Listener {
    fn shares_connection(&self, other: &Self) -> bool {
        match (&self.connection, &other.connection) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

#[derive(Default)]
struct Listeners {
    all: Vec<Listener>,
    next: u64,
}

impl Listeners {
    /// Those that get what nobody asked for. The newest stream of a session stands last.
    fn unasked(&self) -> impl Iterator<Item = &Listener> {
        self.all.iter().enumerate().filter_map(|(index, listener)| {
            let newer = || {
                self.all[index + 1..]
                    .iter()
                    .any(|newer| newer.kind == Kind::SessionStream && newer.shares_connection(listener))
            };
            let gets = match listener.kind {
                Kind::Stream | Kind::Events => true,
                Kind::SessionStream => !newer(),
                Kind::Subscription => false,
            };
            gets.then_some(listener)
        })
    }
}

/// All listeners.
#[derive(Default)]
pub(crate) struct Hub(Mutex<Listeners>);

/// A listener's place in the hub, which it leaves on drop.
pub(crate) struct Seat {
    hub: Weak<Hub>,
    key: u64,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(hub) = self.hub.upgrade() else { return };
        let left = {
            let mut listeners = hub.lock();
            let index = listeners.all.iter().position(|listener| listener.key == self.key);
            index.map(|index| listeners.all.remove(index))
        };
        // Its connection may go with it, and that must not happen under the lock.
        drop(left);
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[must_use]
    pub(crate) fn join(
        self: &Arc<Self>,
        kind: Kind,
        sender: Sender,
        connection: Option<Arc<Connection>>,
    ) -> Seat {
        let mut listeners = self.lock();
        listeners.next += 1;
        let key = listeners.next;
        listeners.all.push(Listener { key, kind, sender, connection });
        Seat { hub: Arc::downgrade(self), key }
    }

    /// Queues `text` for everybody but subscriptions, in one order for all. Returns for how many.
    pub(crate) fn broadcast(&self, text: &Utf8Bytes) -> usize {
        self.lock().unasked().filter(|listener| listener.sender.news(text.clone())).count()
    }

    /// Tells everybody that the tools have changed, in the way of each one's revision.
    pub(crate) fn tools_changed(&self) {
        // Not under the lock: a connection's state is locked by those who join, too. Who joins from here on
        // sees the changed tools anyway.
        let listeners: Vec<_> = {
            let listeners = self.lock();
            let subscriptions = listeners.all.iter().filter(|listener| listener.kind == Kind::Subscription);
            let all = listeners.unasked().chain(subscriptions);
            all.map(|listener| (listener.kind, listener.sender.clone(), listener.connection.clone()))
                .collect()
        };
        for (kind, sender, connection) in listeners {
            for text in Connection::tools_list_changed(connection.as_deref(), kind != Kind::Subscription) {
                sender.news(text.into());
            }
        }
    }

    /// Ends the streams of one session.
    pub(crate) fn end_session(&self, connection: &Arc<Connection>) {
        let is_of =
            |listener: &&Listener| listener.connection.as_ref().is_some_and(|c| Arc::ptr_eq(c, connection));
        self.lock().all.iter().filter(is_of).for_each(|listener| listener.sender.end(End::Finished));
    }

    /// Ends every stream, as the server does when it stops: subscriptions first get their response.
    pub(crate) fn end(&self) {
        let listeners: Vec<_> = {
            let listeners = self.lock();
            listeners.all.iter().map(|l| (l.sender.clone(), l.connection.clone())).collect()
        };
        for (sender, connection) in listeners {
            for text in connection.iter().flat_map(|connection| connection.end_subscriptions()) {
                sender.news(text.into());
            }
            sender.end(End::GoingAway);
        }
    }
}
