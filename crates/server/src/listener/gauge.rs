//! A number that goes up and down, with somebody waiting for zero.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
struct Count {
    now: AtomicUsize,
    zero: Notify,
}

/// How many of something there are.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<Count>);

/// One of them, until it is dropped.
pub(crate) struct Entered(Arc<Count>);

impl Gauge {
    pub(crate) fn enter(&self) -> Entered {
        self.0.now.fetch_add(1, Ordering::AcqRel);
        Entered(self.0.clone())
    }

    /// One more, if that makes no more than `limit`.
    pub(crate) fn try_enter(&self, limit: usize) -> Option<Entered> {
        let entered = self.enter();
        (self.now() <= limit).then_some(entered)
    }

    pub(crate) fn now(&self) -> usize {
        self.0.now.load(Ordering::Acquire)
    }

    pub(crate) async fn zero(&self) {
        loop {
            let zero = self.0.zero.notified();
            tokio::pin!(zero);
            // Registered before the count is read, so that no notification is missed in between.
            zero.as_mut().enable();
            if self.now() == 0 {
                return;
            }
            zero.await;
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.0.now.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.zero.notify_waiters();
        }
    }
}
