//! What is not throughput: start, memory of idle connections, wake-ups, size.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::load::{HTTP, WEBSOCKET};
use super::machine;
use super::process::Running;
use super::samples::Samples;

/// The servers whose size is compared.
pub(super) const SIZED: [&str; 3] = HTTP.servers;
/// Connections of the idle memory measure.
const IDLE_WEBSOCKETS: u16 = 1000;
/// Before wake-ups are counted. A server may let the timer of its last request run out, once; and what pings
/// idle connections in a reasonable interval has not begun to at the end of [`IDLE`].
const SETTLE: Duration = Duration::from_millis(5500);
/// How long wake-ups are counted.
const IDLE: Duration = Duration::from_secs(10);
/// Connections of each transport in the wake-up measure.
const FEW: usize = 10;
/// Every server and the transports that it speaks.
pub(super) const ALL: [(&str, &[&str]); 5] = [
    ("ours", &["http", "ws"]),
    ("bare-hyper", &["http"]),
    ("rmcp-http", &["http"]),
    ("bare-ws", &["ws"]),
    ("rmcp-ws", &["ws"]),
];

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;

/// From starting the process until the first bytes of its first answer have come, in milliseconds.
pub(super) fn start(programs: &Path, times: usize, samples: &mut Samples) -> Result<(), String> {
    for time in 1..=times {
        eprintln!("start {time} of {times}");
        for name in HTTP.servers {
            let began = Instant::now();
            let server = Running::unpinned_server(programs, name)?;
            let answer = first_bytes(&server.first_line).map_err(|error| format!("{name}: {error}"))?;
            let took = began.elapsed();
            if !answer.starts_with("HTTP/1.1 200 ") {
                return Err(format!("{name} answered its first call with {answer}"));
            }
            samples.add(name, "start ms", took.as_secs_f64() * 1000.0);
        }
    }
    Ok(())
}

fn first_bytes(url: &str) -> std::io::Result<String> {
    let (authority, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
    let mut stream = TcpStream::connect(authority)?;
    let length = CALL.len();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {authority}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{CALL}"
    );
    stream.write_all(request.as_bytes())?;
    let mut bytes = [0; 4096];
    let read = stream.read(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

/// Resident memory that each of many idle connections over WebSocket adds, in KiB.
pub(super) fn idle_websockets(programs: &Path, samples: &mut Samples) -> Result<(), String> {
    for name in WEBSOCKET.servers {
        eprintln!("  {IDLE_WEBSOCKETS} idle WebSockets: {name}");
        let server = Running::server(programs, name)?;
        let before = machine::resident_kib(server.pid())?;
        let connections = Running::idle_connections(programs, &server, "ws", IDLE_WEBSOCKETS.into())?;
        sleep(Duration::from_millis(300));
        let added = machine::resident_kib(server.pid())? - before;
        samples.add(name, "KiB an idle WebSocket", added / f64::from(IDLE_WEBSOCKETS));
        drop(connections);
    }
    Ok(())
}

/// How often a server wakes up while nothing happens, with no connection and with a few idle ones.
pub(super) fn wake_ups(programs: &Path, samples: &mut Samples) -> Result<(), String> {
    let mut servers = Vec::new();
    for (name, transports) in ALL {
        servers.push((name, transports, Running::server(programs, name)?));
    }
    let mut count = |quantity: &str, servers: &[(&str, &[&str], Running)]| {
        sleep(SETTLE);
        eprintln!("{quantity}: {} seconds", IDLE.as_secs());
        let sleeps = || -> Result<Vec<f64>, String> {
            servers.iter().map(|(_, _, server)| machine::sleeps(server.pid())).collect()
        };
        let before = sleeps()?;
        sleep(IDLE);
        let after = sleeps()?;
        for ((name, ..), (after, before)) in servers.iter().zip(after.iter().zip(before)) {
            samples.add(name, quantity, after - before);
        }
        Ok::<_, String>(())
    };
    count("wake-ups, no connection", &servers)?;
    let mut held = Vec::new();
    for (_, transports, server) in &servers {
        for transport in *transports {
            held.push(Running::idle_connections(programs, server, transport, FEW)?);
        }
    }
    count("wake-ups, idle connections", &servers)
}

/// Size of the stripped programs in MB (10^6 bytes).
#[allow(clippy::cast_precision_loss)] // far below 2^52 bytes
pub(super) fn size(programs: &Path, samples: &mut Samples) -> Result<(), String> {
    for name in SIZED {
        let path = programs.join(name);
        let file =
            std::fs::metadata(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        samples.add(name, "size MB", file.len() as f64 / 1e6);
    }
    Ok(())
}
