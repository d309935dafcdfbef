//! Which device is meant. Nothing is guessed: with several devices, somebody has to say.

use std::ffi::OsString;

use crate::device::Device;
use crate::error::Error;

/// The serial number that was asked for: the explicit one, else `DEVICE_SERIAL`, else `ANDROID_SERIAL`. An
/// empty variable is as good as none.
pub fn wanted_serial(explicit: Option<String>, lookup: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    explicit.or_else(|| {
        ["DEVICE_SERIAL", "ANDROID_SERIAL"]
            .into_iter()
            .filter_map(lookup)
            .map(|serial| serial.to_string_lossy().into_owned())
            .find(|serial| !serial.is_empty())
    })
}

/// The device of that serial number, or without one, the only device that is ready.
///
/// # Errors
///
/// [`Error::NoDevice`], [`Error::UnknownDevice`] and [`Error::SeveralDevices`]; and what keeps the chosen
/// device from being used: [`Error::Unauthorized`], [`Error::Offline`], [`Error::NoPermissions`],
/// [`Error::NotReady`].
pub fn choose<'d>(devices: &'d [Device], serial: Option<&str>) -> Result<&'d Device, Error> {
    let meant: Vec<&Device> =
        devices.iter().filter(|device| serial.is_none_or(|serial| device.serial == serial)).collect();
    let ready: Vec<&Device> = meant.iter().copied().filter(|device| device.is_ready()).collect();
    let several = |devices: &[&Device]| {
        Err(Error::SeveralDevices { devices: devices.iter().copied().cloned().collect() })
    };
    match (ready.as_slice(), meant.as_slice(), serial) {
        ([device], ..) => Ok(device),
        ([], [device], _) => device.ready(),
        ([], [], Some(serial)) => {
            Err(Error::UnknownDevice { serial: serial.to_owned(), devices: devices.to_vec() })
        }
        ([], [], None) => Err(Error::NoDevice),
        ([], meant, _) => several(meant),
        (ready, ..) => several(ready),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::devices;

    fn list(lines: &str) -> Vec<Device> {
        devices(lines).unwrap()
    }

    #[test]
    fn the_explicit_serial_comes_first_then_the_variables() {
        let lookup = |name: &str| match name {
            "DEVICE_SERIAL" => Some("device".into()),
            "ANDROID_SERIAL" => Some("android".into()),
            _ => None,
        };
        assert_eq!(wanted_serial(Some("said".into()), lookup).as_deref(), Some("said"));
        assert_eq!(wanted_serial(None, lookup).as_deref(), Some("device"));
        let lookup = |name: &str| match name {
            "DEVICE_SERIAL" => Some("".into()),
            "ANDROID_SERIAL" => Some("android".into()),
            _ => None,
        };
        assert_eq!(wanted_serial(None, lookup).as_deref(), Some("android"));
        assert_eq!(wanted_serial(None, |_| None), None);
    }

    #[test]
    fn the_only_ready_device_is_meant() {
        let devices =
            list("A unauthorized transport_id:1\nB device transport_id:2\nC offline transport_id:3\n");
        assert_eq!(choose(&devices, None).unwrap().serial, "B");
    }

    #[test]
    fn several_ready_devices_are_refused_and_listed() {
        let devices = list("A device transport_id:1\nB device transport_id:2\nC offline transport_id:3\n");
        match choose(&devices, None) {
            Err(Error::SeveralDevices { devices }) => {
                let serials: Vec<_> = devices.iter().map(|device| device.serial.as_str()).collect();
                assert_eq!(serials, ["A", "B"]);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(choose(&devices, Some("B")).unwrap().transport_id, 2);
    }

    #[test]
    fn a_device_that_is_not_ready_says_why() {
        let one = |line: &str| choose(&list(line), None).unwrap_err().code();
        assert_eq!(one("A unauthorized transport_id:1\n"), "device-unauthorized");
        assert_eq!(one("A offline transport_id:1\n"), "device-offline");
        assert_eq!(one("A recovery transport_id:1\n"), "device-not-ready");
        assert_eq!(one("A no permissions; see [http://x] usb:1-1 transport_id:1\n"), "device-no-permissions");
        assert_eq!(one(""), "no-device");
        assert_eq!(one("A offline transport_id:1\nB offline transport_id:2\n"), "several-devices");
    }

    #[test]
    fn an_unknown_serial_lists_what_is_there() {
        let error = choose(&list("A device transport_id:1\n"), Some("B")).unwrap_err();
        assert!(
            matches!(&error, Error::UnknownDevice { serial, devices } if serial == "B" && devices.len() == 1)
        );
        assert!(error.hint().contains("A (device)"), "{}", error.hint());
    }

    #[test]
    fn of_two_devices_with_one_serial_the_ready_one_is_meant() {
        let devices = list("A offline transport_id:1\nA device transport_id:2\n");
        assert_eq!(choose(&devices, Some("A")).unwrap().transport_id, 2);
    }
}
