//! MCP and JSON-RPC 2.0 without I/O: text in, steps out.
//!
//! A [`Session`] takes one message at a time ([`Session::receive`]) and says what follows from it as a
//! [`Step`]: a reply that is ready, a call for the app, a cancellation, a subscription, or nothing. When the
//! app has finished a call, [`Session::finish`] turns its outcome into the text to send. Every revision of
//! MCP from 2024-11-05 to 2026-07-28 is served, and plain JSON-RPC requests that do no handshake.
//!
//! This crate does no I/O, starts no task, reads no clock and holds no handler: it can be tested with plain
//! function calls. Which revision can do what is decided in `version.rs` and nowhere else.

mod batch;
mod call;
mod client;
mod content;
mod error;
mod headers;
mod initialize;
mod json;
mod listen;
mod message;
mod notification;
mod offer;
mod reply;
mod session;
mod session_id;
mod tool;
mod version;

pub use call::{Call, Outcome};
pub use client::{Client, ClientCapabilities, Implementation};
pub use content::{CallResult, Content};
pub use error::{ErrorCode, ErrorObject};
pub use headers::{Envelope, Headers};
pub use json::escape;
pub use listen::Listen;
pub use message::Id;
pub use notification::{Progress, check_notification};
pub use offer::Offer;
pub use reply::Reply;
pub use session::{Session, Step};
pub use session_id::SessionId;
pub use tool::{Annotations, Catalog, InvalidTool, PAGE_SIZE, Tool};
pub use version::Revision;
