//! The listeners of a server, and clients that come in through any of them.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(any(target_os = "android", target_os = "linux"))]
use tokio::net::UnixStream;

use super::{Http, TestServer, soon};

/// The bytes of a connection, whatever it goes through.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

pub type AnyStream = Box<dyn Duplex>;

/// A listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Door {
    /// A port of 127.0.0.1.
    Tcp(u16),
    /// An abstract Unix socket, by its name without the `@`.
    Local(String),
}

impl Door {
    /// All listeners of `server`: the two ports, and the abstract socket where there is one.
    pub fn all(server: &TestServer) -> Vec<Self> {
        let local = server.server.transport_info().local_socket.map(Self::Local);
        assert_eq!(local.is_some(), cfg!(any(target_os = "android", target_os = "linux")));
        [Self::Tcp(server.port), Self::Tcp(server.http_port)].into_iter().chain(local).collect()
    }

    pub async fn stream(&self) -> AnyStream {
        match self {
            Self::Tcp(port) => Box::new(soon(TcpStream::connect(("127.0.0.1", *port))).await.unwrap()),
            #[cfg(any(target_os = "android", target_os = "linux"))]
            Self::Local(name) => Box::new(soon(UnixStream::connect(format!("\0{name}"))).await.unwrap()),
            #[cfg(not(any(target_os = "android", target_os = "linux")))]
            Self::Local(_) => unreachable!("there are no abstract sockets here"),
        }
    }

    pub async fn connect(&self) -> Http<AnyStream> {
        Http::over(self.stream().await)
    }
}
