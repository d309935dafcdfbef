//! What a handler is given beside its arguments, and the state of a call that it shares with the server.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll};

use jumpseat_proto::{CallResult, Implementation, Progress};
use tokio::sync::Notify;

use super::ToolError;
use crate::connection::Sender;

/// What a handler returns.
pub(crate) type Handled = Result<CallResult, ToolError>;

/// A call at work: what it returns, or what it panicked with.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Handled, Box<dyn Any + Send>>> + Send>>;

/// What a handler did when it was started, by its kind.
pub(crate) enum Started {
    /// An inline handler has run.
    Done(Handled),
    /// A blocking handler is to run on the blocking pool.
    Blocking(Box<dyn FnOnce() -> Handled + Send>),
    /// An async handler is to be awaited.
    Async(Pin<Box<dyn Future<Output = Handled> + Send>>),
}

/// A failed tool is a result that the model reads.
pub(crate) fn result(handled: Handled) -> CallResult {
    handled.unwrap_or_else(|error| CallResult::text(error.to_string()).error())
}

/// Turns a panic of a future into its output.
pub(crate) struct CatchUnwind(pub(crate) Pin<Box<dyn Future<Output = Handled> + Send>>);

impl Future for CatchUnwind {
    type Output = Result<Handled, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context) -> Poll<Self::Output> {
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

/// How a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// A WebSocket.
    WebSocket,
    /// Streamable HTTP, or a plain POST.
    Http,
    /// The HTTP+SSE transport of 2024-11-05.
    HttpSse,
}

/// Who called a tool.
#[derive(Clone, Debug)]
pub struct Caller {
    /// How the call came in.
    pub transport: Transport,
    /// The client's own name and version, if it said them. Nobody has checked them.
    pub client: Option<Implementation>,
    /// The revision of MCP that the call was made in, such as `2025-11-25`.
    pub revision: &'static str,
}

/// A call's state, shared by the handler, the connection and the task that it runs in.
pub(crate) struct CallState {
    caller: Caller,
    cancelled: AtomicBool,
    stopped: Notify,
    progress: Option<Progress>,
    /// Where progress and the response go; `None` once the call has ended.
    out: Mutex<Out>,
}

struct Out {
    sender: Option<Sender>,
    last_progress: f64,
}

impl CallState {
    pub(crate) fn new(caller: Caller, progress: Option<Progress>, sender: Sender) -> Self {
        Self {
            caller,
            cancelled: AtomicBool::new(false),
            stopped: Notify::new(),
            progress,
            out: Mutex::new(Out { sender: Some(sender), last_progress: f64::NEG_INFINITY }),
        }
    }

    /// Tells the handler that nobody waits for it.
    pub(crate) fn stop(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.stopped.notify_waiters();
    }

    /// Where its response goes; `None` once it has ended.
    pub(crate) fn sender(&self) -> Option<Sender> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).sender.clone()
    }

    /// From here on nothing is sent for this call, but what the caller of this sends itself.
    pub(crate) fn end(&self) -> Option<Sender> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).sender.take()
    }

    pub(crate) async fn cancelled(&self) {
        let stopped = self.stopped.notified();
        tokio::pin!(stopped);
        // Registered before the flag is read, so that no notification is missed in between.
        stopped.as_mut().enable();
        if !self.cancelled.load(Ordering::Acquire) {
            stopped.await;
        }
    }
}

/// What a handler can do besides returning: report progress, see that it was cancelled, see who called.
#[derive(Clone)]
pub struct Context(pub(crate) Arc<CallState>);

impl Context {
    /// Reports progress to a client that asked for it; otherwise nothing happens.
    ///
    /// `progress` and `total` are in the same unit, whichever it is. MCP wants `progress` to grow, so a value
    /// that is not above the last one is not sent. Nor is one that the client could not take in time.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(reporter) = &self.0.progress else { return };
        let mut out = self.0.out.lock().unwrap_or_else(PoisonError::into_inner);
        if progress <= out.last_progress || !progress.is_finite() {
            return;
        }
        out.last_progress = progress;
        if let Some(sender) = &out.sender {
            sender.droppable(reporter.notification(progress, total, message).into());
        }
    }

    /// Whether the client has cancelled the call, or its deadline has passed: nobody reads the result.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Returns when the call is cancelled. An async handler is dropped then anyway.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }

    /// Who called.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Context").field("caller", &self.0.caller).finish_non_exhaustive()
    }
}
