//! Refusals that are written by hand, where no request has been read: they are JSON like all others.

use std::time::Duration;

use hyper::StatusCode;
use jumpseat_proto::{ErrorCode, escape};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The body of an error: a JSON-RPC error response that answers no request.
pub(crate) fn error_body(code: ErrorCode, message: &str) -> String {
    let (code, message) = (code.number(), escape(message));
    format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":{message}}}}}"#)
}

/// A whole HTTP/1.1 response that ends the connection.
fn response(status: StatusCode, headers: &str, message: &str) -> Vec<u8> {
    let code = if status.is_server_error() { ErrorCode::Internal } else { ErrorCode::InvalidRequest };
    let body = error_body(code, message);
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

pub(crate) fn too_many_connections(limit: usize) -> Vec<u8> {
    let message =
        format!("{limit} connections are open, which is the limit: close one, or try again in a second");
    response(StatusCode::SERVICE_UNAVAILABLE, "retry-after: 1\r\n", &message)
}

pub(crate) fn foreign_peer(uid: Option<u32>) -> Vec<u8> {
    let uid = uid.map_or_else(|| "an unknown user".to_owned(), |uid| format!("uid {uid}"));
    let message =
        format!("This socket is for root, the shell (uid 2000) and the app's own user; you are {uid}");
    response(StatusCode::FORBIDDEN, "", &message)
}

pub(crate) fn slow_head(timeout: Duration) -> Vec<u8> {
    let message = format!("The head of the request did not arrive within {} ms", timeout.as_millis());
    response(StatusCode::REQUEST_TIMEOUT, "", &message)
}

/// What to write in the place of a bodiless refusal of `hyper`'s; `None` when it is not one.
pub(crate) fn instead_of(written: &[u8]) -> Option<Vec<u8>> {
    let rest = written.strip_prefix(b"HTTP/1.1 4")?;
    let (status, message) = match rest.get(..2)? {
        b"00" => (StatusCode::BAD_REQUEST, "This is not a valid HTTP/1.1 request"),
        b"14" => (StatusCode::URI_TOO_LONG, "The URL is too long"),
        b"31" => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is too large"),
        _ => return None,
    };
    // All of our own refusals have a body.
    let head = std::str::from_utf8(written).ok()?;
    head.contains("\r\ncontent-length: 0\r\n").then(|| response(status, "", message))
}

/// Writes a refusal, and reads what the peer had sent, so that it is not lost to a reset.
pub(crate) async fn refuse(mut stream: super::Stream, refusal: Vec<u8>) {
    let exchange = async {
        match &mut stream {
            super::Stream::Tcp(stream) => say(stream, &refusal).await,
            #[cfg(any(target_os = "android", target_os = "linux"))]
            super::Stream::Local(stream) => say(stream, &refusal).await,
        }
    };
    // A peer that does not close within a second has had its time.
    _ = tokio::time::timeout(Duration::from_secs(1), exchange).await;
}

/// An error here means that the peer is gone, which is what a refusal is for.
async fn say<S: AsyncReadExt + AsyncWriteExt + Unpin>(stream: &mut S, refusal: &[u8]) {
    if stream.write_all(refusal).await.is_ok() && stream.shutdown().await.is_ok() {
        let mut rest = [0; 1024];
        while matches!(stream.read(&mut rest).await, Ok(1..)) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bodiless_refusal_is_replaced() {
        let bare = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let replaced = String::from_utf8(instead_of(bare).unwrap()).unwrap();
        assert!(replaced.starts_with("HTTP/1.1 431 ") && replaced.ends_with("}}"), "{replaced}");
        assert_eq!(instead_of(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 12\r\n\r\n"), None);
        assert_eq!(instead_of(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"), None);
        assert_eq!(instead_of(replaced.as_bytes()), None);
    }
}
