//! The `echo` tool as an rmcp server declares it. Holds no transport.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct EchoArguments {
    text: String,
}

/// An rmcp server with one tool, whose router is built once and then cloned for every request.
#[derive(Clone)]
pub struct Echo {
    tool_router: ToolRouter<Self>,
}

impl Default for Echo {
    fn default() -> Self {
        Self { tool_router: Self::tool_router() }
    }
}

#[tool_router]
impl Echo {
    #[tool(description = "Echo the text back")]
    fn echo(Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {}
