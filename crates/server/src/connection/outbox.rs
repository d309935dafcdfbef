//! The bounded queue between those who have something for a client and the one who writes to it.
//!
//! Nobody waits in here: a push succeeds or says why not. Who lets the queue overflow is disconnected;
//! responses are not counted against it, since a client has only so many requests in flight.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use jumpseat_proto::Reply;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::limits::Limits;
use crate::listener::Link;

/// What goes to a client.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A notification.
    News(Utf8Bytes),
    /// The response to a request.
    Reply(Reply),
}

impl Outgoing {
    fn len(&self) -> usize {
        match self {
            Self::News(text) => text.len(),
            Self::Reply(reply) => reply.text.len(),
        }
    }

    pub(crate) fn into_text(self) -> Utf8Bytes {
        match self {
            Self::News(text) => text,
            Self::Reply(reply) => reply.text.into(),
        }
    }
}

/// Why nothing more will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Everybody who could send something is done.
    Finished,
    /// The server stops.
    GoingAway,
    /// The client did not read.
    Overflow,
}

struct Queue {
    messages: VecDeque<Outgoing>,
    bytes: usize,
    waker: Option<Waker>,
    end: Option<End>,
}

struct Shared {
    queue: Mutex<Queue>,
    senders: AtomicUsize,
    max_messages: usize,
    max_bytes: usize,
    /// The connection to cut when the queue overflows, where its writer may be stuck outside of our hands.
    link: Option<Arc<Link>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: End) {
        let mut queue = self.lock();
        queue.end.get_or_insert(end);
        let waker = queue.waker.take();
        drop(queue);
        wake(waker);
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The end to push into. When the last one is dropped, the queue is finished.
pub(crate) struct Sender(Arc<Shared>);

/// The end to write from.
pub(crate) struct Receiver(Arc<Shared>);

pub(crate) fn outbox(limits: &Limits, link: Option<Arc<Link>>) -> (Sender, Receiver) {
    let queue = Queue { messages: VecDeque::new(), bytes: 0, waker: None, end: None };
    let shared = Arc::new(Shared {
        queue: Mutex::new(queue),
        senders: AtomicUsize::new(1),
        max_messages: limits.max_queued_messages,
        max_bytes: limits.max_queued_bytes,
        link,
    });
    (Sender(shared.clone()), Receiver(shared))
}

impl Sender {
    /// Queues a notification. `false` when the client is gone, or is now because it did not read.
    pub(crate) fn news(&self, text: Utf8Bytes) -> bool {
        let mut queue = self.0.lock();
        if queue.end.is_some() {
            return false;
        }
        let full = queue.messages.len() >= self.0.max_messages
            || !queue.messages.is_empty() && queue.bytes + text.len() > self.0.max_bytes;
        if full {
            queue.end = Some(End::Overflow);
            queue.messages = VecDeque::new();
            queue.bytes = 0;
        } else {
            queue.bytes += text.len();
            queue.messages.push_back(Outgoing::News(text));
        }
        let waker = queue.waker.take();
        drop(queue);
        wake(waker);
        if let (true, Some(link)) = (full, &self.0.link) {
            link.cut();
        }
        !full
    }

    /// Queues a notification that the client can do without, when there is plenty of room.
    pub(crate) fn droppable(&self, text: Utf8Bytes) {
        if !self.is_crowded() {
            self.news(text);
        }
    }

    /// Queues a response.
    pub(crate) fn reply(&self, reply: Reply) {
        let mut queue = self.0.lock();
        if queue.end.is_some() {
            return;
        }
        queue.bytes += reply.text.len();
        queue.messages.push_back(Outgoing::Reply(reply));
        let waker = queue.waker.take();
        drop(queue);
        wake(waker);
    }

    /// Nothing more will come, for that reason; what is queued is still written.
    pub(crate) fn end(&self, end: End) {
        self.0.end(end);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().messages.is_empty()
    }

    /// Whether the queue is half full.
    pub(crate) fn is_crowded(&self) -> bool {
        let queue = self.0.lock();
        queue.messages.len() >= self.0.max_messages / 2 || queue.bytes >= self.0.max_bytes / 2
    }
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.end(End::Finished);
        }
    }
}

impl Receiver {
    /// The next message; `None` when there will be none, and [`Receiver::end`] says why.
    pub(crate) fn poll_next(&self, cx: &mut Context) -> Poll<Option<Outgoing>> {
        let mut queue = self.0.lock();
        if let Some(message) = queue.messages.pop_front() {
            queue.bytes -= message.len();
            return Poll::Ready(Some(message));
        }
        if queue.end.is_some() {
            return Poll::Ready(None);
        }
        register(&mut queue.waker, cx);
        Poll::Pending
    }

    /// Whether the client has let the queue overflow; if not, it is woken when that happens.
    pub(crate) fn poll_overflow(&self, cx: &mut Context) -> bool {
        let mut queue = self.0.lock();
        register(&mut queue.waker, cx);
        queue.end == Some(End::Overflow)
    }

    /// The writer is at work and will look at the queue before it rests: it need not be woken until then.
    pub(crate) fn awake(&self) {
        self.0.lock().waker = None;
    }

    pub(crate) async fn next(&self) -> Option<Outgoing> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    pub(crate) fn end(&self) -> Option<End> {
        self.0.lock().end
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.end.get_or_insert(End::Finished);
        let messages = std::mem::take(&mut queue.messages);
        drop(queue);
        drop(messages);
    }
}

fn register(slot: &mut Option<Waker>, cx: &mut Context) {
    match slot {
        Some(waker) if waker.will_wake(cx.waker()) => {}
        _ => *slot = Some(cx.waker().clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> (Sender, Receiver) {
        let limits = Limits { max_queued_messages: 4, max_queued_bytes: 100, ..Limits::default() };
        outbox(&limits, None)
    }

    fn next(receiver: &Receiver) -> Poll<Option<String>> {
        let poll = receiver.poll_next(&mut Context::from_waker(Waker::noop()));
        poll.map(|message| message.map(|message| message.into_text().to_string()))
    }

    #[test]
    fn what_is_queued_comes_out_in_order_and_then_the_end() {
        let (sender, receiver) = small();
        let other = sender.clone();
        assert!(sender.news("a".into()));
        assert!(other.news("b".into()));
        drop((sender, other));
        assert_eq!(next(&receiver), Poll::Ready(Some("a".into())));
        assert_eq!(next(&receiver), Poll::Ready(Some("b".into())));
        assert_eq!(next(&receiver), Poll::Ready(None));
        assert_eq!(receiver.end(), Some(End::Finished));
    }

    #[test]
    fn the_message_that_does_not_fit_ends_the_queue() {
        let (sender, receiver) = small();
        for _ in 0..4 {
            assert!(sender.news("x".into()));
        }
        assert!(!sender.news("x".into()));
        assert_eq!(next(&receiver), Poll::Ready(None));
        assert_eq!(receiver.end(), Some(End::Overflow));
    }

    #[test]
    fn bytes_are_counted_and_one_large_message_fits_an_empty_queue() {
        let (sender, receiver) = small();
        assert!(sender.news("x".repeat(500).into()));
        assert!(!sender.news("x".into()));
        assert_eq!(receiver.end(), Some(End::Overflow));
    }

    #[test]
    fn responses_are_not_counted() {
        let (sender, receiver) = small();
        for _ in 0..50 {
            sender.reply(Reply::not_utf8());
        }
        assert_eq!(receiver.end(), None);
        assert!(sender.is_crowded());
    }
}
