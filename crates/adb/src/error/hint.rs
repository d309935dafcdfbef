//! What to do about it.

use std::path::PathBuf;

use super::{Error, Holder};
use crate::address::ServerAddress;
use crate::device::Device;
use crate::forward::Forward;

const UDEV: &str = "this computer's udev rules do not let you use the device: install them (Debian, Ubuntu: \
                    `sudo apt install android-sdk-platform-tools-common`), run \
                    `sudo usermod -aG plugdev $USER`, log in again, and plug the device in again";

impl Error {
    /// What to do, in a sentence or two for the person at the workstation.
    pub fn hint(&self) -> String {
        match self {
            Self::InvalidAddress { variable: "ADB_SERVER_SOCKET", .. } => {
                "set it to tcp:HOST:PORT, tcp:PORT, localfilesystem:PATH or localabstract:NAME, or unset it"
                    .into()
            }
            Self::InvalidAddress { variable, .. } => format!("correct {variable}, or unset it"),
            Self::InvalidEndpoint { .. } => "write tcp:PORT or localabstract:NAME".into(),
            Self::TooLong { .. } => {
                "make the command shorter, or push a script to the device and run that".into()
            }
            Self::Unreachable { address, .. } => not_answering(address),
            Self::AdbNotFound { looked } => not_found(looked),
            Self::AdbFailed { .. } => "run the command by hand to see what is wrong with it".into(),
            Self::Timeout { .. } => {
                "try again; if it stays so, plug the device in again, or restart the adb server".into()
            }
            Self::Ended { .. } => "the adb server or the device went away: try again when it is back".into(),
            Self::NotAdb { .. } => "stop the program that listens there, or say where the adb server is: \
                                    ADB_SERVER_SOCKET=tcp:PORT"
                .into(),
            Self::Outdated { .. } => {
                "update Android's platform-tools to 29 or later, then restart the adb server".into()
            }
            Self::Rejected { .. } => {
                "see whether `adb devices` shows the device as `device`, and try again".into()
            }
            other => other.device_hint(),
        }
    }

    /// The same, for the errors that are about devices, forwards and what listens on a device.
    fn device_hint(&self) -> String {
        match self {
            Self::NoDevice => "connect a phone with USB debugging switched on (Settings > System > \
                               Developer options), or start an emulator"
                .into(),
            Self::UnknownDevice { devices, .. } if devices.is_empty() => {
                "no device is connected: connect it, or start the emulator".into()
            }
            Self::UnknownDevice { devices, .. } => format!("choose one of these: {}", list(devices)),
            Self::SeveralDevices { devices } => several(devices),
            Self::Unauthorized { serial } => format!(
                "unlock {serial} and tap \"Allow\" under \"Allow USB debugging?\"; if it does not ask, tap \
                 \"Revoke USB debugging authorizations\" in its Developer options and plug it in again"
            ),
            Self::Offline { serial } => format!(
                "unlock {serial}, unplug it and plug it in again (over the network: `adb connect` again; an \
                 emulator: restart it)"
            ),
            Self::NoPermissions { .. } => UDEV.into(),
            Self::NotReady { serial, state } => match state.as_str() {
                "connecting" | "authorizing" => format!("wait a moment, and look at the screen of {serial}"),
                _ => format!("restart {serial} into Android, for example with `adb -s {serial} reboot`"),
            },
            Self::PortTaken { holder, .. } => taken(holder),
            Self::NotForwarded { .. } => {
                "it is gone already: forwards end with the device or the adb server".into()
            }
            Self::ForwardTaken { .. } => "nothing was removed; make a forward on another port".into(),
            Self::Refused { serial, .. } => {
                format!("start the app (its debug build) on {serial}, and check where it listens")
            }
            Self::Unanswered { .. } => {
                "nothing listens behind the forward, or the app died: start the app".into()
            }
            Self::Silent { .. } => {
                "Android freezes apps in the background: bring the app to the foreground".into()
            }
            _ => String::new(),
        }
    }
}

