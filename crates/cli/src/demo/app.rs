//! The demo app: a to-do list and a counter, with a tool for each thing that an agent may do with them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jumpseat::{AddToolError, Context, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::todos::{Todo, Todos, Which};

#[derive(Deserialize, JsonSchema)]
struct ListTodos {
    /// Which entries to list; all of them when it is left out.
    #[serde(default)]
    which: Which,
}

#[derive(Deserialize, JsonSchema)]
struct AddTodo {
    /// What is to be done.
    title: String,
}

#[derive(Deserialize, JsonSchema)]
struct CompleteTodo {
    /// The number of the entry.
    id: u32,
}

#[derive(Deserialize, JsonSchema)]
struct SearchTodos {
    /// What the title must contain; upper and lower case are the same.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct TodoList {
    /// The entries, oldest first.
    todos: Vec<Todo>,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// How much to add; may be negative. 1 when it is left out.
    #[serde(default = "one")]
    by: i64,
}

fn one() -> i64 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Counter {
    /// What the counter shows now.
    value: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Backup {
    /// How long it should take, in seconds: 0.1 to 30. 2 when it is left out.
    #[serde(default = "two")]
    seconds: f64,
}

fn two() -> f64 {
    2.0
}

#[derive(Serialize, JsonSchema)]
struct BackedUp {
    /// How many entries were backed up.
    entries: usize,
    /// How many bytes they are, as JSON.
    bytes: usize,
}

/// Registers the app's tools.
pub(crate) fn register(server: &Server) -> Result<(), AddToolError> {
    let todos = Arc::new(Todos::with_samples());
    register_todos(server, &todos)?;
    register_counter(server)?;

    let shown = todos.clone();
    server.add_tool(
        Tool::typed::<Backup, BackedUp>("backup_todos", "Back the to-do list up; takes some seconds")
            .title("Back up")
            .idempotent(),
        move |arguments, context| backup(shown.clone(), arguments.seconds, context),
    )?;
    server.add_simple_tool("debug_info", "What the app is doing now", move |_arguments| {
        let (all, open) = (todos.list(Which::All).len(), todos.list(Which::Open).len());
        Ok(format!("{all} entries, {open} of them open; the screen shows the list"))
    })
}

/// The store answers from memory, so these run on the server's own thread.
fn register_todos(server: &Server, todos: &Arc<Todos>) -> Result<(), AddToolError> {
    let store = todos.clone();
    server.add_inline_tool(
        Tool::typed::<ListTodos, TodoList>("list_todos", "List the entries of the to-do list").read_only(),
        move |arguments, _| Ok(TodoList { todos: store.list(arguments.which) }),
    )?;
    let store = todos.clone();
    server.add_inline_tool(
        Tool::typed::<AddTodo, Todo>("add_todo", "Add an entry to the to-do list").destructive(false),
        move |arguments, _| match arguments.title.trim() {
            "" => Err(ToolError::new("`title` is empty: say what is to be done")),
            title => Ok(store.add(title)),
        },
    )?;
    let store = todos.clone();
    server.add_inline_tool(
        Tool::typed::<CompleteTodo, Todo>("complete_todo", "Mark an entry of the to-do list as done")
            .idempotent(),
        move |arguments, _| {
            let id = arguments.id;
            let missing =
                || ToolError::new(format!("there is no entry {id}: list_todos shows what there is"));
            store.complete(id).ok_or_else(missing)
        },
    )?;
    let store = todos.clone();
    server.add_inline_tool(
        Tool::typed::<SearchTodos, TodoList>("search_todos", "Find entries of the to-do list by their title")
            .read_only(),
        move |arguments, _| Ok(TodoList { todos: store.search(&arguments.text) }),
    )
}

/// A counter that tells everybody of every change.
fn register_counter(server: &Server) -> Result<(), AddToolError> {
    let (value, everybody) = (AtomicI64::new(0), server.clone());
    server.add_inline_tool(
        Tool::typed::<Count, Counter>(
            "count",
            "Add to the counter; everybody connected is told of the change",
        ),
        move |arguments, _| {
            let value = value.fetch_add(arguments.by, Ordering::Relaxed).wrapping_add(arguments.by);
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/counter_changed", "params": {
                "type": "counter_changed",
                "message": format!("The counter is at {value}"),
                "timestamp": jiff::Timestamp::now().as_millisecond(),
            }});
            everybody.broadcast_message(changed.to_string())?;
            Ok(Counter { value })
        },
    )
}

async fn backup(todos: Arc<Todos>, seconds: f64, context: Context) -> Result<BackedUp, ToolError> {
    const STEPS: u32 = 10;
    if !(0.1..=30.0).contains(&seconds) {
        return Err(ToolError::new(format!("`seconds` is {seconds}: choose from 0.1 to 30")));
    }
    let entries = todos.list(Which::All);
    let step = Duration::from_secs_f64(seconds) / STEPS;
    for done in 1..=STEPS {
        tokio::time::sleep(step).await;
        context.progress(done.into(), Some(STEPS.into()), Some("writing the backup"));
    }
    Ok(BackedUp { entries: entries.len(), bytes: serde_json::to_vec(&entries)?.len() })
}
