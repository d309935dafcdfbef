//! The demo app's data: a list of things to do. Plain data; it knows nothing of tools.

use std::sync::{Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Todo {
    /// Its number, which stays its own.
    pub(crate) id: u32,
    /// What is to be done.
    pub(crate) title: String,
    /// Whether it is done.
    pub(crate) done: bool,
    /// When it was added, in RFC 3339.
    pub(crate) added_at: String,
}

/// Which entries to show.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Which {
    /// All of them.
    #[default]
    All,
    /// What is still to be done.
    Open,
    /// What is done.
    Done,
}

/// The store.
#[derive(Default)]
pub(crate) struct Todos(Mutex<Vec<Todo>>);

impl Todos {
    /// A store with something in it.
    pub(crate) fn with_samples() -> Self {
        let todos = Self::default();
        for title in ["Water the plants", "Fix the login screen", "Call the plumber"] {
            todos.add(title);
        }
        todos.complete(1);
        todos
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Todo>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, title: &str) -> Todo {
        let mut todos = self.lock();
        let id = todos.last().map_or(1, |last| last.id + 1);
        let added_at = format!("{:.0}", jiff::Timestamp::now());
        let todo = Todo { id, title: title.to_owned(), done: false, added_at };
        todos.push(todo.clone());
        todo
    }

    /// Marks an entry as done; `None` when there is none of that number.
    pub(crate) fn complete(&self, id: u32) -> Option<Todo> {
        let mut todos = self.lock();
        let todo = todos.iter_mut().find(|todo| todo.id == id)?;
        todo.done = true;
        Some(todo.clone())
    }

    pub(crate) fn list(&self, which: Which) -> Vec<Todo> {
        let shown = |todo: &&Todo| match which {
            Which::All => true,
            Which::Open => !todo.done,
            Which::Done => todo.done,
        };
        self.lock().iter().filter(shown).cloned().collect()
    }

    /// The entries whose title contains `text`, whatever the case.
    pub(crate) fn search(&self, text: &str) -> Vec<Todo> {
        let text = text.to_lowercase();
        self.lock().iter().filter(|todo| todo.title.to_lowercase().contains(&text)).cloned().collect()
    }
}
