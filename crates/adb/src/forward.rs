//! Forwards: ports of the adb server's machine that lead to the device, whoever made them.
//!
//! It remembers none of them. A forward ends with the device (unplugged, rebooted, `adbd` restarted) and with
//! the adb server, and only the tracker tells.

use crate::address::ServerAddress;
use crate::connection::Connection;
use crate::device::Device;
use crate::endpoint::Endpoint;
use crate::error::{Error, Holder};
use crate::server::AdbServer;
use crate::wire;

/// A forward: connections to the local end come out at the remote end on the device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Forward {
    /// The device.
    pub serial: String,
    /// The end on the adb server's machine. A TCP port is bound on its IPv4 loopback: dial `127.0.0.1`.
    pub local: Endpoint,
    /// The end on the device. NOTE: a forward is made, and connects, although nothing listens there.
    pub remote: Endpoint,
}

/// A reverse forward: connections to an end on the device come out on the adb server's machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reverse {
    /// The end on the device.
    pub device: Endpoint,
    /// The end on the adb server's machine.
    pub host: Endpoint,
}

/// What happens to a forward that has the local end already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    Stays,
    IsReplaced,
}

impl AdbServer {
    /// Makes a forward. With `Endpoint::Tcp(0)` as its local end, any free port is taken; the result has it.
    ///
    /// A local end that is taken stays its holder's, even if the holder is this very forward:
    ///
    /// ```no_run
    /// # use jumpseat_adb::{AdbServer, Device, Endpoint, Error, Forward, Holder};
    /// # async fn example(server: AdbServer, device: Device, wanted: Forward) -> Result<Forward, Error> {
    /// match server.add_forward(&device, &wanted.local, &wanted.remote).await {
    ///     Err(Error::PortTaken { holder: Holder::Forward(holder), .. }) if holder == wanted => Ok(holder),
    ///     result => result,
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::PortTaken`], [`Error::InvalidEndpoint`], and those of
    /// [`device_features`](Self::device_features).
    pub async fn add_forward(
        &self,
        device: &Device,
        local: &Endpoint,
        remote: &Endpoint,
    ) -> Result<Forward, Error> {
        self.forward(device, local, remote, Existing::Stays).await
    }

    /// Makes a forward as plain `adb forward` does: one that has the local end is silently led elsewhere,
    /// even if it is another device's.
    ///
    /// # Errors
    ///
    /// Those of [`add_forward`](Self::add_forward).
    pub async fn replace_forward(
        &self,
        device: &Device,
        local: &Endpoint,
        remote: &Endpoint,
    ) -> Result<Forward, Error> {
        self.forward(device, local, remote, Existing::IsReplaced).await
    }

    async fn forward(
        &self,
        device: &Device,
        local: &Endpoint,
        remote: &Endpoint,
        existing: Existing,
    ) -> Result<Forward, Error> {
        local.check()?;
        remote.check()?;
        let norebind = if existing == Existing::Stays { "norebind:" } else { "" };
        let request = format!("{}:forward:{norebind}{local};{remote}", device.host_prefix());
        match self.about(device, self.bind(&request, local)).await {
            Ok(local) => Ok(Forward { serial: device.serial.clone(), local, remote: remote.clone() }),
            Err(Error::Rejected { request, reason }) => match self.holder(local, &reason).await? {
                Some(holder) => Err(Error::PortTaken { local: local.clone(), holder }),
                None => Err(Error::Rejected { request, reason }),
            },
            Err(error) => Err(error),
        }
    }

    /// Sends a request for a forward, and gives the local end that was bound.
    async fn bind(&self, request: &str, local: &Endpoint) -> Result<Endpoint, Error> {
        let mut connection = Connection::open(self).await?;
        connection.request(request).await?;
        // The first answer is that the request was understood, the second that the socket is bound.
        connection.status().await?;
        if *local != Endpoint::Tcp(0) {
            return Ok(local.clone());
        }
        let port = connection.text().await?;
        port.parse().map(Endpoint::Tcp).map_err(|_| connection.not_adb(port.as_bytes()))
    }

    /// Who has the local end, if that is what the server's refusal means.
    async fn holder(&self, local: &Endpoint, reason: &str) -> Result<Option<Holder>, Error> {
        Ok(match reason {
            "cannot rebind existing socket" => self
                .forwards()
                .await?
                .into_iter()
                .find(|forward| forward.local == *local)
                .map(Holder::Forward),
            // What the server says when it was started at `tcp:PORT` and this is that port.
            "internal error" => Some(Holder::AdbServer),
            // As the system says EADDRINUSE (Unix) and WSAEADDRINUSE (Windows).
            bind if bind.contains("already in use")
                || bind.contains("Only one usage of each socket address") =>
            {
                Some(if self.is_at(local) { Holder::AdbServer } else { Holder::Program })
            }
            _ => None,
        })
    }

    /// Whether the server itself listens at that end.
    fn is_at(&self, local: &Endpoint) -> bool {
        matches!(self.address(), ServerAddress::Tcp { port, .. } if *local == Endpoint::Tcp(*port))
    }

    /// All forwards: every tool's, on every device.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version).
    pub async fn forwards(&self) -> Result<Vec<Forward>, Error> {
        let request = "host:list-forward";
        let list = self.query(request).await?;
        wire::forwards(&list).map_err(|line| self.not_understood(request, line))
    }

    /// Removes this forward, unless its local end leads elsewhere by now. Connections through it live on.
    ///
    /// # Errors
    ///
    /// [`Error::NotForwarded`], [`Error::ForwardTaken`] and those of [`version`](Self::version).
    pub async fn remove_forward(&self, forward: &Forward) -> Result<(), Error> {
        let not_forwarded = || Error::NotForwarded { local: forward.local.clone() };
        // adb removes by the local end alone, and so would remove another device's forward.
        let listed = self.forwards().await?.into_iter().find(|listed| listed.local == forward.local);
        match listed {
            Some(listed) if listed == *forward => {}
            Some(holder) => return Err(Error::ForwardTaken { holder }),
            None => return Err(not_forwarded()),
        }
        let devices = self.devices().await?;
        let device = devices.iter().find(|device| device.serial == forward.serial && device.is_ready());
        let device = device.ok_or_else(not_forwarded)?;
        let mut connection = Connection::open(self).await?;
        match connection.request(&format!("{}:killforward:{}", device.host_prefix(), forward.local)).await {
            Err(Error::Rejected { reason, .. }) if reason.is_empty() || reason.ends_with("not found") => {
                Err(not_forwarded())
            }
            Err(error) => Err(error),
            Ok(()) => connection.status().await,
        }
    }

    /// Removes all forwards: every tool's, on every device.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version).
    pub async fn remove_all_forwards(&self) -> Result<(), Error> {
        let mut connection = Connection::open(self).await?;
        connection.request("host:killforward-all").await?;
        connection.status().await
    }

    /// The device's reverse forwards.
    ///
    /// # Errors
    ///
    /// Those of [`device_features`](Self::device_features).
    pub async fn reverses(&self, device: &Device) -> Result<Vec<Reverse>, Error> {
        let request = "reverse:list-forward";
        let mut connection = self.transport(device).await?;
        self.about(device, connection.request(request)).await?;
        let list = connection.text().await?;
        wire::reverses(&list).map_err(|line| self.not_understood(request, line))
    }
}
