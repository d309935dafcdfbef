//! Devices as they come, change and go.
//!
//! It starts no server: when the server stops, it waits for another one at the same address.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt;
use tokio::time::{sleep, timeout};

use crate::connection::Connection;
use crate::device::Device;
use crate::error::Error;
use crate::server::AdbServer;
use crate::socket::Socket;
use crate::wire;

/// How long the server may be quiet before it is asked. NOTE: adb 29 tells only when it is back that a device
/// on the network went offline; adb 36 tells at once.
const QUIET: Duration = Duration::from_secs(1);
/// The pause between attempts to reach the server again.
const PAUSE: Duration = Duration::from_millis(250);

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A device is there. Those that are there at first arrive too.
    Arrived(Device),
    /// A device is otherwise than it was, mostly in its state. If it was ready and is not now, its forwards
    /// are gone.
    Changed {
        /// The device before.
        before: Device,
        /// The device now.
        now: Device,
    },
    /// A device is gone, and its forwards with it.
    Removed(Device),
    /// The server is gone, after its devices. With it went all forwards, and all transport ids mean nothing
    /// now.
    ServerLost,
    /// A server is there again, before its devices.
    ServerBack,
}

/// Follows the server's devices. It works while [`next`](Self::next) is awaited.
#[derive(Debug)]
pub struct Tracker {
    server: AdbServer,
    /// None when the server is lost.
    updates: Option<Updates>,
    devices: Vec<Device>,
    changes: VecDeque<Change>,
}

impl AdbServer {
    /// Follows the devices. Those that are there arrive first.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version).
    pub async fn track(&self) -> Result<Tracker, Error> {
        let (updates, devices) = Updates::begin(self).await?;
        let mut tracker = Tracker {
            server: self.clone(),
            updates: Some(updates),
            devices: Vec::new(),
            changes: VecDeque::new(),
        };
        tracker.update(devices);
        Ok(tracker)
    }
}

impl Tracker {
    /// The devices as the server last listed them. Changes to them may not have been taken yet.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Waits for the next change, however long it takes. Nothing is lost if the future is dropped.
    ///
    /// A server that stops is waited for, likewise. The connection to it and its devices are dropped then,
    /// because another server gives the same transport ids to other devices.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] and [`Error::NotAdb`], as of every request. The tracker goes on when it is asked
    /// again.
    pub async fn next(&mut self) -> Result<Change, Error> {
        loop {
            if let Some(change) = self.changes.pop_front() {
                return Ok(change);
            }
            let Some(updates) = &mut self.updates else {
                self.reconnect().await?;
                continue;
            };
            match timeout(QUIET, updates.next()).await {
                Ok(Ok(list)) => self.update(parse(&self.server, &list)?),
                Ok(Err(_)) => self.lose(),
                Err(_) => match self.server.devices().await {
                    Ok(devices) => self.update(devices),
                    // The updates end too, in a moment.
                    Err(Error::Unreachable { .. } | Error::Ended { .. }) => {}
                    Err(error) => return Err(error),
                },
            }
        }
    }

    fn update(&mut self, devices: Vec<Device>) {
        self.changes.extend(changes(&self.devices, &devices));
        self.devices = devices;
    }

    fn lose(&mut self) {
        self.updates = None;
        self.update(Vec::new());
        self.changes.push_back(Change::ServerLost);
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        loop {
            match Updates::begin(&self.server).await {
                Ok((updates, devices)) => {
                    self.updates = Some(updates);
                    self.changes.push_back(Change::ServerBack);
                    self.update(devices);
                    return Ok(());
                }
                Err(Error::Unreachable { .. } | Error::Ended { .. }) => sleep(PAUSE).await,
                Err(error) => return Err(error),
            }
        }
    }
}

/// What happened between two lists.
fn changes(before: &[Device], now: &[Device]) -> Vec<Change> {
    let find = |devices: &[Device], id: u64| devices.iter().find(|device| device.transport_id == id).cloned();
    let removed = before.iter().filter(|device| find(now, device.transport_id).is_none());
    let mut changes: Vec<Change> = removed.cloned().map(Change::Removed).collect();
    changes.extend(now.iter().cloned().filter_map(|now| match find(before, now.transport_id) {
        None => Some(Change::Arrived(now)),
        Some(before) if before != now => Some(Change::Changed { before, now }),
        Some(_) => None,
    }));
    changes
}

fn parse(server: &AdbServer, list: &[u8]) -> Result<Vec<Device>, Error> {
    wire::devices(&String::from_utf8_lossy(list)).map_err(|line| server.not_understood(REQUEST, line))
}

const REQUEST: &str = "host:track-devices-l";

/// The lists that the server sends. NOTE: nothing may be written to that connection.
#[derive(Debug)]
struct Updates {
    socket: Socket,
    buffer: BytesMut,
}

impl Updates {
    async fn begin(server: &AdbServer) -> Result<(Self, Vec<Device>), Error> {
        let mut connection = Connection::open(server).await?;
        connection.request(REQUEST).await?;
        let devices = parse(server, connection.text().await?.as_bytes())?;
        Ok((Self { socket: connection.into_socket(), buffer: BytesMut::new() }, devices))
    }

    /// The next list. What has come of it stays in the buffer if the future is dropped.
    async fn next(&mut self) -> io::Result<Bytes> {
        loop {
            let text = wire::take_text(&mut self.buffer);
            match text.map_err(|wire::Garbage| io::ErrorKind::InvalidData)? {
                Some(list) => return Ok(list),
                None if self.socket.read_buf(&mut self.buffer).await? == 0 => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_what_differs() {
        let list = |lines: &str| wire::devices(lines).unwrap();
        let before = list("A device transport_id:1\nB device transport_id:2\nC device transport_id:3\n");
        let now = list("B offline transport_id:2\nC device transport_id:3\nA device transport_id:4\n");
        let expected = [
            Change::Removed(before[0].clone()),
            Change::Changed { before: before[1].clone(), now: now[0].clone() },
            Change::Arrived(now[2].clone()),
        ];
        assert_eq!(changes(&before, &now), expected);
        assert!(changes(&now, &now).is_empty());
    }
}
