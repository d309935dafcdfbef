//! Commands on the device. They get no input.

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::device::Device;
use crate::error::Error;
use crate::server::AdbServer;
use crate::socket::Socket;
use crate::wire::{self, ShellPacket};

const SOCKET_TABLE: &str = "cat /proc/net/unix";

/// What a command printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellOutput {
    /// As the shell protocol, version 2, tells it.
    Separate {
        /// The exit code. A command that a signal ended has 128 and the signal's number.
        exit_code: u8,
        /// The standard output.
        stdout: Vec<u8>,
        /// The standard error output.
        stderr: Vec<u8>,
    },
    /// From a device without that protocol (before Android 7): both outputs in one, with line ends that a
    /// terminal would get, and nobody knows the exit code.
    Merged(Vec<u8>),
}

impl ShellOutput {
    /// The standard output, or what there is instead of it.
    pub fn stdout(&self) -> &[u8] {
        match self {
            Self::Separate { stdout, .. } => stdout,
            Self::Merged(output) => output,
        }
    }
}

impl AdbServer {
    /// Runs a command in the device's shell, which may take that long in all.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`], [`Error::TooLong`], and those of [`device_features`](Self::device_features).
    pub async fn shell(
        &self,
        device: &Device,
        command: &str,
        within: Duration,
    ) -> Result<ShellOutput, Error> {
        match timeout(within, self.run(device, command)).await {
            Ok(result) => result,
            Err(_) => Err(Error::Timeout {
                waiting_for: format!("`{command}` on {}", device.serial),
                after: within,
            }),
        }
    }

    async fn run(&self, device: &Device, command: &str) -> Result<ShellOutput, Error> {
        let has_packets = self.device_features(device).await?.iter().any(|feature| feature == "shell_v2");
        let service =
            if has_packets { format!("shell,v2,raw:{command}") } else { format!("shell:{command}") };
        let mut connection = self.transport(device).await?;
        self.about(device, connection.request(&service)).await?;
        let socket = connection.into_socket();
        let output = if has_packets { separate(socket).await } else { merged(socket).await };
        output.map_err(|source| Error::Ended {
            waiting_for: format!("`{command}` on {}", device.serial),
            source,
        })
    }

    /// The names in the device's abstract socket namespace that something listens on, other apps' included.
    ///
    /// # Errors
    ///
    /// Those of [`device_features`](Self::device_features).
    pub async fn abstract_sockets(&self, device: &Device) -> Result<Vec<String>, Error> {
        let output = self.shell(device, SOCKET_TABLE, self.deadlines().reply).await?;
        match &output {
            ShellOutput::Separate { exit_code, stderr, .. } if *exit_code != 0 => Err(Error::Rejected {
                request: format!("{SOCKET_TABLE} on {}", device.serial),
                reason: String::from_utf8_lossy(stderr).trim().to_owned(),
            }),
            output => Ok(wire::abstract_sockets(&String::from_utf8_lossy(output.stdout()))),
        }
    }
}

async fn separate(mut socket: Socket) -> std::io::Result<ShellOutput> {
    // Without this, a command that reads its input waits forever.
    socket.write_all(&wire::stdin_closed()).await?;
    let (mut stdout, mut stderr, mut buffer) = (Vec::new(), Vec::new(), BytesMut::new());
    loop {
        while let Some(packet) = wire::shell_packet(&mut buffer) {
            match packet {
                ShellPacket::Stdout(bytes) => stdout.extend_from_slice(&bytes),
                ShellPacket::Stderr(bytes) => stderr.extend_from_slice(&bytes),
                ShellPacket::Exit(exit_code) => {
                    return Ok(ShellOutput::Separate { exit_code, stdout, stderr });
                }
                ShellPacket::Unknown => {}
            }
        }
        if socket.read_buf(&mut buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

async fn merged(mut socket: Socket) -> std::io::Result<ShellOutput> {
    let mut output = Vec::new();
    socket.read_to_end(&mut output).await?;
    Ok(ShellOutput::Merged(output))
}
