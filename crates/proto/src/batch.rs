//! Batches: several messages in an array, whose responses go back in one array when all are there.

use crate::reply::Reply;

/// The batches whose responses are still being collected.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    open: Vec<Batch>,
    next: BatchKey,
}

pub(crate) type BatchKey = u64;

#[derive(Debug)]
struct Batch {
    key: BatchKey,
    /// Calls without an outcome, and one more while the batch is still being read.
    waiting: usize,
    responses: Vec<String>,
}

impl Batches {
    /// A batch that is being read: it is not complete before [`Batches::settle`] is called once for that.
    pub(crate) fn open(&mut self) -> BatchKey {
        self.next += 1;
        self.open.push(Batch { key: self.next, waiting: 1, responses: Vec::new() });
        self.next
    }

    pub(crate) fn expect_call(&mut self, key: BatchKey) {
        if let Some(batch) = self.open.iter_mut().find(|batch| batch.key == key) {
            batch.waiting += 1;
        }
    }

    pub(crate) fn respond(&mut self, key: BatchKey, response: String) {
        if let Some(batch) = self.open.iter_mut().find(|batch| batch.key == key) {
            batch.responses.push(response);
        }
    }

    /// One of those waited for is done. Gives the array when it was the last, and there is anything in it:
    /// a batch of notifications only is not answered.
    pub(crate) fn settle(&mut self, key: BatchKey) -> Option<Reply> {
        let index = self.open.iter().position(|batch| batch.key == key)?;
        self.open[index].waiting -= 1;
        if self.open[index].waiting > 0 {
            return None;
        }
        let batch = self.open.swap_remove(index);
        (!batch.responses.is_empty()).then(|| Reply {
            text: format!("[{}]", batch.responses.join(",")),
            error: None,
            modern: false,
            initialized: false,
        })
    }
}
