//! The requests that go to a device: streams to its services, its shell, its reverse forwards.

use std::future::pending;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink, split};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::device::{FakeDevice, Service, Stream};
use super::host::{fail, okay_with, read_request};
use super::state::{Server, Target};
use crate::shell::ShellOutput;
use crate::wire;

/// Answers the request for a transport, and then the one to the device.
pub(super) async fn serve(
    mut stream: TcpStream,
    target: Target,
    tells_id: bool,
    server: Server,
) -> io::Result<()> {
    let acquired = server.state().acquire(&target);
    let transport_id = match acquired {
        Ok(id) => id,
        Err(reason) => return fail(&mut stream, &reason).await,
    };
    stream.write_all(b"OKAY").await?;
    if tells_id {
        stream.write_all(&transport_id.to_le_bytes()).await?;
    }
    let request = read_request(&mut stream, &server).await?;
    let device = {
        let state = server.state();
        let attached = state.devices.iter().find(|attached| attached.transport_id == transport_id);
        attached.map(|attached| (attached.device.clone(), attached.alive.subscribe()))
    };
    let Some((device, mut alive)) = device.filter(|(device, _)| device.state == crate::DeviceState::Ready)
    else {
        return fail(&mut stream, "device offline (transport offline)").await;
    };
    if let Some(service) = device.services.get(&request) {
        let Ok(far) = connect(service, &server).await else { return fail(&mut stream, "closed").await };
        stream.write_all(b"OKAY").await?;
        pipe(stream, far, alive).await;
        return Ok(());
    }
    if request == "reverse:list-forward" {
        let lines =
            device.reverses.iter().map(|reverse| format!("host-12 {} {}\n", reverse.device, reverse.host));
        return okay_with(&mut stream, &lines.collect::<String>()).await;
    }
    tokio::select! {
        done = shell(stream, &request, &device) => done,
        _ = alive.changed() => Ok(()),
    }
}

/// Connects to a service, and runs what serves it.
pub(super) async fn connect(service: &Service, server: &Server) -> io::Result<Box<dyn Stream>> {
    let (far, running) = service.connect().await?;
    if let Some(running) = running {
        server.spawn(running);
    }
    Ok(far)
}

/// Pipes until either side ends or the device goes. As with adb, an end in one direction ends the other one.
pub(super) async fn pipe(near: TcpStream, far: Box<dyn Stream>, mut alive: watch::Receiver<()>) {
    let (mut near_read, mut near_write) = near.into_split();
    let (mut far_read, mut far_write) = split(far);
    tokio::select! {
        _ = copy(&mut near_read, &mut far_write) => {}
        _ = copy(&mut far_read, &mut near_write) => {}
        _ = alive.changed() => {}
    }
}

async fn shell(mut stream: TcpStream, request: &str, device: &FakeDevice) -> io::Result<()> {
    let has_packets = device.features.iter().any(|feature| feature == "shell_v2");
    let command = request.strip_prefix("shell,v2,raw:").filter(|_| has_packets);
    let Some(text) = command.or_else(|| request.strip_prefix("shell:")) else {
        // Neither a service nor a command: adbd closes the stream.
        return fail(&mut stream, "closed").await;
    };
    stream.write_all(b"OKAY").await?;
    let output = match text {
        "cat /proc/net/unix" => {
            let stdout = device.socket_table().into_bytes();
            ShellOutput::Separate { exit_code: 0, stdout, stderr: Vec::new() }
        }
        text => match (device.shell)(text) {
            Some(output) => output,
            None => pending().await,
        },
    };
    let (exit_code, stdout, stderr) = match output {
        ShellOutput::Separate { exit_code, stdout, stderr } => (exit_code, stdout, stderr),
        ShellOutput::Merged(output) => (0, output, Vec::new()),
    };
    if command.is_some() {
        // A command may read its input to the end before it ends itself.
        let mut end_of_input = [0; 5];
        stream.read_exact(&mut end_of_input).await?;
        if end_of_input[0] != wire::CLOSE_STDIN {
            return Err(io::ErrorKind::InvalidData.into());
        }
        for (kind, data) in [(wire::STDOUT, &stdout[..]), (wire::STDERR, &stderr), (wire::EXIT, &[exit_code])]
        {
            stream.write_all(&packet(kind, data)).await?;
        }
    } else {
        stream.write_all(&[stdout, stderr].concat()).await?;
    }
    stream.shutdown().await?;
    copy(&mut stream, &mut sink()).await.map(drop)
}

fn packet(kind: u8, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    [&[kind][..], &length.to_le_bytes(), data].concat()
}
