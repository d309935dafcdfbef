//! The adb server's protocol as text and bytes: what is sent, and what the answers mean. No I/O.

mod devices;
mod forwards;
mod shell;
mod sockets;

pub(crate) use devices::devices;
pub(crate) use forwards::{forwards, reverses};
#[cfg(feature = "fake")]
pub(crate) use shell::{CLOSE_STDIN, EXIT, STDERR, STDOUT};
pub(crate) use shell::{ShellPacket, shell_packet, stdin_closed};
pub(crate) use sockets::abstract_sockets;

use bytes::{Buf, Bytes, BytesMut};

/// How the server takes a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Okay,
    /// A text with the reason follows.
    Fail,
}

/// The bytes of a request: its length in four hex digits, and the text. None if it is too long for that.
pub(crate) fn request(service: &str) -> Option<Vec<u8>> {
    let length = u16::try_from(service.len()).ok()?;
    Some(format!("{length:04x}{service}").into_bytes())
}

/// The status that an answer begins with, if this is the answer of an adb server.
pub(crate) fn status(bytes: [u8; 4]) -> Option<Status> {
    match &bytes {
        b"OKAY" => Some(Status::Okay),
        b"FAIL" => Some(Status::Fail),
        _ => None,
    }
}

/// A text's length: four hex digits.
pub(crate) fn length(bytes: [u8; 4]) -> Option<usize> {
    // `from_str_radix` alone would take a sign.
    if !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    usize::from_str_radix(std::str::from_utf8(&bytes).ok()?, 16).ok()
}

/// A text that is not preceded by its length in four hex digits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbage;

/// Takes one text off the buffer once it is all there.
pub(crate) fn take_text(buffer: &mut BytesMut) -> Result<Option<Bytes>, Garbage> {
    let Some(head) = buffer.first_chunk::<4>() else { return Ok(None) };
    let length = length(*head).ok_or(Garbage)?;
    if buffer.len() < 4 + length {
        return Ok(None);
    }
    buffer.advance(4);
    Ok(Some(buffer.split_to(length).freeze()))
}

/// The features in a comma-separated list.
pub(crate) fn features(list: &str) -> Vec<String> {
    list.split(',').filter(|feature| !feature.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_begins_with_its_length() {
        assert_eq!(request("host:version").unwrap(), b"000chost:version");
        assert_eq!(&request(&"x".repeat(0xffff)).unwrap()[..5], b"ffffx");
        assert_eq!(request(&"x".repeat(0x1_0000)), None);
    }

    #[test]
    fn only_okay_and_fail_are_statuses() {
        assert_eq!(status(*b"OKAY"), Some(Status::Okay));
        assert_eq!(status(*b"FAIL"), Some(Status::Fail));
        assert_eq!(status(*b"HTTP"), None);
    }

    #[test]
    fn lengths_are_four_hex_digits() {
        assert_eq!(length(*b"005a"), Some(0x5a));
        assert_eq!(length(*b"FFFF"), Some(0xffff));
        for wrong in [b"+05a", b"OKAY", b"   5"] {
            assert_eq!(length(*wrong), None);
        }
    }

    #[test]
    fn texts_are_taken_whole() {
        let mut buffer = BytesMut::from(&b"0003ab"[..]);
        assert_eq!(take_text(&mut buffer), Ok(None));
        buffer.extend_from_slice(b"c0000000");
        assert_eq!(take_text(&mut buffer), Ok(Some("abc".into())));
        assert_eq!(take_text(&mut buffer), Ok(Some("".into())));
        assert_eq!(take_text(&mut buffer), Ok(None));
        assert_eq!(take_text(&mut BytesMut::from(&b"HTTP/1.1"[..])), Err(Garbage));
    }

    #[test]
    fn features_are_parted_by_commas() {
        assert_eq!(features("cmd,shell_v2"), ["cmd", "shell_v2"]);
        assert!(features("").is_empty());
    }
}
