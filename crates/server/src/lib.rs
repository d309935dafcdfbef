//! A seat for coding agents inside your app: an MCP server that an app embeds in its debug build.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = jumpseat::Server::builder(jumpseat::host_app!()).initialize()?;
//! server.add_simple_tool("debug_info", "What the app is doing now", |_arguments| Ok("nothing much".into()))?;
//! server.start_blocking()?;
//! # Ok(()) }
//! ```
//!
//! It speaks JSON-RPC 2.0 over WebSocket, HTTP and event streams on the device's loopback, in every revision
//! of MCP and without a handshake. It knows neither adb nor the workstation's side: that is the `jumpseat`
//! program.

mod app;
mod builder;
mod connection;
mod error;
mod lifecycle;
mod limits;
mod listener;
mod platform;
mod run;
mod server;
mod status;
mod tools;
mod transport;

pub use app::HostApp;
pub use builder::ServerBuilder;
pub use error::{AddToolError, BroadcastError, InitializeError, StartError, StopError};
pub use jumpseat_proto::{CallResult, Content, Implementation};
pub use lifecycle::{AppEvent, LifecycleAction, LifecycleConfig, lifecycle_action};
pub use limits::Limits;
pub use listener::Ports;
pub use platform::{AppInfo, AppMemory, DeviceInfo, Host, HostFacts, Memory, Os, Platform, Screen, Storage};
pub use server::Server;
pub use status::{AppSummary, Connections, ServerInfo, TransportInfo};
pub use tools::{Arguments, Caller, Context, Tool, ToolError, Transport};

/// The README's code is compiled with the documentation's.
#[cfg(all(doctest, feature = "typed"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