fn not_found(looked: &[PathBuf]) -> String {
    let looked: Vec<_> = looked.iter().map(|path| path.display().to_string()).collect();
    format!(
        "install Android's platform-tools (Debian, Ubuntu: `apt install adb`), or set ADB to the program's \
         path; looked for {}",
        if looked.is_empty() { "adb in PATH".into() } else { looked.join(", ") }
    )
}

fn not_answering(address: &ServerAddress) -> String {
    if address.to_start_at().is_some() {
        "start it with `adb start-server`".into()
    } else if address.is_local() {
        format!(
            "adb starts a server at localhost only: start one at {address} by hand, or correct the address"
        )
    } else {
        format!("start the adb server on its own machine, and see whether {address} can be reached from here")
    }
}

fn list(devices: &[Device]) -> String {
    let devices: Vec<_> = devices.iter().map(Device::to_string).collect();
    devices.join(", ")
}

fn several(devices: &[Device]) -> String {
    match devices {
        [first, rest @ ..] if rest.iter().all(|other| other.serial == first.serial) => {
            "they share a serial number: disconnect all but one of them".into()
        }
        [first, ..] => format!("say which, for example --serial {}, or set DEVICE_SERIAL", first.serial),
        [] => "say which with --serial, or set DEVICE_SERIAL".into(),
    }
}

fn taken(holder: &Holder) -> String {
    match holder {
        Holder::Forward(Forward { serial, local, .. }) => {
            format!("take another port, or remove the forward: `adb -s {serial} forward --remove {local}`")
        }
        Holder::AdbServer => "take another port".into(),
        Holder::Program => "take another port, or stop that program".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::*;
    use crate::endpoint::Endpoint;

    fn one_of_each() -> Vec<Error> {
        let text = || "text".to_owned();
        let (serial, request, reason, state, value) = (text, text, text, text, text);
        let (local, endpoint) = (Endpoint::Tcp(1), Endpoint::Tcp(2));
        let (address, after) = (ServerAddress::default(), Duration::ZERO);
        let holder = Forward { serial: serial(), local: local.clone(), remote: endpoint.clone() };
        let source = || std::io::Error::other("source");
        vec![
            Error::InvalidAddress { variable: "ADB_SERVER_SOCKET", value: value(), reason: "reason" },
            Error::InvalidEndpoint { endpoint: text(), reason: "reason" },
            Error::TooLong { length: 1 },
            Error::Unreachable { address: address.clone(), source: source() },
            Error::AdbNotFound { looked: Vec::new() },
            Error::AdbFailed { command: text(), reason: reason() },
            Error::Timeout { waiting_for: text(), after },
            Error::Ended { waiting_for: text(), source: source() },
            Error::NotAdb { address, got: text() },
            Error::Outdated { request: request() },
            Error::Rejected { request: request(), reason: reason() },
            Error::NoDevice,
            Error::UnknownDevice { serial: serial(), devices: Vec::new() },
            Error::SeveralDevices { devices: Vec::new() },
            Error::Unauthorized { serial: serial() },
            Error::Offline { serial: serial() },
            Error::NoPermissions { serial: serial(), reason: reason() },
            Error::NotReady { serial: serial(), state: state() },
            Error::PortTaken { local: local.clone(), holder: Holder::Program },
            Error::NotForwarded { local },
            Error::ForwardTaken { holder },
            Error::Refused { serial: serial(), endpoint },
            Error::Unanswered { source: None },
            Error::Silent { after },
        ]
    }

    #[test]
    fn every_error_says_what_is_wrong_and_what_to_do() {
        let errors = one_of_each();
        for error in &errors {
            assert!(!error.to_string().is_empty() && !error.hint().is_empty(), "{error:?}");
        }
        let codes: HashSet<_> = errors.iter().map(Error::code).collect();
        assert_eq!(codes.len(), errors.len());
    }
}
