//! A connected socket of either kind. It knows no protocol.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use crate::address::ServerAddress;

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Socket {
    pub(crate) async fn connect(address: &ServerAddress) -> io::Result<Self> {
        match address {
            ServerAddress::Tcp { host, port } => tcp(host, *port).await,
            #[cfg(unix)]
            ServerAddress::LocalFilesystem(path) => UnixStream::connect(path).await.map(Self::Unix),
            #[cfg(any(target_os = "android", target_os = "linux"))]
            ServerAddress::LocalAbstract(name) => {
                UnixStream::connect(format!("\0{name}")).await.map(Self::Unix)
            }
            #[cfg(not(any(target_os = "android", target_os = "linux")))]
            other => {
                Err(io::Error::new(io::ErrorKind::Unsupported, format!("this system has no {other} sockets")))
            }
        }
    }
}

async fn tcp(host: &str, port: u16) -> io::Result<Socket> {
    let stream = if host == "localhost" {
        // As adb does: its server binds IPv4 where there is IPv4, and a resolver may put IPv6 first.
        let both =
            [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
        TcpStream::connect(&both[..]).await?
    } else {
        TcpStream::connect((host, port)).await?
    };
    stream.set_nodelay(true)?;
    Ok(Socket::Tcp(stream))
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context, buffer: &mut ReadBuf) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context,
        slices: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
