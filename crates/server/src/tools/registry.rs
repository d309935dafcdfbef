//! The tools that are registered now. Readers take a snapshot; a change makes a new one.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jumpseat_proto::{Offer, Tool};

use super::{CallState, Started};
use crate::error::AddToolError;

type Start = dyn Fn(&str, &Arc<CallState>) -> Started + Send + Sync;

/// A handler, and what the server must know of it.
#[derive(Clone)]
pub(crate) struct Entry {
    start: Arc<Start>,
    deadline: Option<Duration>,
}

impl Entry {
    pub(crate) fn new(
        deadline: Option<Duration>,
        start: impl Fn(&str, &Arc<CallState>) -> Started + Send + Sync + 'static,
    ) -> Self {
        Self { start: Arc::new(start), deadline }
    }

    /// Starts a call with arguments that are JSON text of an object.
    pub(crate) fn start(&self, arguments: &str, state: &Arc<CallState>) -> Started {
        (self.start)(arguments, state)
    }

    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }
}

/// The tools at one moment.
#[derive(Clone)]
pub(crate) struct Snapshot {
    offer: Offer,
    entries: HashMap<String, Entry>,
}

impl Snapshot {
    pub(crate) fn offer(&self) -> &Offer {
        &self.offer
    }

    pub(crate) fn entry(&self, tool: &str) -> Option<&Entry> {
        self.entries.get(tool)
    }
}

/// The tools of one server.
pub(crate) struct Registry(RwLock<Arc<Snapshot>>);

impl Registry {
    pub(crate) fn new(offer: Offer) -> Self {
        Self(RwLock::new(Arc::new(Snapshot { offer, entries: HashMap::new() })))
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn add(&self, tool: Tool, entry: Entry, replace: bool) -> Result<(), AddToolError> {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !replace && current.entries.contains_key(tool.name()) {
            return Err(AddToolError::NameTaken(tool.name().to_owned()));
        }
        let mut next = Snapshot::clone(&current);
        next.entries.insert(tool.name().to_owned(), entry);
        next.offer.tools.insert(tool);
        *current = Arc::new(next);
        Ok(())
    }

    pub(crate) fn remove(&self, name: &str) -> bool {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !current.entries.contains_key(name) {
            return false;
        }
        let mut next = Snapshot::clone(&current);
        next.entries.remove(name);
        next.offer.tools.remove(name);
        *current = Arc::new(next);
        true
    }
}
