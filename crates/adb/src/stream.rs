//! Device streams: a connection to what listens on the device, without a forward.
//!
//! They leave no port behind, and work where the adb server is on another machine.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use crate::connection::Connection;
use crate::device::Device;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::server::AdbServer;
use crate::socket::Socket;

/// The most that [`first_answer`] reads.
const FIRST: usize = 16 * 1024;

/// The bytes to and from an app on the device.
///
/// NOTE: shutting the writing side down cuts the reading side off too, and bytes on their way are lost. Do
/// it, or drop the stream, when the answer is in.
#[derive(Debug)]
pub struct DeviceStream(Socket);

impl AdbServer {
    /// Connects to what listens at the endpoint on the device.
    ///
    /// NOTE: an app that is frozen in the background is connected to all the same, and stays silent. Only an
    /// answer proves anything: see [`first_answer`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if nothing listens there, [`Error::InvalidEndpoint`], and those of
    /// [`device_features`](Self::device_features).
    pub async fn open(&self, device: &Device, endpoint: &Endpoint) -> Result<DeviceStream, Error> {
        endpoint.check()?;
        let mut connection = self.transport(device).await?;
        match self.about(device, connection.request(&endpoint.to_string())).await {
            Ok(()) => Ok(DeviceStream(connection.into_socket())),
            Err(Error::Rejected { reason, .. }) if reason == "closed" => {
                Err(Error::Refused { serial: device.serial.clone(), endpoint: endpoint.clone() })
            }
            Err(error) => Err(error),
        }
    }

    /// A connection whose next request goes to the device.
    pub(crate) async fn transport(&self, device: &Device) -> Result<Connection, Error> {
        let mut connection = Connection::open(self).await?;
        if device.shares_serial {
            let request = format!("host:transport-id:{}", device.transport_id);
            self.about(device, connection.request(&request)).await?;
        } else {
            let request = format!("host:tport:serial:{}", device.serial);
            self.about(device, connection.request(&request)).await?;
            // The transport id, which is of no more use than the one that is known.
            connection.array::<8>().await?;
        }
        connection.switched_to(&device.serial);
        Ok(connection)
    }
}

/// Sends a request, and waits for the first bytes that come back. They tell a live app from a dead one and a
/// frozen one, through a forward or a device stream.
///
/// # Errors
///
/// [`Error::Unanswered`] if the stream ends first, as it does behind a forward to nothing; [`Error::Silent`]
/// if nothing comes in that time, as from a frozen app.
pub async fn first_answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    request: &[u8],
    within: Duration,
) -> Result<Vec<u8>, Error> {
    let answer = async {
        stream.write_all(request).await?;
        stream.flush().await?;
        let mut bytes = vec![0; FIRST];
        let length = stream.read(&mut bytes).await?;
        bytes.truncate(length);
        io::Result::Ok(bytes)
    };
    match timeout(within, answer).await {
        Err(_) => Err(Error::Silent { after: within }),
        Ok(Err(source)) => Err(Error::Unanswered { source: Some(source) }),
        Ok(Ok(bytes)) if bytes.is_empty() => Err(Error::Unanswered { source: None }),
        Ok(Ok(bytes)) => Ok(bytes),
    }
}

impl AsyncRead for DeviceStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context, buffer: &mut ReadBuf) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(context, buffer)
    }
}

impl AsyncWrite for DeviceStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context,
        slices: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(context)
    }
}
