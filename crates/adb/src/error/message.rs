//! What is wrong, in a sentence.

use std::fmt;

use super::{Error, Holder};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::InvalidAddress { variable, value, reason } => {
                write!(f, "{variable}={value} is not the address of an adb server: {reason}")
            }
            Self::InvalidEndpoint { endpoint, reason } => {
                write!(f, "{endpoint:?} is not an end of a forward: {reason}")
            }
            Self::TooLong { length } => {
                write!(f, "the request has {length} bytes, and adb takes 65535")
            }
            Self::Unreachable { address, source } => {
                write!(f, "no adb server answers at {address}: {source}")
            }
            Self::AdbNotFound { .. } => f.write_str("there is no adb program to start the adb server with"),
            Self::AdbFailed { command, reason } => write!(f, "`{command}` failed: {reason}"),
            Self::Timeout { waiting_for, after } => {
                write!(f, "{waiting_for} took more than {}", seconds(*after))
            }
            Self::Ended { waiting_for, source } => {
                write!(f, "the adb server hung up before {waiting_for} was there: {source}")
            }
            Self::NotAdb { address, got } => {
                write!(f, "what listens at {address} is no adb server: it answered {got:?}")
            }
            Self::Outdated { request } => {
                write!(f, "the adb server is too old: it does not know `{request}`")
            }
            Self::Rejected { request, reason } if reason.is_empty() => {
                write!(f, "the adb server refused `{request}` without a reason")
            }
            Self::Rejected { request, reason } => write!(f, "the adb server refused `{request}`: {reason}"),
            other => other.about_device(f),
        }
    }
}

impl Error {
    /// The errors that are about devices, forwards and what listens on a device.
    fn about_device(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoDevice => f.write_str("no device is connected"),
            Self::UnknownDevice { serial, .. } => write!(f, "there is no device {serial}"),
            Self::SeveralDevices { devices } => {
                f.write_str("several devices could be meant:")?;
                devices.iter().try_for_each(|device| write!(f, "\n  {device}"))
            }
            Self::Unauthorized { serial } => write!(f, "{serial} has not authorized this computer"),
            Self::Offline { serial } => {
                write!(f, "{serial} is offline: adb knows it, and it does not answer")
            }
            Self::NoPermissions { serial, reason } => write!(f, "adb may not open {serial}: {reason}"),
            Self::NotReady { serial, state } => {
                write!(f, "{serial} is not ready: adb calls its state {state:?}")
            }
            Self::PortTaken { local, holder } => match holder {
                Holder::Forward(forward) => {
                    write!(f, "{local} is taken: it is forwarded to {} of {}", forward.remote, forward.serial)
                }
                Holder::AdbServer => write!(f, "{local} is taken: the adb server itself listens there"),
                Holder::Program => write!(f, "{local} is taken by another program"),
            },
            Self::NotForwarded { local } => write!(f, "{local} is not forwarded"),
            Self::ForwardTaken { holder } => {
                let (local, remote, serial) = (&holder.local, &holder.remote, &holder.serial);
                write!(f, "{local} is somebody else's forward now: it leads to {remote} of {serial}")
            }
            Self::Refused { serial, endpoint } => write!(f, "nothing listens at {endpoint} on {serial}"),
            Self::Unanswered { source: None } => f.write_str("the connection ended without an answer"),
            Self::Unanswered { source: Some(source) } => {
                write!(f, "the connection ended without an answer: {source}")
            }
            Self::Silent { after } => {
                write!(f, "the connection was accepted, and nothing answered for {}", seconds(*after))
            }
            _ => Ok(()),
        }
    }
}

fn seconds(time: std::time::Duration) -> String {
    format!("{} s", time.as_secs_f64())
}
