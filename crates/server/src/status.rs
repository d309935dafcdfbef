//! What the server says of itself: in process, on the status routes, and to the page.

use std::time::{Instant, SystemTime};

use jumpseat_proto::Revision;
use serde::Serialize;

use crate::platform::time::rfc3339;
use crate::server::Shared;

/// Ports, endpoints and counts: the answer of [`Server::transport_info`](crate::Server::transport_info) and,
/// as JSON, of `GET /mcp/status`. Endpoints are `None` while the server does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransportInfo {
    /// `websocket+http_sse`.
    pub transport_type: &'static str,
    /// Whether clients can connect.
    pub is_running: bool,
    /// Such as `ws://127.0.0.1:8080/mcp`.
    pub websocket_endpoint: Option<String>,
    /// Such as `http://127.0.0.1:8081/mcp`.
    pub sse_endpoint: Option<String>,
    /// Where plain JSON-RPC goes by `POST`.
    pub message_endpoint: Option<String>,
    /// Broadcasts and list changes as an event stream.
    pub events_endpoint: Option<String>,
    /// Where this is answered over HTTP.
    pub status_endpoint: Option<String>,
    /// The name of the abstract Unix socket, without the `@`; `None` where there are none.
    pub local_socket: Option<String>,
    /// This server.
    pub server: ServerInfo,
    /// The app that it is in.
    pub app: AppSummary,
    /// The revisions of MCP that are served, newest first.
    pub protocol_versions: Vec<&'static str>,
    /// Who is connected.
    pub connections: Connections,
    /// Messages received since initialization.
    pub requests_total: u64,
    /// Milliseconds since the start; `None` while the server does not run.
    pub uptime_ms: Option<u64>,
    /// When it was started, in RFC 3339; `None` while it does not run.
    pub started_at: Option<String>,
}

/// Name and version of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// `jumpseat`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The app, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppSummary {
    /// The application id.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Its version.
    pub version_name: String,
    /// Its process.
    pub pid: u32,
}

/// How many clients there are, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// Open WebSockets.
    pub websocket: usize,
    /// Open event streams.
    pub event_streams: usize,
    /// HTTP sessions that are kept.
    pub sessions: usize,
}

/// When the server was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    pub(crate) instant: Instant,
    pub(crate) time: SystemTime,
}

impl Started {
    pub(crate) fn now() -> Self {
        Self { instant: Instant::now(), time: SystemTime::now() }
    }
}

impl Shared {
    pub(crate) fn transport_info(&self) -> TransportInfo {
        let running = self.running();
        let ports = running.as_ref().and_then(|(addresses, _)| addresses.ports);
        let http = |path: &str| ports.map(|(_, port)| format!("http://127.0.0.1:{port}{path}"));
        let app = self.app();
        TransportInfo {
            transport_type: "websocket+http_sse",
            is_running: running.is_some(),
            websocket_endpoint: ports.map(|(port, _)| format!("ws://127.0.0.1:{port}/mcp")),
            sse_endpoint: http("/mcp"),
            message_endpoint: http("/mcp/message"),
            events_endpoint: http("/mcp/events"),
            status_endpoint: http("/mcp/status"),
            local_socket: running.as_ref().and_then(|(addresses, _)| addresses.local.clone()),
            server: ServerInfo { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            app: AppSummary {
                id: app.id.clone(),
                name: app.name.clone(),
                version_name: app.version_name.clone(),
                pid: std::process::id(),
            },
            protocol_versions: Revision::ALL.map(Revision::as_str).to_vec(),
            connections: Connections {
                websocket: self.websockets().now(),
                event_streams: self.streams().now(),
                sessions: self.sessions().len(),
            },
            requests_total: self.requests_total(),
            uptime_ms: running.as_ref().map(|(_, started)| millis(started.instant.elapsed())),
            started_at: running.as_ref().map(|(_, started)| rfc3339(started.time)),
        }
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
