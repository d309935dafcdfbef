//! What to do about it.

use super::{Error, Holder};
use crate::address::ServerAddress;
use crate::device::Device;

impl Error {
    /// What to do, in a sentence or two for the person at the workstation.
    pub fn hint(&self) -> String {
        match self {
            Self::InvalidAddress { variable: "ADB_SERVER_SOCKET", .. } => {
                "set it to tcp:HOST:PORT, tcp:PORT, localfilesystem:PATH or localabstract:NAME, or unset it".into()
            }
            Self::InvalidAddress { variable, .. } => format!("correct {variable}, or unset it"),
            Self::InvalidEndpoint { .. } => "write tcp:PORT or localabstract:NAME".into(),
            Self::TooLong { .. } => "make the command shorter, or push a script to the device and run that".into(),
            Self::Unreachable { address, .. } => not_answering(address),
            Self::AdbNotFound { looked } => {
                let looked: Vec<_> = looked.iter().map(|path| path.display().to_string()).collect();
                format!(
                    "install Android's platform-tools (Debian, Ubuntu: `apt install adb`), or set ADB to the program's \
                     path; looked for {}",
                    if looked.is_empty() { "adb in PATH".into() } else { looked.join(", ") }
                )
            }
            Self::AdbFailed { .. } => "run the command by hand to see what is wrong with it".into(),
            Self::Timeout { .. } => {
                "try again; if it stays so, unplug the device and plug it in again, and see whether `adb devices` \
                 answers"
                    .into()
            }
            Self::Ended { .. } => "the adb server or the device went away: try again when it is back".into(),
            Self::NotAdb { .. } => {
                "stop the program that listens there, or say where the adb server is with ADB_SERVER_SOCKET=tcp:PORT"
                    .into()
            }
            Self::Outdated { .. } => "update Android's platform-tools to 29 or later, then restart the adb server".into(),
            Self::Rejected { .. } => "see whether `adb devices` shows the device as `device`, and try again".into(),
            other => other.device_hint(),
        }
    }

    fn device_hint(&self) -> String {
        match self {
            Self::NoDevice => "connect a phone with USB debugging switched on (Settings > System > Developer options), \
                               or start an emulator"
                .into(),
            Self::UnknownDevice { devices, .. } if devices.is_empty() => {
                "no device is connected: connect it, or start the emulator".into()
            }
            Self::UnknownDevice { devices, .. } => format!("choose one of these: {}", list(devices)),
            Self::SeveralDevices { devices } => match devices.first() {
                Some(device) if devices.iter().all(|other| other.serial == device.serial) => {
                    "they share a serial number: disconnect all but one of them".into()
                }
                Some(device) => format!("say which, for example --serial {}, or set DEVICE_SERIAL", device.serial),
                None => "say which with --serial, or set DEVICE_SERIAL".into(),
            },
            Self::Unauthorized { serial } => format!(
                "unlock {serial} and tap \"Allow\" under \"Allow USB debugging?\"; if it does not ask, tap \"Revoke USB \
                 debugging authorizations\" in its Developer options and plug it in again"
            ),
            Self::Offline { serial } => format!(
                "unlock {serial}, unplug it and plug it in again (over the network: `adb connect` again, an emulator: \
                 restart it)"
            ),
            Self::NoPermissions { .. } => "this computer's udev rules do not let you use the device: install them \
                                           (Debian, Ubuntu: `sudo apt install android-sdk-platform-tools-common`), run \
                                           `sudo usermod -aG plugdev $USER`, log in again, and plug the device in again"
                .into(),
            Self::NotReady { serial, state } => match state.as_str() {
                "connecting" | "authorizing" => format!("wait a moment, and look at the screen of {serial}"),
                _ => format!("restart {serial} into Android, for example with `adb -s {serial} reboot`"),
            },
            Self::PortTaken { holder, .. } => match holder {
                Holder::Forward(forward) => format!(
                    "take another port, or remove the forward: `adb -s {} forward --remove {}`",
                    forward.serial, forward.local
                ),
                Holder::AdbServer => "take another port".into(),
                Holder::Program => "take another port, or stop that program".into(),
            },
            Self::NotForwarded { .. } => "it is gone already: forwards end with the device or the adb server".into(),
            Self::ForwardTaken { .. } => "nothing was removed; make a forward on another port".into(),
            Self::Refused { serial, .. } => {
                format!("start the app on {serial} (its debug build), and check the port or name that it listens at")
            }
            Self::Unanswered { .. } => "nothing listens behind the forward, or the app died: start the app".into(),
            Self::Silent { .. } => "Android freezes apps in the background: bring the app to the foreground".into(),
            _ => String::new(),
        }
    }
}

fn not_answering(address: &ServerAddress) -> String {
    if address.is_local() {
        "start it with `adb start-server`".into()
    } else {
        format!("start the adb server on its own machine, and see whether {address} can be reached from here")
    }
}

fn list(devices: &[Device]) -> String {
    let devices: Vec<_> = devices.iter().map(Device::to_string).collect();
    devices.join(", ")
}
