//! Packets of the shell protocol, version 2: a kind, a length in four bytes (little-endian), and the data.

use bytes::{Buf, Bytes, BytesMut};

pub(crate) const STDOUT: u8 = 1;
pub(crate) const STDERR: u8 = 2;
pub(crate) const EXIT: u8 = 3;
pub(crate) const CLOSE_STDIN: u8 = 4;

/// What the device sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ShellPacket {
    Stdout(Bytes),
    Stderr(Bytes),
    /// The command's exit code.
    Exit(u8),
    /// A kind that only the other side should send.
    Unknown,
}

/// Takes one packet off the buffer once it is all there.
pub(crate) fn shell_packet(buffer: &mut BytesMut) -> Option<ShellPacket> {
    let [kind, length @ ..] = *buffer.first_chunk::<5>()?;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    if buffer.len() - 5 < length {
        return None;
    }
    buffer.advance(5);
    let data = buffer.split_to(length).freeze();
    Some(match kind {
        STDOUT => ShellPacket::Stdout(data),
        STDERR => ShellPacket::Stderr(data),
        EXIT => data.first().map_or(ShellPacket::Unknown, |code| ShellPacket::Exit(*code)),
        _ => ShellPacket::Unknown,
    })
}

/// The packet that ends the command's input.
pub(crate) fn stdin_closed() -> [u8; 5] {
    [CLOSE_STDIN, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_in_pieces_and_in_crowds() {
        // From adbd, for `echo hi; echo err >&2; exit 3`.
        let bytes = b"\x01\x03\0\0\0hi\n\x02\x04\0\0\0err\n\x03\x01\0\0\0\x03";
        let expected =
            [ShellPacket::Stdout("hi\n".into()), ShellPacket::Stderr("err\n".into()), ShellPacket::Exit(3)];
        for size in [1, 6, bytes.len()] {
            let mut buffer = BytesMut::new();
            let mut packets = Vec::new();
            for piece in bytes.chunks(size) {
                buffer.extend_from_slice(piece);
                packets.extend(std::iter::from_fn(|| shell_packet(&mut buffer)));
            }
            assert_eq!(packets, expected);
        }
    }

    #[test]
    fn odd_packets_are_no_output() {
        let mut buffer = BytesMut::from(&b"\x09\x01\0\0\0x\x03\0\0\0\0"[..]);
        assert_eq!(shell_packet(&mut buffer), Some(ShellPacket::Unknown));
        assert_eq!(shell_packet(&mut buffer), Some(ShellPacket::Unknown));
        assert_eq!(shell_packet(&mut buffer), None);
    }
}
