//! A WebSocket client that sends the frames that it is told to, right ones and wrong ones, and does nothing by
//! itself but answer pings where a message is waited for.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Http, Response, soon};

pub const CONTINUATION: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// The bit of a frame that ends a message.
pub const FIN: u8 = 0x80;

/// The bit of a frame's second byte that says that its payload is masked.
pub const MASKED: u8 = 0x80;

/// The handshake of RFC 6455, 1.3.
pub const HANDSHAKE: [(&str, &str); 4] = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub fin: bool,
    pub opcode: u8,
    pub payload: Vec<u8>,
}

/// How the server ended a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With a close frame: its code (1005 when it has none), and its reason.
    Closed(u16, String),
    /// Without one.
    Cut,
}

pub struct WebSocket<S = TcpStream> {
    pub http: Http<S>,
}

impl WebSocket {
    pub async fn connect(port: u16) -> Self {
        Self::over(TcpStream::connect(("127.0.0.1", port)).await.unwrap()).await
    }

    /// Ends the connection without a word.
    pub fn abort(self) {
        self.http.stream.into_inner().set_zero_linger().unwrap();
    }
}

impl<S: AsyncReadExt + AsyncWriteExt + Unpin> WebSocket<S> {
    pub async fn over(stream: S) -> Self {
        let (socket, response) = Self::handshake(stream, &HANDSHAKE).await;
        assert_eq!(response.status, 101);
        socket
    }

    /// A handshake with those headers, and its answer without the body.
    pub async fn handshake(stream: S, headers: &[(&str, &str)]) -> (Self, Response) {
        let mut http = Http::over(stream);
        http.send("GET", "/mcp", headers, b"").await;
        let response = http.head().await;
        (Self { http }, response)
    }

    /// Sends a text message in one frame.
    pub async fn send(&mut self, text: impl AsRef<str>) {
        self.send_frame(FIN | TEXT, text.as_ref().as_bytes()).await;
    }

    /// Sends a frame with that first byte. The payload is masked.
    pub async fn send_frame(&mut self, first: u8, payload: impl AsRef<[u8]>) {
        self.http.write(frame(first, payload.as_ref())).await;
    }

    /// The next frame; `None` when the connection has ended.
    pub async fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 2];
        soon(self.http.stream.read_exact(&mut head)).await.ok()?;
        assert_eq!(head[1] & MASKED, 0, "a server does not mask");
        let length = match head[1] {
            126 => u64::from(soon(self.http.stream.read_u16()).await.ok()?),
            127 => soon(self.http.stream.read_u64()).await.ok()?,
            length => u64::from(length),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        soon(self.http.stream.read_exact(&mut payload)).await.ok()?;
        Some(Frame { fin: head[0] & FIN != 0, opcode: head[0] & 0x0f, payload })
    }

    /// The next message, or how the WebSocket ended. Pings are answered, pongs passed over.
    pub async fn next(&mut self) -> Result<Value, End> {
        loop {
            let Some(frame) = self.frame().await else { return Err(End::Cut) };
            match frame.opcode {
                TEXT => {
                    assert!(frame.fin, "one frame is one message");
                    return Ok(serde_json::from_slice(&frame.payload).unwrap());
                }
                PING => self.send_frame(FIN | PONG, &frame.payload).await,
                PONG => {}
                CLOSE => return Err(closed(&frame.payload)),
                other => panic!("a frame with the opcode {other}"),
            }
        }
    }

    /// The next message.
    pub async fn message(&mut self) -> Value {
        self.next().await.expect("a message, not the end")
    }

    /// Sends a message and takes the next one.
    pub async fn ask(&mut self, text: impl AsRef<str>) -> Value {
        self.send(text).await;
        self.message().await
    }

    /// How the WebSocket ended. Messages that come before are dropped.
    pub async fn end(&mut self) -> End {
        loop {
            if let Err(end) = self.next().await {
                return end;
            }
        }
    }

    /// The code of the close frame that ended the WebSocket.
    pub async fn close_code(&mut self) -> u16 {
        match self.end().await {
            End::Closed(code, _) => code,
            End::Cut => panic!("a close frame, not an end without one"),
        }
    }
}

fn closed(payload: &[u8]) -> End {
    match payload {
        [] => End::Closed(1005, String::new()),
        [high, low, reason @ ..] => {
            End::Closed(u16::from_be_bytes([*high, *low]), String::from_utf8(reason.to_vec()).unwrap())
        }
        [_] => panic!("a close frame of one byte"),
    }
}

/// The payload of a close frame.
pub fn close(code: u16, reason: &str) -> Vec<u8> {
    [&code.to_be_bytes(), reason.as_bytes()].concat()
}

/// The bytes of a masked frame.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
    let mut bytes = Vec::with_capacity(payload.len() + 14);
    bytes.push(first);
    match payload.len() {
        length @ 0..126 => bytes.push(MASKED | u8::try_from(length).unwrap()),
        length @ 126..0x1_0000 => {
            bytes.push(MASKED | 0x7e);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            bytes.push(MASKED | 0x7f);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}
