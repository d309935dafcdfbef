//! What can go wrong between this machine and an app on the device, each with a way out. It prints nothing.

mod hint;
mod message;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::address::ServerAddress;
use crate::device::Device;
use crate::endpoint::Endpoint;
use crate::forward::Forward;

/// Why it did not work. [`Display`](std::fmt::Display) says what is wrong, [`hint`](Self::hint) what to do,
/// and [`code`](Self::code) is a word for programs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable does not hold the address of an adb server.
    InvalidAddress {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        value: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// adb cannot take this as an end of a forward or of a stream.
    InvalidEndpoint {
        /// What was given.
        endpoint: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A request has more than 65,535 bytes, such as a very long shell command.
    TooLong {
        /// The request's bytes.
        length: usize,
    },
    /// No adb server can be reached at the address.
    Unreachable {
        /// The address.
        address: ServerAddress,
        /// What the system says.
        source: io::Error,
    },
    /// There is no `adb` program to start a server with.
    AdbNotFound {
        /// The places that were looked at.
        looked: Vec<PathBuf>,
    },
    /// The `adb` program did not do what it was run for.
    AdbFailed {
        /// The program and its arguments.
        command: String,
        /// What it said, or what the system said.
        reason: String,
    },
    /// Something did not happen in time.
    Timeout {
        /// What was waited for.
        waiting_for: String,
        /// The time that it had.
        after: Duration,
    },
    /// The adb server ended the connection before it had answered: it was stopped, or the device went away.
    Ended {
        /// What was waited for.
        waiting_for: String,
        /// What the system says.
        source: io::Error,
    },
    /// What listens at the address is no adb server.
    NotAdb {
        /// The address.
        address: ServerAddress,
        /// What came instead of an answer.
        got: String,
    },
    /// The adb server is too old for a request.
    Outdated {
        /// The request.
        request: String,
    },
    /// The adb server refused a request, for a reason that is not one of the others here.
    Rejected {
        /// The request.
        request: String,
        /// The server's words. They may be empty.
        reason: String,
    },
    /// There is no device.
    NoDevice,
    /// There is no device of that serial number.
    UnknownDevice {
        /// The serial number.
        serial: String,
        /// The devices that there are.
        devices: Vec<Device>,
    },
    /// Several devices could be meant.
    SeveralDevices {
        /// These.
        devices: Vec<Device>,
    },
    /// The device's user has not allowed this machine to use it.
    Unauthorized {
        /// The device.
        serial: String,
    },
    /// The adb server knows the device, and it does not answer.
    Offline {
        /// The device.
        serial: String,
    },
    /// This machine's system does not let adb open the device.
    NoPermissions {
        /// The device.
        serial: String,
        /// adb's words.
        reason: String,
    },
    /// The device is in another state in which no app can be reached.
    NotReady {
        /// The device.
        serial: String,
        /// adb's word for the state.
        state: String,
    },
    /// The local end of a forward is taken.
    PortTaken {
        /// The local end.
        local: Endpoint,
        /// By whom.
        holder: Holder,
    },
    /// There is no forward with that local end.
    NotForwarded {
        /// The local end.
        local: Endpoint,
    },
    /// The local end leads elsewhere meanwhile: another tool made it its own. Nothing was removed.
    ForwardTaken {
        /// The forward that there is now.
        holder: Forward,
    },
    /// Nothing listens there on the device.
    Refused {
        /// The device.
        serial: String,
        /// What was asked for.
        endpoint: Endpoint,
    },
    /// The other side took the connection, and ended it without an answer.
    Unanswered {
        /// What the system says, if it was not a plain end.
        source: Option<io::Error>,
    },
    /// The other side took the connection, and stays silent.
    Silent {
        /// The time that it had.
        after: Duration,
    },
}

/// Who has the local end of a forward.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// This forward, of whatever tool.
    Forward(Forward),
    /// The adb server itself: it is the port that it serves at.
    AdbServer,
    /// Another program than this adb server.
    Program,
}

impl Error {
    /// A stable word for programs, such as `device-unauthorized`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidAddress { .. } => "invalid-address",
            Self::InvalidEndpoint { .. } => "invalid-endpoint",
            Self::TooLong { .. } => "request-too-long",
            Self::Unreachable { .. } => "adb-server-unreachable",
            Self::AdbNotFound { .. } => "adb-not-found",
            Self::AdbFailed { .. } => "adb-failed",
            Self::Timeout { .. } => "timeout",
            Self::Ended { .. } => "connection-ended",
            Self::NotAdb { .. } => "not-an-adb-server",
            Self::Outdated { .. } => "adb-server-outdated",
            Self::Rejected { .. } => "adb-rejected",
            Self::NoDevice => "no-device",
            Self::UnknownDevice { .. } => "unknown-device",
            Self::SeveralDevices { .. } => "several-devices",
            Self::Unauthorized { .. } => "device-unauthorized",
            Self::Offline { .. } => "device-offline",
            Self::NoPermissions { .. } => "device-no-permissions",
            Self::NotReady { .. } => "device-not-ready",
            Self::PortTaken { .. } => "port-taken",
            Self::NotForwarded { .. } => "not-forwarded",
            Self::ForwardTaken { .. } => "forward-taken",
            Self::Refused { .. } => "refused",
            Self::Unanswered { .. } => "unanswered",
            Self::Silent { .. } => "silent",
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable { source, .. }
            | Self::Ended { source, .. }
            | Self::Unanswered { source: Some(source) } => Some(source),
            _ => None,
        }
    }
}
