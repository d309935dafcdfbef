//! A device as the adb server lists it. It does not talk to the device.

use std::fmt;

use crate::error::Error;

/// A device of the adb server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// The serial number, or the address of a device that is reached over the network. It may have spaces.
    pub serial: String,
    /// Whether it can be used.
    pub state: DeviceState,
    /// The adb server's number for the connection to the device, unique until that server stops.
    pub transport_id: u64,
    /// The USB port, such as `usb:1-1.4`.
    pub path: Option<String>,
    /// The product's name.
    pub product: Option<String>,
    /// The model, in letters, digits and underscores.
    pub model: Option<String>,
    /// The device's code name.
    pub name: Option<String>,
    /// Another device has the same serial number, so requests name this one by its transport id.
    pub shares_serial: bool,
}

impl Device {
    /// Whether programs on it can be reached.
    pub fn is_ready(&self) -> bool {
        self.state == DeviceState::Ready
    }

    /// How requests about the device begin.
    ///
    /// NOTE: the serial number is preferred, because a transport id is given to another device after the adb
    /// server was restarted.
    pub(crate) fn host_prefix(&self) -> String {
        if self.shares_serial {
            format!("host-transport-id:{}", self.transport_id)
        } else {
            format!("host-serial:{}", self.serial)
        }
    }

    /// Whether both are the same device, in two lists.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.serial == other.serial && (!self.shares_serial || self.transport_id == other.transport_id)
    }

    /// The device, if programs on it can be reached, or why not.
    pub(crate) fn ready(&self) -> Result<&Self, Error> {
        let serial = self.serial.clone();
        match &self.state {
            DeviceState::Ready => Ok(self),
            DeviceState::Unauthorized => Err(Error::Unauthorized { serial }),
            DeviceState::Offline => Err(Error::Offline { serial }),
            DeviceState::NoPermissions(reason) => {
                Err(Error::NoPermissions { serial, reason: reason.clone() })
            }
            DeviceState::Other(state) => Err(Error::NotReady { serial, state: state.clone() }),
        }
    }
}

impl fmt::Display for Device {
    /// Serial, state and model, as a list of devices shows them.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} ({}", self.serial, self.state)?;
        if let Some(model) = &self.model {
            write!(f, ", {model}")?;
        }
        f.write_str(")")
    }
}

/// What the adb server says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceState {
    /// It runs, and this machine may use it. adb's word is `device`.
    Ready,
    /// Its user has not allowed this machine to use it.
    Unauthorized,
    /// It is known and does not answer.
    Offline,
    /// This machine's system does not let adb open it; adb's own words on that.
    NoPermissions(String),
    /// Another state, in adb's word: `authorizing`, `connecting`, `recovery`, `sideload`, `rescue`,
    /// `bootloader`, …
    Other(String),
}

impl DeviceState {
    pub(crate) fn listed(text: &str) -> Self {
        match text {
            "device" => Self::Ready,
            "unauthorized" => Self::Unauthorized,
            "offline" => Self::Offline,
            text if text.starts_with("no permissions") => Self::NoPermissions(text.to_owned()),
            text => Self::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for DeviceState {
    /// adb's own word.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "device",
            Self::Unauthorized => "unauthorized",
            Self::Offline => "offline",
            Self::NoPermissions(text) | Self::Other(text) => text,
        })
    }
}
