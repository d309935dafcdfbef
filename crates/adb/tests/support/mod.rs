//! What several tests use. It asserts nothing.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::time::Duration;

use jumpseat_adb::fake::FakeAdb;
use jumpseat_adb::{AdbServer, Deadlines, Device};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

/// Long enough for what has to happen.
pub const SOON: Duration = Duration::from_secs(10);

/// Short enough for what must not happen.
pub const BRIEF: Duration = Duration::from_millis(100);

pub fn brief() -> Deadlines {
    Deadlines { connect: SOON, reply: BRIEF, start: SOON }
}

/// The device, in whatever state.
pub async fn device(adb: &FakeAdb, serial: &str) -> Device {
    let devices = adb.server().devices().await.unwrap();
    devices.into_iter().find(|device| device.serial == serial).unwrap()
}

/// Waits for a state that nobody announces.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(SOON, patience).await.unwrap_or_else(|_| panic!("it is not so yet: {what}"));
}

/// A server that answers its first request with these bytes, and hangs up.
pub async fn answering(bytes: &'static [u8]) -> AdbServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await.unwrap();
        stream.write_all(bytes).await.unwrap();
    });
    AdbServer::new(jumpseat_adb::ServerAddress::tcp("127.0.0.1", port))
}

/// A port of 127.0.0.1 that nothing listens on, and that nobody else is given until this is dropped.
pub struct UnusedPort(TcpSocket);

impl UnusedPort {
    pub fn bind() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // A process that is being started has a copy of the socket for a moment, after this one has dropped
        // it.
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self(socket)
    }

    pub fn number(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }
}
