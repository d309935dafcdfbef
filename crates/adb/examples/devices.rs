//! The devices as they come and go, each with its features and the abstract sockets that something listens
//! on.

use jumpseat_adb::{AdbBinary, AdbServer, Change, Device, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = AdbServer::from_env()?;
    server.start_if_absent(AdbBinary::from_env).await?;
    println!("adb server at {}, version {}", server.address(), server.version().await?);
    let mut tracker = server.track().await?;
    loop {
        match tracker.next().await? {
            Change::Arrived(device) => arrived(&server, &device).await,
            Change::Changed { now, .. } => println!("changed: {now}"),
            Change::Removed(device) => println!("removed: {device}"),
            other => println!("{other:?}"),
        }
    }
}

async fn arrived(server: &AdbServer, device: &Device) {
    println!("arrived: {device}");
    match server.abstract_sockets(device).await {
        Ok(sockets) => println!("  listening: {sockets:?}"),
        Err(error) => println!("  {error}\n  {}", error.hint()),
    }
}
