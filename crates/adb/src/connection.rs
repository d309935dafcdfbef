//! One connection to the adb server, and the requests on it. Each wait has a deadline.
//!
//! It does not know what the requests mean. NOTE: a request is written only after the answer to the one
//! before, and nothing is read beyond an answer: what follows may be a device's bytes.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::address::ServerAddress;
use crate::error::Error;
use crate::server::AdbServer;
use crate::socket::Socket;
use crate::wire::{self, Status};

#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    address: ServerAddress,
    /// The time that an answer has.
    reply: Duration,
    /// The request that is being answered.
    request: String,
    /// The device that requests go to, once the server has switched to it.
    device: Option<String>,
}

impl Connection {
    pub(crate) async fn open(server: &AdbServer) -> Result<Self, Error> {
        let (address, deadlines) = (server.address().clone(), server.deadlines());
        match timeout(deadlines.connect, Socket::connect(&address)).await {
            Ok(Ok(socket)) => {
                Ok(Self { socket, address, reply: deadlines.reply, request: String::new(), device: None })
            }
            Ok(Err(source)) => Err(Error::Unreachable { address, source }),
            Err(_) => Err(Error::Timeout {
                waiting_for: format!("connecting to the adb server at {address}"),
                after: deadlines.connect,
            }),
        }
    }

    /// Sends a request, and reads until it is accepted.
    pub(crate) async fn request(&mut self, request: &str) -> Result<(), Error> {
        let bytes = wire::request(request).ok_or(Error::TooLong { length: request.len() })?;
        request.clone_into(&mut self.request);
        let written = timeout(self.reply, self.socket.write_all(&bytes)).await;
        self.in_time(written)?;
        self.status().await
    }

    /// From now on, requests go to this device.
    pub(crate) fn switched_to(&mut self, serial: &str) {
        self.device = Some(serial.to_owned());
    }

    /// Reads whether it is accepted.
    pub(crate) async fn status(&mut self) -> Result<(), Error> {
        let head = self.array().await?;
        match wire::status(head) {
            Some(Status::Okay) => Ok(()),
            Some(Status::Fail) => {
                let (reason, request) = (self.text().await?, self.request.clone());
                Err(match reason.as_str() {
                    "unknown host service" => Error::Outdated { request },
                    _ => Error::Rejected { request, reason },
                })
            }
            None => Err(self.not_adb(&head)),
        }
    }

    /// Reads a text with its length.
    pub(crate) async fn text(&mut self) -> Result<String, Error> {
        let head = self.array().await?;
        let length = wire::length(head).ok_or_else(|| self.not_adb(&head))?;
        let mut text = vec![0; length];
        let read = timeout(self.reply, self.socket.read_exact(&mut text)).await;
        self.in_time(read)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads that many bytes.
    pub(crate) async fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        let read = timeout(self.reply, self.socket.read_exact(&mut bytes)).await;
        self.in_time(read)?;
        Ok(bytes)
    }

    /// What came is not what an adb server sends.
    pub(crate) fn not_adb(&self, got: &[u8]) -> Error {
        Error::NotAdb { address: self.address.clone(), got: String::from_utf8_lossy(got).into_owned() }
    }

    pub(crate) fn into_socket(self) -> Socket {
        self.socket
    }

    /// What reading or writing gave, or why it gave nothing.
    fn in_time<T>(&self, done: Result<io::Result<T>, Elapsed>) -> Result<T, Error> {
        let waiting_for = || {
            let on_device = self.device.as_ref().map(|serial| format!(" on {serial}")).unwrap_or_default();
            format!("the answer to `{}`{on_device}", self.request)
        };
        match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(source)) => Err(Error::Ended { waiting_for: waiting_for(), source }),
            Err(_) => Err(Error::Timeout { waiting_for: waiting_for(), after: self.reply }),
        }
    }
}
