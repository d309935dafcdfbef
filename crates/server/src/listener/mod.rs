//! Accepts connections on all listeners, counts them, and hands each one to its transport. It ends them all
//! when the server stops. It reads nothing of what they say.

mod gauge;
mod ports;
mod refusal;
mod wire;

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::TcpListener;
#[cfg(any(target_os = "android", target_os = "linux"))]
use tokio::net::UnixListener;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub(crate) use gauge::{Entered, Gauge};
pub use ports::Ports;
pub(crate) use ports::{Addresses, Bound, adopt, bind};
pub(crate) use refusal::error_body;
pub(crate) use wire::{Busy, Link, Stream, Wire};

use crate::server::Shared;
use crate::transport;

/// How long calls in flight get when the server stops.
const GRACE: Duration = Duration::from_secs(1);
/// How long the ends of streams and WebSockets get to reach their clients.
const FAREWELL: Duration = Duration::from_millis(500);
/// Connections over the limit that are told so at the same time; any more are just closed.
const MAX_REFUSALS: usize = 64;

enum Listener {
    Tcp(TcpListener),
    #[cfg(any(target_os = "android", target_os = "linux"))]
    Local(UnixListener),
}

impl Listener {
    fn poll_accept(&self, cx: &mut Context) -> Poll<io::Result<Stream>> {
        match self {
            Self::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| {
                // Replies are small and wanted at once. A socket that refuses this is closing anyway.
                _ = stream.set_nodelay(true);
                Stream::Tcp(stream)
            }),
            #[cfg(any(target_os = "android", target_os = "linux"))]
            Self::Local(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| Stream::Local(stream)),
        }
    }
}

/// Makes tokio's listeners of sockets that are bound. Must run inside the runtime.
fn listeners(bound: Bound) -> io::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for listener in bound.tcp {
        listener.set_nonblocking(true)?;
        listeners.push(Listener::Tcp(TcpListener::from_std(listener)?));
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(listener) = bound.local {
        listener.set_nonblocking(true)?;
        listeners.push(Listener::Local(UnixListener::from_std(listener)?));
    }
    Ok(listeners)
}

/// Serves until `shutdown`, then ends everything: within 2 s, unless a handler holds the thread.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    bound: Bound,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut listeners = listeners(bound)?;
    let mut connections = JoinSet::new();
    let refusals = Gauge::default();
    tokio::pin!(shutdown);
    while !listeners.is_empty() {
        tokio::select! {
            () = &mut shutdown => break,
            (index, accepted) = accept(&listeners) => match accepted {
                Ok(stream) => admit(&shared, stream, &mut connections, &refusals),
                Err(error) => not_accepted(&error, index, &mut listeners).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    if listeners.is_empty() {
        // Nobody can come any more, but who is here is served on.
        shutdown.await;
    }
    drop(listeners);
    // A time-out here means that some did not make it, and they are cut off below.
    _ = timeout(GRACE, shared.in_flight().zero()).await;
    shared.hub().end();
    _ = timeout(FAREWELL, async { tokio::join!(shared.streams().zero(), shared.websockets().zero()) }).await;
    shared.sessions().end();
    connections.shutdown().await;
    Ok(())
}

/// The next connection on any of the listeners, and on which.
async fn accept(listeners: &[Listener]) -> (usize, io::Result<Stream>) {
    std::future::poll_fn(|cx| {
        for (index, listener) in listeners.iter().enumerate() {
            if let Poll::Ready(accepted) = listener.poll_accept(cx) {
                return Poll::Ready((index, accepted));
            }
        }
        Poll::Pending
    })
    .await
}

/// A connection that was gone again, too many open files, or a listener that the system took away.
async fn not_accepted(error: &io::Error, index: usize, listeners: &mut Vec<Listener>) {
    if error.kind() == io::ErrorKind::InvalidInput {
        tracing::error!("a listener does not accept any more: {error}");
        listeners.swap_remove(index);
    } else {
        tracing::warn!("cannot accept a connection: {error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn admit(shared: &Arc<Shared>, stream: Stream, connections: &mut JoinSet<()>, refusals: &Gauge) {
    let limits = shared.limits();
    let refusal = match check_peer(&stream) {
        Err(uid) => refusal::foreign_peer(uid),
        Ok(()) => match shared.connections().try_enter(limits.max_connections) {
            Some(entered) => {
                connections.spawn(transport::serve_connection(shared.clone(), stream, entered));
                return;
            }
            None => refusal::too_many_connections(limits.max_connections),
        },
    };
    if let Some(entered) = refusals.try_enter(MAX_REFUSALS) {
        connections.spawn(async move {
            let _entered = entered;
            refusal::refuse(stream, refusal).await;
        });
    }
}

/// Refuses a local peer that is none of root, shell and the app itself, with its uid if that is known.
fn check_peer(stream: &Stream) -> Result<(), Option<u32>> {
    match stream {
        Stream::Tcp(_) => Ok(()),
        #[cfg(any(target_os = "android", target_os = "linux"))]
        Stream::Local(stream) => {
            let uid = stream.peer_cred().ok().map(|cred| cred.uid());
            let allowed = uid.is_some_and(|uid| is_allowed(uid, crate::platform::own_uid()));
            if allowed { Ok(()) } else { Err(uid) }
        }
    }
}

/// Root, the shell (which adb runs as), and the app itself.
#[cfg(any(target_os = "android", target_os = "linux"))]
fn is_allowed(uid: u32, own: Option<u32>) -> bool {
    uid == 0 || uid == 2000 || Some(uid) == own
}

#[cfg(all(test, any(target_os = "android", target_os = "linux")))]
mod tests {
    use super::*;

    #[test]
    fn the_local_socket_is_for_root_the_shell_and_the_app() {
        assert!(is_allowed(0, Some(10_123)));
        assert!(is_allowed(2000, Some(10_123)));
        assert!(is_allowed(10_123, Some(10_123)));
        assert!(!is_allowed(10_124, Some(10_123)));
        assert!(!is_allowed(10_124, None));
    }
}
