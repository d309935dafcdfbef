//! The byte stream of one connection, and the time that it may take over a request's head.
//!
//! `hyper` has one time-out for the head and for waiting between requests; these are two here. It also
//! refuses a malformed head without a body; the refusal gets one here.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
#[cfg(any(target_os = "android", target_os = "linux"))]
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use super::refusal;
use crate::limits::Limits;

/// What the connection, the requests on it and those who push to it share.
#[derive(Default)]
pub(crate) struct Link {
    /// Requests that have begun.
    begun: AtomicUsize,
    /// Requests that are being answered.
    busy: AtomicUsize,
    /// Whether bytes have come that belong to no request yet.
    heard: AtomicBool,
    cut: Notify,
}

impl Link {
    /// Notes that a request is being answered until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Busy {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.heard.store(false, Ordering::Relaxed);
        Busy(self.clone())
    }

    fn waits_for(&self) -> Waiting {
        if self.busy.load(Ordering::Relaxed) > 0 {
            Waiting::Response
        } else if self.heard.load(Ordering::Relaxed) || self.begun.load(Ordering::Relaxed) == 0 {
            Waiting::Head
        } else {
            Waiting::Next
        }
    }

    /// Ends the connection, wherever it is stuck.
    pub(crate) fn cut(&self) {
        self.cut.notify_one();
    }

    pub(crate) async fn cut_off(&self) {
        self.cut.notified().await;
    }
}

/// A request is being answered.
pub(crate) struct Busy(Arc<Link>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
        // What came since it began was its body.
        self.0.heard.store(false, Ordering::Relaxed);
    }
}

/// A connection that was accepted.
pub(crate) enum Stream {
    Tcp(TcpStream),
    #[cfg(any(target_os = "android", target_os = "linux"))]
    Local(UnixStream),
}

/// What a connection waits for while it reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// The rest of a head, or the first one.
    Head,
    /// The next request.
    Next,
    /// The response to a request, which has its own limits.
    Response,
}

pub(crate) struct Wire {
    stream: Stream,
    link: Arc<Link>,
    head_timeout: Duration,
    idle_timeout: Duration,
    /// Requests that had begun when bytes were last waited for.
    seen: usize,
    waiting: Option<(Waiting, Instant)>,
    /// Fires at a deadline, or before: it is set back only when it has fired, since most waits are short.
    timer: Option<Pin<Box<Sleep>>>,
    /// A refusal of ours on its way, in the place of one of `hyper`'s.
    refusing: Vec<u8>,
    is_upgraded: bool,
}

impl Wire {
    pub(crate) fn new(stream: Stream, link: Arc<Link>, limits: &Limits) -> Self {
        Self {
            stream,
            link,
            head_timeout: limits.head_timeout,
            idle_timeout: limits.idle_timeout,
            seen: 0,
            waiting: None,
            timer: None,
            refusing: Vec::new(),
            is_upgraded: false,
        }
    }

    /// From here on it is no HTTP any more, and nothing is timed.
    pub(crate) fn upgrade(&mut self) {
        self.is_upgraded = true;
        self.timer = None;
    }

    /// Ends the connection, and reads what the peer still sends, such as the rest of a body that was refused. With
    /// bytes left unread, the system would end it with a reset, and the peer might never see what was written.
    pub(crate) async fn end(&mut self) -> io::Result<()> {
        self.shutdown().await?;
        let mut rest = vec![0; 4 << 10];
        while self.read(&mut rest).await? > 0 {}
        Ok(())
    }

    /// What took too much time; the task is woken when something has.
    fn poll_timed_out(&mut self, cx: &mut Context) -> Poll<Waiting> {
        if self.is_upgraded {
            return Poll::Pending;
        }
        let begun = self.link.begun.load(Ordering::Relaxed);
        if begun != self.seen {
            (self.seen, self.waiting) = (begun, None);
        }
        let waits_for = self.link.waits_for();
        loop {
            let since = match self.waiting {
                Some((what, since)) if what == waits_for => since,
                _ => Instant::now(),
            };
            self.waiting = Some((waits_for, since));
            let deadline = since
                + match waits_for {
                    Waiting::Head => self.head_timeout,
                    Waiting::Next | Waiting::Response => self.idle_timeout,
                };
            let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
            if timer.deadline() > deadline {
                timer.as_mut().reset(deadline);
            }
            ready!(timer.as_mut().poll(cx));
            if timer.deadline() < deadline {
                timer.as_mut().reset(deadline);
            } else if waits_for == Waiting::Response {
                // `hyper` does not read again when the response is done, so it is looked at now and then.
                self.waiting = None;
            } else {
                return Poll::Ready(waits_for);
            }
        }
    }

    fn stream(&mut self) -> Pin<&mut dyn Duplex> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream),
            #[cfg(any(target_os = "android", target_os = "linux"))]
            Stream::Local(stream) => Pin::new(stream),
        }
    }
}

trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context, buf: &mut ReadBuf) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = self.stream().poll_read(cx, buf);
        if polled.is_ready() {
            if buf.filled().len() > before {
                self.link.heard.store(true, Ordering::Relaxed);
            }
            return polled;
        }
        if ready!(self.poll_timed_out(cx)) == Waiting::Head {
            // Nothing was written here yet, so there is room for it; if not, the peer is beyond words.
            let refusal = refusal::slow_head(self.head_timeout);
            _ = self.stream().poll_write(cx, &refusal);
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context, buf: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(refusal) = refusal::instead_of(buf) {
            self.refusing = refusal;
            return Poll::Ready(Ok(buf.len()));
        }
        self.stream().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context,
        bufs: &[IoSlice],
    ) -> Poll<io::Result<usize>> {
        if let Some(refusal) = bufs.first().and_then(|first| refusal::instead_of(first)) {
            self.refusing = refusal;
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        self.stream().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        while !self.refusing.is_empty() {
            let refusal = std::mem::take(&mut self.refusing);
            let written = self.stream().poll_write(cx, &refusal);
            let rest = match &written {
                Poll::Ready(Ok(written)) => refusal[*written..].to_vec(),
                _ => refusal,
            };
            self.refusing = rest;
            ready!(written)?;
        }
        self.stream().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        self.stream().poll_shutdown(cx)
    }
}
