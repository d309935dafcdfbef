//! The lists of `host:list-forward` and `reverse:list-forward`.

use crate::endpoint::Endpoint;
use crate::forward::{Forward, Reverse};

/// What a local end begins with: where a serial number that has spaces stops.
const KINDS: [&str; 7] =
    ["tcp:", "local:", "localabstract:", "localreserved:", "localfilesystem:", "vsock:", "acceptfd:"];

/// The forwards of a list, or the first line that is not understood.
pub(crate) fn forwards(list: &str) -> Result<Vec<Forward>, String> {
    lines(list)
        .map(|(line, parts)| {
            let (serial, local, remote) = parts.ok_or_else(|| line.to_owned())?;
            Ok(Forward { serial: serial.to_owned(), local, remote })
        })
        .collect()
}

/// The reverse forwards of a device's list, or the first line that is not understood. What stands where a
/// forward has its serial number tells nothing (`host-12`, `UsbFfs`, `(reverse)`).
pub(crate) fn reverses(list: &str) -> Result<Vec<Reverse>, String> {
    lines(list)
        .map(|(line, parts)| {
            let (_, device, host) = parts.ok_or_else(|| line.to_owned())?;
            Ok(Reverse { device, host })
        })
        .collect()
}

type Parts<'l> = (&'l str, Endpoint, Endpoint);

fn lines(list: &str) -> impl Iterator<Item = (&str, Option<Parts<'_>>)> {
    list.lines().filter(|line| !line.is_empty()).map(|line| (line, parts(line)))
}

/// Reads `SERIAL LOCAL REMOTE`.
fn parts(line: &str) -> Option<Parts<'_>> {
    let mut spaces = line.match_indices(' ').map(|(at, _)| at);
    let at = spaces.find(|at| KINDS.iter().any(|kind| line[at + 1..].starts_with(kind)))?;
    let (local, remote) = line[at + 1..].split_once(' ')?;
    Some((&line[..at], Endpoint::listed(local), Endpoint::listed(remote)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(serial: &str, local: &str, remote: &str) -> Forward {
        Forward { serial: serial.into(), local: Endpoint::listed(local), remote: Endpoint::listed(remote) }
    }

    #[test]
    fn all_devices_forwards_are_listed() {
        let list = "10.77.1.2:5555 tcp:41477 tcp:8080\n\
                    emulator-5554 localabstract:xx tcp:8080\n\
                    emulator-5554 tcp:7060 localabstract:a b c\n\
                    emulator-5554 tcp:7061 jdwp:3\n\
                    adb-R5CT (2)._adb-tls-connect._tcp tcp:7062 tcp:1\n";
        assert_eq!(
            forwards(list).unwrap(),
            [
                forward("10.77.1.2:5555", "tcp:41477", "tcp:8080"),
                forward("emulator-5554", "localabstract:xx", "tcp:8080"),
                forward("emulator-5554", "tcp:7060", "localabstract:a b c"),
                forward("emulator-5554", "tcp:7061", "jdwp:3"),
                forward("adb-R5CT (2)._adb-tls-connect._tcp", "tcp:7062", "tcp:1"),
            ]
        );
        assert_eq!(forwards("").unwrap(), []);
        assert_eq!(forwards("A tcp:1\n"), Err("A tcp:1".into()));
    }

    #[test]
    fn reverse_forwards_begin_with_a_word_that_varies() {
        for who in ["host-12", "UsbFfs", "(reverse)", "host"] {
            let list = format!("{who} tcp:9001 tcp:9002\n");
            let expected = Reverse { device: Endpoint::Tcp(9001), host: Endpoint::Tcp(9002) };
            assert_eq!(reverses(&list).unwrap(), [expected]);
        }
    }
}
