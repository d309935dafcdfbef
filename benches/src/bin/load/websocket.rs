//! RFC 6455 from the client's side, as much as the load needs: whole text frames, and a pong for a ping.

use std::io;
use std::ops::Range;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
/// High bit of a frame's first byte: the message ends with this frame.
const LAST: u8 = 0x80;
/// High bit of a frame's second byte; the other seven are the length, or one of the two after it.
const MASKED: u8 = 0x80;
const LENGTH_IN_2_BYTES: u8 = 126;
const LENGTH_IN_8_BYTES: u8 = 127;

pub(crate) const TEXT: u8 = 1;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// The opening handshake.
pub(crate) fn upgrade(authority: &str, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
}

/// Whether these bytes are the server's accept for the key of [`upgrade`].
pub(crate) fn accepted(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    head.starts_with("HTTP/1.1 101 ") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
}

/// A masked frame; returns it and where the payload starts in it.
pub(crate) fn frame(opcode: u8, payload: &[u8]) -> (Vec<u8>, usize) {
    let mut frame = vec![LAST | opcode];
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ 0..=125), _) => frame.push(MASKED | length),
        (_, Ok(length)) => {
            frame.push(MASKED | LENGTH_IN_2_BYTES);
            frame.extend(length.to_be_bytes());
        }
        _ => {
            frame.push(MASKED | LENGTH_IN_8_BYTES);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    let start = frame.len();
    frame.extend(payload.iter().enumerate().map(|(at, byte)| masked(at, *byte)));
    (frame, start)
}

/// The byte at this place of a payload as it goes over the wire.
pub(crate) fn masked(at: usize, byte: u8) -> u8 {
    byte ^ MASK[at % 4]
}

/// What the bytes so far are.
pub(crate) enum Frame {
    /// A frame that ends where its payload ends.
    Whole(u8, Range<usize>),
    /// So many bytes from the start make it whole.
    Needs(usize),
}

/// Reads one frame of the server.
///
/// # Errors
///
/// When the frame is a fragment or masked, which no server here sends.
pub(crate) fn read(bytes: &[u8]) -> io::Result<Frame> {
    let &[first, second, ref rest @ ..] = bytes else { return Ok(Frame::Needs(2)) };
    if first & LAST == 0 || second & MASKED != 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the server sent a fragment or a masked frame",
        ));
    }
    let (start, length) = match second {
        LENGTH_IN_2_BYTES => match rest.first_chunk() {
            Some(length) => (4, u16::from_be_bytes(*length).into()),
            None => return Ok(Frame::Needs(4)),
        },
        LENGTH_IN_8_BYTES => match rest.first_chunk() {
            Some(length) => (10, u64::from_be_bytes(*length)),
            None => return Ok(Frame::Needs(10)),
        },
        length => (2, length.into()),
    };
    let length =
        usize::try_from(length).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let end = start + length;
    Ok(if bytes.len() < end { Frame::Needs(end) } else { Frame::Whole(first & 0x0f, start..end) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_form_is_read_as_it_is_written() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let (mut sent, start) = frame(TEXT, &vec![b'x'; length]);
            // The same frame from a server: no mask.
            sent.splice(start - 4..start, []);
            sent[1] &= !MASKED;
            let read = read(&sent).unwrap();
            assert!(
                matches!(read, Frame::Whole(TEXT, payload) if payload == (start - 4..start - 4 + length))
            );
        }
    }
}
