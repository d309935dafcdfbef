//! The adb server: what it is, which devices it has, and starting one where there is none.
//!
//! It never stops or replaces a server, whatever its version.

use std::future::Future;
use std::io::ErrorKind;
use std::time::Duration;

use crate::address::ServerAddress;
use crate::binary::AdbBinary;
use crate::choose::choose;
use crate::connection::Connection;
use crate::device::Device;
use crate::error::Error;
use crate::wire;

/// An adb server, which may or may not be running. It holds no connection: each request makes its own.
#[derive(Clone, Debug)]
pub struct AdbServer {
    address: ServerAddress,
    deadlines: Deadlines,
}

/// The time that things may take.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// Connecting to the server: 3 s, unless said otherwise.
    pub connect: Duration,
    /// Each part of the server's answer: 5 s. NOTE: the first answer of a server that was just started can
    /// take 3 s.
    pub reply: Duration,
    /// Running `adb start-server`: 20 s.
    pub start: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let (connect, reply, start) =
            (Duration::from_secs(3), Duration::from_secs(5), Duration::from_secs(20));
        Self { connect, reply, start }
    }
}

/// Whether the server had to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// It ran already.
    Running,
    /// This program started it.
    ByUs(AdbBinary),
}

impl AdbServer {
    /// The server at the address.
    pub fn new(address: ServerAddress) -> Self {
        Self { address, deadlines: Deadlines::default() }
    }

    /// The server that this process's environment names: see [`ServerAddress::from_variables`].
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAddress`].
    pub fn from_env() -> Result<Self, Error> {
        ServerAddress::from_variables(|name| std::env::var_os(name)).map(Self::new)
    }

    /// The same server, with other deadlines.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = deadlines;
        self
    }

    /// Where it is.
    pub fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// The time that things may take.
    pub fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    /// The version of the protocol that it speaks, such as 41.
    ///
    /// # Errors
    ///
    /// Those of every request: [`Error::Unreachable`], [`Error::Timeout`], [`Error::Ended`],
    /// [`Error::NotAdb`], [`Error::Rejected`] and [`Error::Outdated`].
    pub async fn version(&self) -> Result<u32, Error> {
        let request = "host:version";
        let version = self.query(request).await?;
        u32::from_str_radix(&version, 16).map_err(|_| self.not_understood(request, version))
    }

    /// The features of the server itself.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version).
    pub async fn features(&self) -> Result<Vec<String>, Error> {
        Ok(wire::features(&self.query("host:host-features").await?))
    }

    /// Its devices, in whatever state.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version).
    pub async fn devices(&self) -> Result<Vec<Device>, Error> {
        let request = "host:devices-l";
        let list = self.query(request).await?;
        wire::devices(&list).map_err(|line| self.not_understood(request, line))
    }

    /// The device of that serial number, or the only one that is ready: see [`choose`].
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version) and [`choose`].
    pub async fn device(&self, serial: Option<&str>) -> Result<Device, Error> {
        let devices = self.devices().await?;
        choose(&devices, serial).cloned()
    }

    /// The device's features, such as `shell_v2`.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version), and what keeps the device from being used:
    /// [`Error::UnknownDevice`], [`Error::Unauthorized`], [`Error::Offline`], [`Error::NoPermissions`],
    /// [`Error::NotReady`].
    pub async fn device_features(&self, device: &Device) -> Result<Vec<String>, Error> {
        let request = format!("{}:features", device.host_prefix());
        let features = self.about(device, self.query(&request)).await?;
        Ok(wire::features(&features))
    }

    /// Starts the server with the binary, if nothing answers at its address and that is on this machine. The
    /// binary is looked for only then, and run once.
    ///
    /// # Errors
    ///
    /// Those of [`version`](Self::version), [`Error::AdbNotFound`] and [`Error::AdbFailed`].
    pub async fn start_if_absent(
        &self,
        binary: impl FnOnce() -> Result<AdbBinary, Error>,
    ) -> Result<Started, Error> {
        let Err(absent) = self.version().await else { return Ok(Started::Running) };
        let Some(socket) = self.address.to_start_at().filter(|_| is_absence(&absent)) else {
            return Err(absent);
        };
        let binary = binary()?;
        binary.start_server(&socket, self.deadlines.start).await?;
        self.version().await?;
        Ok(Started::ByUs(binary))
    }

    /// A request that is answered by one text.
    pub(crate) async fn query(&self, request: &str) -> Result<String, Error> {
        let mut connection = Connection::open(self).await?;
        connection.request(request).await?;
        connection.text().await
    }

    /// What a request about a device gives. If the server refuses, the device's state says why: the server's
    /// own reason is empty for some requests, and about another device at times.
    pub(crate) async fn about<T>(
        &self,
        device: &Device,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match request.await {
            Err(error @ Error::Rejected { .. }) => {
                let devices = self.devices().await?;
                match devices.iter().find(|listed| listed.is(device)) {
                    Some(listed) => Err(listed.ready().err().unwrap_or(error)),
                    None => Err(Error::UnknownDevice { serial: device.serial.clone(), devices }),
                }
            }
            done => done,
        }
    }

    /// An adb server does not answer like this, except a very old one, whose lists lack the transport ids.
    pub(crate) fn not_understood(&self, request: &str, got: String) -> Error {
        if request.contains("devices") && !got.contains("transport_id:") {
            return Error::Outdated { request: request.to_owned() };
        }
        Error::NotAdb { address: self.address.clone(), got }
    }
}

/// Whether nothing is there, rather than something that cannot be talked to.
fn is_absence(error: &Error) -> bool {
    matches!(error, Error::Unreachable { source, .. }
        if matches!(source.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound))
}
