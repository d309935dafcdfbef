//! One connection to the adb server, and the requests on it. Each wait has a deadline.
//!
//! It does not know what the requests mean. NOTE: a request is written only after the answer to the one before, and
//! nothing is read beyond an answer: what follows may be a device's bytes.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
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
}

impl Connection {
    pub(crate) async fn open(server: &AdbServer) -> Result<Self, Error> {
        let (address, deadlines) = (server.address().clone(), server.deadlines());
        match timeout(deadlines.connect, Socket::connect(&address)).await {
            Ok(Ok(socket)) => {
                Ok(Self { socket, address, reply: deadlines.reply, request: String::new() })
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
        within(self.reply, &self.request, self.socket.write_all(&bytes)).await?;
        self.status().await
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
        within(self.reply, &self.request, self.socket.read_exact(&mut text)).await?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads that many bytes.
    pub(crate) async fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        within(self.reply, &self.request, self.socket.read_exact(&mut bytes)).await?;
        Ok(bytes)
    }

    /// What came is not what an adb server sends.
    pub(crate) fn not_adb(&self, got: &[u8]) -> Error {
        Error::NotAdb { address: self.address.clone(), got: String::from_utf8_lossy(got).into_owned() }
    }

    pub(crate) fn into_socket(self) -> Socket {
        self.socket
    }
}

/// Waits for reading or writing that is part of a request.
async fn within<T>(
    deadline: Duration,
    request: &str,
    io: impl Future<Output = io::Result<T>>,
) -> Result<T, Error> {
    match timeout(deadline, io).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(source)) => Err(Error::Ended { waiting_for: format!("`{request}`"), source }),
        Err(_) => Err(Error::Timeout { waiting_for: format!("the adb server's answer to `{request}`"), after: deadline }),
    }
}
