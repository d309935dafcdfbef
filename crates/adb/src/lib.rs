//! The adb server's protocol, spoken directly: devices, forwards, device streams and a tracker.
//!
//! ```no_run
//! # async fn example() -> Result<(), jumpseat_adb::Error> {
//! use jumpseat_adb::{AdbBinary, AdbServer, Endpoint};
//!
//! let server = AdbServer::from_env()?;
//! server.start_if_absent(AdbBinary::from_env).await?;
//! let device = server.device(None).await?;
//! // A stream to what listens on the device's port 8080, without a forward.
//! let stream = server.open(&device, &Endpoint::Tcp(8080)).await?;
//! // Or a port of this machine that leads there.
//! let forward = server.add_forward(&device, &Endpoint::Tcp(0), &Endpoint::Tcp(8080)).await?;
//! # Ok(()) }
//! ```
//!
//! No `adb` program is run, except once to start a server where none answers, because a program of another
//! version kills the running server. It does not know MCP, prints nothing, remembers no forwards, and never
//! stops or replaces an adb server.

mod address;
mod binary;
mod choose;
mod connection;
mod device;
mod endpoint;
mod error;
#[cfg(feature = "fake")]
pub mod fake;
mod forward;
mod server;
mod shell;
mod socket;
mod stream;
mod track;
mod wire;

pub use address::ServerAddress;
pub use binary::{AdbBinary, BinaryVersion};
pub use choose::{choose, wanted_serial};
pub use device::{Device, DeviceState};
pub use endpoint::Endpoint;
pub use error::{Error, Holder};
pub use forward::{Forward, Reverse};
pub use server::{AdbServer, Deadlines, Started};
pub use shell::ShellOutput;
pub use stream::{DeviceStream, first_answer};
pub use track::{Change, Tracker};
