//! The lists of `host:devices-l` and `host:track-devices-l`.

use std::collections::HashSet;

use crate::device::{Device, DeviceState};

/// adb's words for a device's state, except `no permissions (…)`, which is a sentence.
const STATES: [&str; 12] = [
    "device",
    "unauthorized",
    "offline",
    "authorizing",
    "connecting",
    "recovery",
    "sideload",
    "rescue",
    "bootloader",
    "host",
    "detached",
    "unknown",
];

/// The devices of a list, each once; or the first line that is not understood.
pub(crate) fn devices(list: &str) -> Result<Vec<Device>, String> {
    let mut devices: Vec<Device> = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty()) {
        let device = device(line).ok_or_else(|| line.to_owned())?;
        if devices.iter().all(|known| known.transport_id != device.transport_id) {
            devices.push(device);
        }
    }
    let mut seen = HashSet::new();
    let shared: HashSet<String> = devices
        .iter()
        .filter(|device| !seen.insert(device.serial.as_str()))
        .map(|device| device.serial.clone())
        .collect();
    for device in &mut devices {
        device.shares_serial = shared.contains(&device.serial);
    }
    Ok(devices)
}

/// Reads one line: `SERIAL STATE [PATH] [product:P] [model:M] [device:D] transport_id:N`.
///
/// The serial number and the state may contain spaces, what follows them does not. So it is read from the
/// end.
fn device(line: &str) -> Option<Device> {
    let (rest, transport_id) = line.trim_end().rsplit_once(" transport_id:")?;
    let (rest, name) = take_last(rest, "device:");
    let (rest, model) = take_last(rest, "model:");
    let (rest, product) = take_last(rest, "product:");
    let (serial, state, path) = serial_and_state(rest)?;
    Some(Device {
        serial: serial.trim_end().to_owned(),
        state: DeviceState::listed(state),
        transport_id: transport_id.parse().ok()?,
        path: path.map(str::to_owned),
        product,
        model,
        name,
        shares_serial: false,
    })
}

/// Takes the last word off, if it begins with the key.
fn take_last<'l>(line: &'l str, key: &str) -> (&'l str, Option<String>) {
    match line.rsplit_once(' ') {
        Some((rest, word)) if word.starts_with(key) => (rest, Some(word[key.len()..].to_owned())),
        _ => (line, None),
    }
}

fn serial_and_state(line: &str) -> Option<(&str, &str, Option<&str>)> {
    // `no permissions (user in plugdev group; …); see [http://…] usb:1-1`
    if let Some(at) = line.find(" no permissions") {
        let (serial, state) = (&line[..at], &line[at + 1..]);
        return Some(match state.rfind(']') {
            Some(end) => (serial, &state[..=end], word(&state[end + 1..])),
            None => match state.rsplit_once(' ') {
                Some((state, path)) if path.contains(':') => (serial, state, Some(path)),
                _ => (serial, state, None),
            },
        });
    }
    let (head, last) = line.rsplit_once(' ')?;
    if STATES.contains(&last) {
        return Some((head, last, None));
    }
    match head.trim_end().rsplit_once(' ') {
        Some((serial, state)) if STATES.contains(&state) => Some((serial, state, Some(last))),
        // A state that is newer than this list: the serial number has no spaces then.
        _ => {
            let (serial, rest) = line.split_once(' ')?;
            let mut words = rest.split_whitespace();
            Some((serial, words.next()?, words.next()))
        }
    }
}

fn word(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Device {
        let mut devices = devices(line).unwrap();
        assert_eq!(devices.len(), 1);
        devices.remove(0)
    }

    #[test]
    fn a_phone_on_usb() {
        let phone = one(
            "9B1FF0000000           device usb:1-1.4 product:shiba model:Pixel_8 device:shiba transport_id:3",
        );
        assert_eq!(
            phone,
            Device {
                serial: "9B1FF0000000".into(),
                state: DeviceState::Ready,
                transport_id: 3,
                path: Some("usb:1-1.4".into()),
                product: Some("shiba".into()),
                model: Some("Pixel_8".into()),
                name: Some("shiba".into()),
                shares_serial: false,
            }
        );
    }

    #[test]
    fn a_device_over_tcp_says_little() {
        let device = one("10.77.1.2:5555         device transport_id:1\n");
        assert_eq!(device.serial, "10.77.1.2:5555");
        assert_eq!((device.state, device.path, device.model), (DeviceState::Ready, None, None));
    }

    #[test]
    fn states_have_spaces_at_times() {
        for (line, state, path) in [
            ("A unauthorized usb:1-1 transport_id:1", DeviceState::Unauthorized, Some("usb:1-1")),
            ("A offline transport_id:1", DeviceState::Offline, None),
            (
                "A recovery product:p model:m device:d transport_id:1",
                DeviceState::Other("recovery".into()),
                None,
            ),
            ("A sleeping usb:1-1 transport_id:1", DeviceState::Other("sleeping".into()), Some("usb:1-1")),
            (
                "A  no permissions (missing udev rules?); see [http://a.b/c] usb:3-2 transport_id:1",
                DeviceState::NoPermissions("no permissions (missing udev rules?); see [http://a.b/c]".into()),
                Some("usb:3-2"),
            ),
            (
                "A no permissions; see [http://a.b/c] transport_id:1",
                DeviceState::NoPermissions("no permissions; see [http://a.b/c]".into()),
                None,
            ),
            (
                "A no permissions usb:1-1 transport_id:1",
                DeviceState::NoPermissions("no permissions".into()),
                Some("usb:1-1"),
            ),
        ] {
            let device = one(line);
            assert_eq!(device.serial, "A", "{line}");
            assert_eq!(device.state, state, "{line}");
            assert_eq!(device.path.as_deref(), path, "{line}");
        }
    }

    #[test]
    fn serials_have_spaces_at_times() {
        assert_eq!(one("(no serial number) device usb:1-1 transport_id:4").serial, "(no serial number)");
        let paired = one("adb-R5CT-abc (2)._adb-tls-connect._tcp offline transport_id:9");
        assert_eq!(paired.serial, "adb-R5CT-abc (2)._adb-tls-connect._tcp");
        assert_eq!(paired.state, DeviceState::Offline);
    }

    #[test]
    fn a_line_that_comes_twice_is_one_device() {
        let line = "A device transport_id:1\n";
        assert_eq!(devices(&line.repeat(2)).unwrap().len(), 1);
        assert!(!devices(&line.repeat(2)).unwrap()[0].shares_serial);
    }

    #[test]
    fn devices_with_one_serial_are_addressed_by_transport_id() {
        let list = "A device transport_id:1\nB device transport_id:2\nA device transport_id:3\n";
        let prefixes: Vec<_> = devices(list).unwrap().iter().map(Device::host_prefix).collect();
        assert_eq!(prefixes, ["host-transport-id:1", "host-serial:B", "host-transport-id:3"]);
    }

    #[test]
    fn a_line_without_transport_id_is_not_understood() {
        assert_eq!(devices("A device\n"), Err("A device".into()));
        assert_eq!(devices("A device transport_id:x\n"), Err("A device transport_id:x".into()));
        assert_eq!(devices("\n").unwrap(), []);
    }
}
