//! Tools: how an app describes and registers them, and how a call of one runs.

mod builtin;
mod context;
mod register;
mod registry;
mod tool;

pub use context::{Caller, Context, Transport};
pub use tool::{Arguments, Tool, ToolError};

pub(crate) use builtin::register as register_builtin;
pub(crate) use context::{CallState, CatchUnwind, Handled, Running, Started, result};
pub(crate) use registry::{Entry, Registry, Snapshot};
