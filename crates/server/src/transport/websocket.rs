//! A WebSocket: one text frame is one message, both ways. Reading and writing are two directions of one
//! task with the outbox between them, and neither waits for the other.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::FusedStream;
use futures_sink::Sink;
use jumpseat_proto::Envelope;
use tokio::time::{Instant, Sleep};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message, Utf8Bytes};

use crate::connection::{Connection, End, Kind, Received, Receiver, Sender, outbox};
use crate::limits::Limits;
use crate::listener::Wire;
use crate::server::Shared;
use crate::tools::Transport;

/// Bytes read at once. Each open WebSocket keeps a buffer of this size.
const READ_BUFFER: usize = 4 << 10;
/// Bytes that are put together before they are written.
const WRITE_BUFFER: usize = 16 << 10;
/// How long the other side may take to answer our close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(400);

struct Socket {
    frames: WebSocketStream<Wire>,
    connection: Arc<Connection>,
    sender: Sender,
    receiver: Receiver,
    ping: Pin<Box<Sleep>>,
    ping_interval: Duration,
    unanswered: u32,
    max_unanswered: u32,
    max_message_bytes: usize,
    /// Something was given to `frames` that is not on the wire yet.
    unflushed: bool,
}

/// Serves a WebSocket whose handshake is done. `read` came with the handshake.
pub(crate) async fn serve(shared: Arc<Shared>, wire: Wire, read: Vec<u8>) {
    let limits = shared.limits();
    let frames = WebSocketStream::from_partially_read(wire, read, Role::Server, Some(config(limits))).await;
    let _entered = shared.websockets().enter();
    let connection = Connection::new(shared.clone(), Transport::WebSocket);
    let (sender, receiver) = outbox(limits, None);
    let _seat = shared.hub().join(Kind::Stream, sender.clone(), Some(connection.clone()));
    let mut socket = Socket {
        frames,
        connection: connection.clone(),
        sender,
        receiver,
        ping: Box::pin(tokio::time::sleep(limits.ping_interval)),
        ping_interval: limits.ping_interval,
        unanswered: 0,
        max_unanswered: limits.max_unanswered_pings,
        max_message_bytes: limits.max_message_bytes,
        unflushed: false,
    };
    let close = std::future::poll_fn(|cx| socket.poll(cx)).await;
    connection.close();
    if let Some(frame) = close {
        // Who does not answer in time has nothing to lose.
        _ = tokio::time::timeout(CLOSE_TIMEOUT, socket.close(frame)).await;
    }
}

fn config(limits: &Limits) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(limits.max_message_bytes))
        .max_frame_size(Some(limits.max_message_bytes))
}

fn frame(code: CloseCode, reason: impl Into<Utf8Bytes>) -> CloseFrame {
    CloseFrame { code, reason: reason.into() }
}

impl Socket {
    /// Runs until the WebSocket is to be closed, or (`None`) is closed.
    fn poll(&mut self, cx: &mut Context) -> Poll<Option<CloseFrame>> {
        self.receiver.awake();
        loop {
            if let Poll::Ready(close) = self.poll_incoming(cx) {
                return Poll::Ready(close);
            }
            let held_back = self.sender.is_crowded();
            if let Poll::Ready(close) = self.poll_ping(cx) {
                return Poll::Ready(close);
            }
            if let Poll::Ready(close) = self.poll_outgoing(cx) {
                return Poll::Ready(close);
            }
            // What was not read because of the crowd can be read now.
            if !held_back || self.sender.is_crowded() {
                return Poll::Pending;
            }
        }
    }

    /// Pings now and then, and ends a WebSocket that does not answer.
    fn poll_ping(&mut self, cx: &mut Context) -> Poll<Option<CloseFrame>> {
        if self.ping.as_mut().poll(cx).is_ready() {
            if self.unanswered >= self.max_unanswered {
                return Poll::Ready(Some(frame(CloseCode::Policy, "you did not answer our pings")));
            }
            self.ping.as_mut().reset(Instant::now() + self.ping_interval);
            // Registers with the timer again.
            _ = self.ping.as_mut().poll(cx);
            self.unanswered += 1;
            if self.send(Message::Ping(Bytes::new())).is_err() {
                return Poll::Ready(None);
            }
        }
        Poll::Pending
    }

