//! Clients that never read while there is much to read: they are disconnected, the server's memory stays bounded,
//! and nobody else loses anything. One test in a file of its own, since it looks at the process's memory.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]
#![cfg(target_os = "linux")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::websocket::{CLOSE, HANDSHAKE, TEXT, WebSocket};
use support::{Events, Http, call, open_session, start, until};
use tokio::net::{TcpSocket, TcpStream};

const MANY: usize = 10_000;
/// Bytes of padding in a message: all of them together are more than any buffer on the way takes.
const PADDING: usize = 2 << 10;
/// How far the slowest of those who read may be behind: less than the queue of a client.
const WINDOW: usize = 100;

fn message(number: usize) -> String {
    let params = json!({"number": number, "padding": "x".repeat(PADDING)});
    json!({"jsonrpc": "2.0", "method": "notifications/many", "params": params}).to_string()
}

fn number(message: &Value) -> usize {
    assert_eq!(message["method"], "notifications/many");
    usize::try_from(message["params"]["number"].as_u64().unwrap()).unwrap()
}

/// A connection whose end here takes little.
async fn narrow(port: u16) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    socket.connect(([127, 0, 0, 1], port).into()).await.unwrap()
}

/// Bytes of this process in main memory: now, or at most so far.
fn memory(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse::<usize>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn who_never_reads_is_disconnected_and_nobody_else_loses_anything() {
    let server = start();
    let (mut stuck_socket, response) = WebSocket::handshake(narrow(server.port).await, &HANDSHAKE).await;
    assert_eq!(response.status, 101);
    stuck_socket.ask(call(0, "echo", &json!({}))).await;
    let mut stuck_events = Http::over(narrow(server.port).await);
    stuck_events.send("GET", "/mcp/events", &[], b"").await;
    assert_eq!(stuck_events.head().await.status, 200);

    let mut socket = WebSocket::connect(server.port).await;
    socket.ask(call(0, "echo", &json!({}))).await;
    let mut events = Events::get(server.port, "/mcp/events", &[]).await;
    let session = open_session(server.port, "2025-11-25").await;
    let mut stream = Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &session)]).await;

    let read: Arc<[AtomicUsize; 3]> = Arc::default();
    let counts = [read.clone(), read.clone(), read.clone()];
    let [of_socket, of_events, of_stream] = counts;
    let readers = [
        tokio::spawn(async move {
            for expected in 0..MANY {
                assert_eq!(number(&socket.message().await), expected);
                of_socket[0].store(expected + 1, Ordering::Release);
            }
        }),
        tokio::spawn(async move {
            for expected in 0..MANY {
                assert_eq!(number(&events.message().await.unwrap()), expected);
                of_events[1].store(expected + 1, Ordering::Release);
            }
        }),
        tokio::spawn(async move {
            for expected in 0..MANY {
                assert_eq!(number(&stream.message().await.unwrap()), expected);
                of_stream[2].store(expected + 1, Ordering::Release);
            }
        }),
    ];

    let before = memory("VmRSS:");
    for number in 0..MANY {
        server.server.broadcast_message(message(number)).unwrap();
        let slowest = || read.iter().map(|count| count.load(Ordering::Acquire)).min().unwrap();
        if slowest() + WINDOW < number {
            let failed = || readers.iter().any(tokio::task::JoinHandle::is_finished);
            until("the readers keep up", || failed() || slowest() + WINDOW / 2 >= number).await;
        }
    }
    for reader in readers {
        reader.await.unwrap();
    }
    let grown = memory("VmHWM:").saturating_sub(before);
    assert!(grown < MANY * PADDING / 2, "{grown} bytes more for those who do not read");

    let connections = || server.server.transport_info().connections;
    until("who did not read is gone", || connections().websocket == 0 && connections().event_streams == 0)
        .await;

    // What came through is the beginning, without a gap; then the end, with its reason if there was room for it.
    let mut expected = 0;
    let code = loop {
        let Some(frame) = stuck_socket.frame().await else { break None };
        match frame.opcode {
            TEXT => {
                assert_eq!(number(&serde_json::from_slice(&frame.payload).unwrap()), expected);
                expected += 1;
            }
            CLOSE => break Some(u16::from_be_bytes([frame.payload[0], frame.payload[1]])),
            other => panic!("opcode {other}"),
        }
    };
    assert!(expected < MANY && code.is_none_or(|code| code == 1008), "{expected} messages, then {code:?}");
}
