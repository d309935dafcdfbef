//! What can go wrong for the app: at initialization, at the start, and when it registers or broadcasts.

use std::fmt;
use std::io;

use jumpseat_proto::InvalidTool;

/// Why there is no server.
#[derive(Debug)]
#[non_exhaustive]
pub enum InitializeError {
    /// The build is not a debug build.
    IllegalState(String),
}

impl fmt::Display for InitializeError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::IllegalState(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for InitializeError {}

/// Why the server did not start. Nothing of it runs then.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A port is taken.
    PortTaken {
        /// The port.
        port: u16,
        /// What else to do, where there is something.
        hint: &'static str,
    },
    /// A listener could not be made, for another reason.
    Bind {
        /// What was to be bound.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// There is nothing to listen on: the TCP listeners are switched off, and there is no local socket here.
    NoListener,
    /// The server runs already, and cannot serve on another runtime too.
    Running,
    /// The server's own thread or runtime could not be made.
    Runtime(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::PortTaken { port, hint } => write!(f, "port {port} of 127.0.0.1 is taken: {hint}"),
            Self::Bind { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::NoListener => f.write_str(
                "nothing to listen on: local_socket_only needs Linux or Android, so leave it off here",
            ),
            Self::Running => f.write_str("the server runs already: stop it first"),
            Self::Runtime(source) => write!(f, "cannot make the server's thread: {source}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } | Self::Runtime(source) => Some(source),
            _ => None,
        }
    }
}

/// Why a tool was not registered.
#[derive(Debug)]
#[non_exhaustive]
pub enum AddToolError {
    /// There is a tool of that name.
    NameTaken(String),
    /// The tool's name or schema cannot be offered.
    Invalid(InvalidTool),
}

impl fmt::Display for AddToolError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NameTaken(name) => {
                write!(
                    f,
                    "there is a tool {name:?} already: remove it first, or say `.replace()` on the new one"
                )
            }
            Self::Invalid(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for AddToolError {}

/// Why a message was not broadcast: it is no JSON-RPC 2.0 notification.
#[derive(Debug)]
pub struct BroadcastError(pub(crate) String);

impl fmt::Display for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "only a JSON-RPC 2.0 notification can be broadcast, and {}", self.0)
    }
}

impl std::error::Error for BroadcastError {}

/// The server did not stop within 2 s: an inline handler holds its thread. It stops when that returns.
#[derive(Debug)]
pub struct StopError(pub(crate) ());

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "the server has not stopped after 2 s: an inline tool holds its thread (make it a blocking one); it stops when that returns",
        )
    }
}

impl std::error::Error for StopError {}