    /// Reads until there is nothing to read, or much to write: a client that does not read is not read from.
    fn poll_incoming(&mut self, cx: &mut Context) -> Poll<Option<CloseFrame>> {
        while !self.sender.is_crowded() {
            let message = match ready!(Pin::new(&mut self.frames).poll_next(cx)) {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Poll::Ready(self.refusal(&error)),
                None => return Poll::Ready(None),
            };
            self.unanswered = 0;
            match message {
                Message::Text(text) => self.receive(&text),
                Message::Binary(_) => {
                    let reason = "a message is a text frame, not a binary one";
                    return Poll::Ready(Some(frame(CloseCode::Unsupported, reason)));
                }
                // The answer to it is queued by now.
                Message::Ping(_) | Message::Close(_) => self.unflushed = true,
                Message::Pong(_) | Message::Frame(_) => {}
            }
        }
        Poll::Pending
    }

    fn receive(&mut self, text: &str) {
        let _at_work = self.connection.begin_work();
        match self.connection.receive(text, Envelope::Stream, &self.sender) {
            Received::Reply(reply) => self.sender.reply(reply),
            Received::Pending { .. } | Received::Nothing => {}
        }
    }

    /// Writes what waits to be written, as far as the client takes it.
    fn poll_outgoing(&mut self, cx: &mut Context) -> Poll<Option<CloseFrame>> {
        loop {
            match Pin::new(&mut self.frames).poll_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(None),
                Poll::Pending if self.receiver.poll_overflow(cx) => {
                    return Poll::Ready(Some(self.farewell()));
                }
                Poll::Pending => return Poll::Pending,
            }
            match self.receiver.poll_next(cx) {
                Poll::Ready(Some(message)) => {
                    if self.send(Message::Text(message.into_text())).is_err() {
                        return Poll::Ready(None);
                    }
                }
                Poll::Ready(None) => return Poll::Ready(Some(self.farewell())),
                Poll::Pending => break,
            }
        }
        if self.unflushed {
            match ready!(Pin::new(&mut self.frames).poll_flush(cx)) {
                Ok(()) => self.unflushed = false,
                Err(_) => return Poll::Ready(None),
            }
        }
        Poll::Pending
    }

    fn send(&mut self, message: Message) -> Result<(), Error> {
        self.unflushed = true;
        Pin::new(&mut self.frames).start_send(message)
    }

    fn farewell(&self) -> CloseFrame {
        match self.receiver.end() {
            Some(End::GoingAway) => frame(CloseCode::Away, "the server stops"),
            Some(End::Overflow) => {
                frame(CloseCode::Policy, "you did not read: too many messages are waiting for you")
            }
            Some(End::Finished) | None => frame(CloseCode::Normal, ""),
        }
    }

    /// What to tell a client whose frames are wrong; `None` when the connection is gone.
    fn refusal(&self, error: &Error) -> Option<CloseFrame> {
        match error {
            Error::Capacity(CapacityError::MessageTooLong { .. }) => Some(frame(
                CloseCode::Size,
                format!("the message is over the limit of {} bytes", self.max_message_bytes),
            )),
            Error::Utf8(_) => Some(frame(CloseCode::Invalid, "a text frame is UTF-8")),
            Error::Protocol(error) => {
                // A reason has 123 bytes at most.
                let reason = error.to_string().chars().take(100).collect::<String>();
                Some(frame(CloseCode::Protocol, reason))
            }
            _ => None,
        }
    }

    /// Sends a close frame after all that is queued, and waits for the answer.
    async fn close(&mut self, close: CloseFrame) -> Result<(), Error> {
        let is_broken = self.frames.is_terminated();
        if self.send(Message::Close(Some(close))).is_err() {
            return Ok(());
        }
        std::future::poll_fn(|cx| Pin::new(&mut self.frames).poll_flush(cx)).await?;
        if is_broken {
            return Ok(self.frames.get_mut().end().await?);
        }
        while let Some(message) = std::future::poll_fn(|cx| Pin::new(&mut self.frames).poll_next(cx)).await {
            message?;
        }
        Ok(())
    }
}
