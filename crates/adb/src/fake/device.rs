//! A device as a test describes it, and what listens on it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::TcpStream;

use crate::device::DeviceState;
use crate::endpoint::Endpoint;
use crate::forward::Reverse;
use crate::shell::ShellOutput;

/// The bytes that a service may be behind with.
const BUFFER: usize = 64 * 1024;

type Shell = Arc<dyn Fn(&str) -> Option<ShellOutput> + Send + Sync>;
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A device. It is ready, has the shell protocol of version 2, and nothing listens on it, unless said
/// otherwise.
#[derive(Clone)]
pub struct FakeDevice {
    pub(super) serial: String,
    pub(super) state: DeviceState,
    pub(super) model: Option<String>,
    pub(super) features: Vec<String>,
    pub(super) services: BTreeMap<String, Service>,
    pub(super) reverses: Vec<Reverse>,
    pub(super) shell: Shell,
}

impl FakeDevice {
    /// A device of that serial number.
    pub fn new(serial: impl Into<String>) -> Self {
        Self {
            serial: serial.into(),
            state: DeviceState::Ready,
            model: None,
            features: vec!["shell_v2".to_owned(), "cmd".to_owned()],
            services: BTreeMap::new(),
            reverses: Vec::new(),
            shell: Arc::new(|command| {
                let stderr = format!("/system/bin/sh: {command}: inaccessible or not found\n").into_bytes();
                Some(ShellOutput::Separate { exit_code: 127, stdout: Vec::new(), stderr })
            }),
        }
    }

    /// The same, of that model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The same, in that state.
    #[must_use]
    pub fn state(mut self, state: DeviceState) -> Self {
        self.state = state;
        self
    }

    /// The same, without a feature such as `shell_v2`.
    #[must_use]
    pub fn without(mut self, feature: &str) -> Self {
        self.features.retain(|known| known != feature);
        self
    }

    /// The same, with a service that listens at an endpoint such as `tcp:8080`. Those in the abstract socket
    /// namespace are in the device's `/proc/net/unix`.
    #[must_use]
    pub fn service(mut self, endpoint: impl Into<String>, service: Service) -> Self {
        self.services.insert(endpoint.into(), service);
        self
    }

    /// The same, with a reverse forward in its list. It does not listen.
    #[must_use]
    pub fn reverse(mut self, device: Endpoint, host: Endpoint) -> Self {
        self.reverses.push(Reverse { device, host });
        self
    }

    /// The same, where the closure runs the shell's commands; None is a command that does not end.
    /// `cat /proc/net/unix` is not asked for: the device knows its sockets.
    #[must_use]
    pub fn shell(mut self, run: impl Fn(&str) -> Option<ShellOutput> + Send + Sync + 'static) -> Self {
        self.shell = Arc::new(run);
        self
    }

    /// The state's rest of its line in the list of devices.
    pub(super) fn details(&self) -> String {
        self.model.as_ref().map(|model| format!(" model:{model}")).unwrap_or_default()
    }

    /// What the device's `/proc/net/unix` says.
    pub(super) fn socket_table(&self) -> String {
        let names = self.services.keys().filter_map(|endpoint| endpoint.strip_prefix("localabstract:"));
        let lines =
            names.map(|name| format!("0000000000000000: 00000002 00000000 00010000 0001 01 17420 @{name}\n"));
        format!("Num       RefCount Protocol Flags    Type St Inode Path\n{}", lines.collect::<String>())
    }
}

impl fmt::Debug for FakeDevice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "FakeDevice({:?}, {:?})", self.serial, self.state)
    }
}

/// What listens at an endpoint of a device.
#[derive(Clone)]
pub struct Service(Kind);

#[derive(Clone)]
enum Kind {
    Port(u16),
    Handler(Arc<dyn Fn(DuplexStream) -> Running + Send + Sync>),
}

/// The app's end of a stream to it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Service {
    /// What listens at that port of this machine. If nothing does, the device refuses.
    pub fn port(port: u16) -> Self {
        Self(Kind::Port(port))
    }

    /// The closure, called with each connection.
    pub fn handler<F, R>(handler: F) -> Self
    where
        F: Fn(DuplexStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self(Kind::Handler(Arc::new(move |stream| Box::pin(handler(stream)))))
    }

    /// A frozen app: it is connected to, and stays silent.
    pub fn frozen() -> Self {
        Self::handler(|stream| async move {
            let _open = stream;
            pending::<()>().await;
        })
    }

    /// Sends back what it gets.
    pub fn echo() -> Self {
        Self::handler(|stream| async move {
            let (mut from, mut to) = tokio::io::split(stream);
            // It ends when its peer does, in one way or the other.
            let _ = tokio::io::copy(&mut from, &mut to).await;
        })
    }

    /// A connection to it, and what has to run for it to be served.
    pub(super) async fn connect(&self) -> io::Result<(Box<dyn Stream>, Option<Running>)> {
        match &self.0 {
            Kind::Port(port) => Ok((Box::new(TcpStream::connect(("127.0.0.1", *port)).await?), None)),
            Kind::Handler(handler) => {
                let (ours, its) = duplex(BUFFER);
                Ok((Box::new(ours), Some(handler(its))))
            }
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.0 {
            Kind::Port(port) => write!(f, "Service::port({port})"),
            Kind::Handler(_) => f.write_str("Service::handler(…)"),
        }
    }
}
