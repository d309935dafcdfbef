//! Registering tools: what a handler of each kind looks like to an app, and what the server makes of it.

use std::future::Future;
use std::sync::Arc;

use super::{Arguments, CallState, Context, Entry, Started, Tool, ToolError};
use crate::error::AddToolError;
use crate::server::Server;

impl Server {
    /// Registers a tool that answers text. The handler gets the call's arguments, and may block.
    ///
    /// # Errors
    /// When the name is taken, or is no tool name.
    pub fn add_simple_tool(
        &self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: impl Fn(&Arguments) -> Result<String, ToolError> + Send + Sync + 'static,
    ) -> Result<(), AddToolError> {
        self.add_blocking_tool(Tool::text(name, description), move |arguments, _| handler(&arguments))
    }

    /// Registers a tool with an async handler. It is dropped when the call is cancelled or times out.
    ///
    /// # Errors
    /// When the name is taken, or the name or a schema cannot be offered.
    pub fn add_tool<A, O, F, Fut>(&self, tool: Tool<A, O>, handler: F) -> Result<(), AddToolError>
    where
        A: 'static,
        O: 'static,
        F: Fn(A, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        let (decode, encode) = (tool.decode, tool.encode);
        self.add(tool, move |arguments, state| match decode(arguments) {
            Ok(arguments) => {
                let work = handler(arguments, Context(state.clone()));
                Started::Async(Box::pin(async move { encode(work.await?) }))
            }
            Err(error) => Started::Done(Err(error)),
        })
    }

    /// Registers a tool whose handler may block: it runs on the blocking pool. A handler that outlives its
    /// deadline runs on, for nobody; [`Context::is_cancelled`] tells it so.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_blocking_tool<A, O, F>(&self, tool: Tool<A, O>, handler: F) -> Result<(), AddToolError>
    where
        A: Send + 'static,
        O: 'static,
        F: Fn(A, Context) -> Result<O, ToolError> + Send + Sync + 'static,
    {
        let (decode, encode, handler) = (tool.decode, tool.encode, Arc::new(handler));
        self.add(tool, move |arguments, state| match decode(arguments) {
            Ok(arguments) => {
                let (handler, context) = (handler.clone(), Context(state.clone()));
                Started::Blocking(Box::new(move || {
                    // Nobody waits any more for a call whose turn on the pool comes too late.
                    if context.is_cancelled() {
                        return Err(ToolError::new("cancelled before it began"));
                    }
                    encode(handler(arguments, context)?)
                }))
            }
            Err(error) => Started::Done(Err(error)),
        })
    }

    /// Registers a tool whose handler never blocks: it runs at once, on the server's own thread, which is the
    /// fastest way. While it runs, nobody else is served, and no deadline can end it.
    ///
    /// # Errors
    /// As [`Server::add_tool`].
    pub fn add_inline_tool<A, O, F>(&self, tool: Tool<A, O>, handler: F) -> Result<(), AddToolError>
    where
        A: 'static,
        O: 'static,
        F: Fn(A, Context) -> Result<O, ToolError> + Send + Sync + 'static,
    {
        let (decode, encode) = (tool.decode, tool.encode);
        self.add(tool, move |arguments, state| {
            let result = decode(arguments).and_then(|arguments| handler(arguments, Context(state.clone())));
            Started::Done(result.and_then(encode))
        })
    }

    /// Removes a tool; `false` when there is none of that name. Calls that run are not touched.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.shared().tools().remove(name);
        if removed {
            self.shared().hub().tools_changed();
        }
        removed
    }

    fn add<A, O>(
        &self,
        tool: Tool<A, O>,
        start: impl Fn(&str, &Arc<CallState>) -> Started + Send + Sync + 'static,
    ) -> Result<(), AddToolError> {
        let (deadline, replace) = (tool.deadline, tool.replace);
        let descriptor = tool.into_descriptor().map_err(AddToolError::Invalid)?;
        self.shared().tools().add(descriptor, Entry::new(deadline, start), replace)?;
        self.shared().hub().tools_changed();
        Ok(())
    }
}
