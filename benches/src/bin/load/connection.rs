//! One connection to the server under load: one call at a time, its request written once and patched.

use std::io;
use std::ops::Range;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::{FIRST_ID, ID_DIGITS};
use crate::http;
use crate::options::{Options, Transport};
use crate::websocket::{self, Frame};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const BEFORE_ID: &str = r#"{"jsonrpc":"2.0","id":"#;

pub(crate) struct Connection {
    stream: TcpStream,
    transport: Transport,
    request: Vec<u8>,
    /// Where the message starts in `request`.
    message_at: usize,
    incoming: Vec<u8>,
    /// What `incoming` holds and nobody has used yet.
    unread: Range<usize>,
}

impl Connection {
    /// Connects; over WebSocket also upgrades and makes the MCP handshake.
    pub(crate) async fn open(options: &Options, text: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(&options.authority).await?;
        stream.set_nodelay(true)?;
        let message = format!(
            r#"{BEFORE_ID}{FIRST_ID},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}}}}}}"#
        );
        let (request, message_at) = match options.transport {
            Transport::Http => http::request(&options.authority, &options.path, &message),
            Transport::WebSocket => websocket::frame(websocket::TEXT, message.as_bytes()),
        };
        let incoming = vec![0; text.len() + 1024];
        let transport = options.transport;
        let mut connection = Self { stream, transport, request, message_at, incoming, unread: 0..0 };
        if transport == Transport::WebSocket {
            connection.upgrade(options).await?;
        }
        Ok(connection)
    }

    async fn upgrade(&mut self, options: &Options) -> io::Result<()> {
        let upgrade = websocket::upgrade(&options.authority, &options.path);
        self.stream.write_all(upgrade.as_bytes()).await?;
        let end = loop {
            if let Some(end) = self.bytes().windows(4).position(|end| end == b"\r\n\r\n") {
                break end + 4;
            }
            self.read_up_to(self.unread.len() + 1).await?;
        };
        if !websocket::accepted(&self.bytes()[..end]) {
            let answer = String::from_utf8_lossy(self.bytes()).into_owned();
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("no WebSocket here: {answer}")));
        }
        self.unread.start += end;
        self.stream.write_all(&websocket::frame(websocket::TEXT, INITIALIZE.as_bytes()).0).await?;
        self.receive().await?;
        self.stream.write_all(&websocket::frame(websocket::TEXT, INITIALIZED.as_bytes()).0).await
    }

    /// Calls the tool and returns the JSON-RPC message that came back.
    pub(crate) async fn call(&mut self, id: u64) -> io::Result<&[u8]> {
        let digits = id.to_string();
        debug_assert_eq!(digits.len(), ID_DIGITS);
        for (at, digit) in (BEFORE_ID.len()..).zip(digits.bytes()) {
            self.request[self.message_at + at] = match self.transport {
                Transport::Http => digit,
                Transport::WebSocket => websocket::masked(at, digit),
            };
        }
        self.stream.write_all(&self.request).await?;
        self.receive().await
    }

    /// The next message of the server. Pings are answered on the way.
    pub(crate) async fn receive(&mut self) -> io::Result<&[u8]> {
        loop {
            let start = self.unread.start;
            let needed = match self.transport {
                Transport::Http if self.unread.is_empty() => 1,
                Transport::Http => match http::answer(self.bytes())? {
                    http::Answer::Whole(body) => return Ok(self.take(start, body)),
                    http::Answer::Needs(needed) => needed,
                },
                Transport::WebSocket => match websocket::read(self.bytes())? {
                    Frame::Whole(websocket::TEXT, text) => return Ok(self.take(start, text)),
                    Frame::Whole(websocket::PING, payload) => {
                        let ping = self.take(start, payload).to_vec();
                        self.stream.write_all(&websocket::frame(websocket::PONG, &ping).0).await?;
                        continue;
                    }
                    Frame::Whole(opcode, _) => {
                        let error = format!("the server sent a frame with opcode {opcode}");
                        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
                    }
                    Frame::Needs(needed) => needed,
                },
            };
            self.read_up_to(needed).await?;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.incoming[self.unread.clone()]
    }

    /// Marks a message as used; its place counts from `start`.
    fn take(&mut self, start: usize, message: Range<usize>) -> &[u8] {
        self.unread.start = start + message.end;
        &self.incoming[start + message.start..start + message.end]
    }

    /// Reads once, with room for `needed` unread bytes or more.
    async fn read_up_to(&mut self, needed: usize) -> io::Result<()> {
        self.incoming.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.incoming.len() <= needed {
            self.incoming.resize(needed + 1024, 0);
        }
        let read = self.stream.read(&mut self.incoming[self.unread.end..]).await?;
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"));
        }
        self.unread.end += read;
        Ok(())
    }
}
