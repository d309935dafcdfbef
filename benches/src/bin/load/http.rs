//! HTTP/1.1 keep-alive, as much as the load needs: one POST, one answer with a Content-Length.

use std::io;
use std::ops::Range;

/// A whole POST; returns it and where the body starts in it.
pub(crate) fn request(authority: &str, path: &str, body: &str) -> (Vec<u8>, usize) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let start = head.len();
    (format!("{head}{body}").into_bytes(), start)
}

/// What the bytes so far are.
pub(crate) enum Answer {
    /// The body's place; the answer ends where it ends.
    Whole(Range<usize>),
    /// So many bytes from the start make it whole.
    Needs(usize),
}

/// Reads the head of an answer.
///
/// # Errors
///
/// When the status is not 200 or the length is not given.
pub(crate) fn answer(bytes: &[u8]) -> io::Result<Answer> {
    let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else {
        return Ok(Answer::Needs(bytes.len() + 1));
    };
    let start = head + 4;
    let head = std::str::from_utf8(&bytes[..head]).map_err(invalid)?;
    let (status, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(invalid(format!("answered {status}: {}", String::from_utf8_lossy(&bytes[start..]))));
    }
    let length = headers
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse::<usize>().ok())
        .ok_or_else(|| invalid("the answer has no Content-Length"))?;
    let end = start + length;
    Ok(if bytes.len() < end { Answer::Needs(end) } else { Answer::Whole(start..end) })
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_content_length_is_there() {
        let whole = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        assert!(matches!(answer(whole), Ok(Answer::Whole(body)) if &whole[body.clone()] == b"hello"));
        assert!(
            matches!(answer(&whole[..whole.len() - 2]), Ok(Answer::Needs(needed)) if needed == whole.len())
        );
        assert!(answer(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").is_err());
    }
}
