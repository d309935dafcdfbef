//! One run of the server, from a start to its end: where it listens, how it is told to stop, and its end to wait
//! for. It knows no connection and no tool.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tokio::runtime::{self, Handle, Runtime};
use tokio::sync::oneshot::{self, error::TryRecvError};

use crate::builder::Config;
use crate::listener::Addresses;
use crate::status::Started;

/// `stop` returns within this time, whatever handlers do.
const STOP_TIMEOUT: Duration = Duration::from_millis(1950);

/// A server that runs.
pub(crate) struct Run {
    pub(crate) addresses: Addresses,
    pub(crate) started: Started,
    stop: oneshot::Sender<()>,
    ending: Ending,
}

impl Run {
    /// A run that begins now on that runtime, and the side of it that serves.
    pub(crate) fn begin(addresses: Addresses, runtime: runtime::Id) -> (Self, Serving) {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let ending = Ending { runtime, ended };
        (Self { addresses, started: Started::now(), stop, ending }, Serving { stopped, _end: end })
    }

    /// Tells it to stop. Gives its end, which is still to come.
    pub(crate) fn stop(self) -> Ending {
        // The other side is gone only when the server has ended by itself.
        _ = self.stop.send(());
        self.ending
    }
}

/// The end of a run.
pub(crate) struct Ending {
    runtime: runtime::Id,
    /// The other side is dropped at the end.
    ended: mpsc::Receiver<()>,
}

impl Ending {
    /// Whether the caller is a handler, or else runs where the server does: it would wait for itself.
    pub(crate) fn is_here(&self) -> bool {
        Handle::try_current().is_ok_and(|current| current.id() == self.runtime)
    }

    /// Waits for the end, for as long as a stop may take.
    pub(crate) fn has_come(&self) -> bool {
        self.ended.recv_timeout(STOP_TIMEOUT) != Err(RecvTimeoutError::Timeout)
    }
}

/// The side of a run that serves, dropped at its end.
pub(crate) struct Serving {
    stopped: oneshot::Receiver<()>,
    _end: mpsc::Sender<()>,
}

impl Serving {
    /// Returns when it is told to stop.
    pub(crate) async fn stopped(&mut self) {
        // An error means that the run was dropped, which is the same.
        _ = (&mut self.stopped).await;
    }

    /// Whether it was told to stop by now.
    pub(crate) fn is_stopped(&mut self) -> bool {
        self.stopped.try_recv() != Err(TryRecvError::Empty)
    }
}

/// The server's own runtime.
pub(crate) fn runtime(config: &Config) -> io::Result<Runtime> {
    builder(config)
        .enable_io()
        .enable_time()
        .max_blocking_threads(config.limits.max_blocking_threads)
        .thread_keep_alive(Duration::from_secs(2))
        .build()
}

#[cfg(feature = "multi-thread")]
fn builder(config: &Config) -> runtime::Builder {
    if config.worker_threads <= 1 {
        return runtime::Builder::new_current_thread();
    }
    let mut builder = runtime::Builder::new_multi_thread();
    builder.worker_threads(config.worker_threads).thread_name("jumpseat-worker");
    builder
}

#[cfg(not(feature = "multi-thread"))]
fn builder(_config: &Config) -> runtime::Builder {
    runtime::Builder::new_current_thread()
}
