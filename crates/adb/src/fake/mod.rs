//! An adb server with devices, in process: a real listener that speaks the protocol, and answers as adb 29
//! does.
//!
//! ```
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use jumpseat_adb::fake::{FakeAdb, FakeDevice, Service};
//!
//! let adb = FakeAdb::start().await?;
//! adb.plug(FakeDevice::new("phone").service("tcp:8080", Service::port(18080)));
//! let device = adb.server().device(None).await?;
//! adb.unplug("phone").await;
//! # Ok(()) }
//! ```
//!
//! Forwards really listen and pipe. It knows the requests that this crate makes and no others, and it must be
//! used within a tokio runtime.

mod device;
mod forwards;
mod host;
mod state;
mod transport;

use std::io;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket};

pub use device::{FakeDevice, Service};
use state::{Server, Shared};

use crate::address::ServerAddress;
use crate::device::DeviceState;
use crate::endpoint::Endpoint;
use crate::forward::Forward;
use crate::server::AdbServer;

/// An adb server in process. It ends, with all its sockets, when it is dropped.
#[derive(Debug)]
pub struct FakeAdb {
    shared: Server,
}

impl FakeAdb {
    /// Starts a server on a free port of `127.0.0.1`, of version 41 and without devices.
    ///
    /// # Errors
    ///
    /// The system's, if it gives no port.
    pub async fn start() -> io::Result<Self> {
        Self::start_at(0).await
    }

    /// The same, on that port.
    ///
    /// # Errors
    ///
    /// The system's, if the port is taken.
    pub async fn start_at(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::new(port));
        shared.spawn(host::accept(listener, shared.clone()));
        Ok(Self { shared })
    }

    /// Where it listens.
    pub fn address(&self) -> ServerAddress {
        ServerAddress::tcp("127.0.0.1", self.shared.port)
    }

    /// A client of it.
    pub fn server(&self) -> AdbServer {
        AdbServer::new(self.address())
    }

    /// Says that it is of that version from now on.
    pub fn set_version(&self, version: u32) {
        self.shared.state().version = version;
    }

    /// Stops: connections end, forwards and transport ids are forgotten, and nothing answers at the port,
    /// which stays this server's.
    ///
    /// # Errors
    ///
    /// The system's, if somebody is quicker to take the port.
    pub async fn stop(&self) -> io::Result<()> {
        self.shared.stop().await;
        // Bound, and not listened on: who connects is refused, and nobody else is given the port.
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(([127, 0, 0, 1], self.shared.port).into())?;
        self.shared.state().reserved = Some(socket);
        Ok(())
    }

    /// Serves again at the same port, after [`stop`](Self::stop), with the devices that are plugged in. They
    /// get transport ids from 1.
    ///
    /// # Errors
    ///
    /// The system's, if somebody is quicker to take the port.
    pub async fn resume(&self) -> io::Result<()> {
        self.shared.state().renumber();
        drop(self.shared.state().reserved.take());
        let listener = TcpListener::bind(("127.0.0.1", self.shared.port)).await?;
        self.shared.spawn(host::accept(listener, self.shared.clone()));
        Ok(())
    }

    /// Takes requests and answers none, until [`release`](Self::release).
    pub fn hold(&self) {
        self.shared.held.send_replace(true);
    }

    /// Answers the requests that were held, and those to come.
    pub fn release(&self) {
        self.shared.held.send_replace(false);
    }

    /// All requests so far, those to devices included.
    pub fn requests(&self) -> Vec<String> {
        self.shared.state().requests.clone()
    }

    /// Its forwards.
    pub fn forwards(&self) -> Vec<Forward> {
        self.shared.state().forwards.iter().map(|listener| listener.forward.clone()).collect()
    }

    /// Connects a device. It gets the next transport id.
    pub fn plug(&self, device: FakeDevice) {
        self.shared.state().attach(device);
        self.shared.announce();
    }

    /// Disconnects the devices of that serial number: their streams end and their forwards go.
    pub async fn unplug(&self, serial: &str) {
        let detached = self.shared.state().detach(serial);
        forwards::end(detached.forwards).await;
        self.shared.announce();
    }

    /// Disconnects the devices of that serial number and connects them again, with new transport ids.
    pub async fn reboot(&self, serial: &str) {
        let detached = self.shared.state().detach(serial);
        forwards::end(detached.forwards).await;
        self.shared.announce();
        for device in detached.devices {
            self.plug(device);
        }
    }

    /// Puts a device into that state. Streams and forwards of one that is not ready end.
    pub async fn set_state(&self, serial: &str, state: DeviceState) {
        self.set_state_unannounced(serial, state).await;
        self.shared.announce();
    }

    /// The same, but who tracks the devices is not told, as adb 29 does for devices on the network.
    pub async fn set_state_unannounced(&self, serial: &str, state: DeviceState) {
        let ended = self.shared.state().set_state(serial, &state);
        forwards::end(ended).await;
    }

    /// Lets the service listen at that endpoint of a device from now on.
    pub fn set_service(&self, serial: &str, endpoint: &Endpoint, service: &Service) {
        self.shared.state().devices_mut(serial).for_each(|attached| {
            attached.device.services.insert(endpoint.to_string(), service.clone());
        });
    }

    /// Lets nothing listen at that endpoint of a device from now on.
    pub fn remove_service(&self, serial: &str, endpoint: &Endpoint) {
        self.shared.state().devices_mut(serial).for_each(|attached| {
            attached.device.services.remove(&endpoint.to_string());
        });
    }
}

impl Drop for FakeAdb {
    fn drop(&mut self) {
        self.shared.abort();
    }
}
