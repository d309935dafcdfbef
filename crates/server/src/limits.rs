//! The limits that keep one client from taking the app down, all with defaults and all configurable.

use std::time::Duration;

/// What the server allows. Build one with `Limits { max_connections: 64, ..Limits::default() }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections on all listeners; the next one gets 503. 1,024.
    pub max_connections: usize,
    /// Event streams among them; the next one gets 503. 256.
    pub max_event_streams: usize,
    /// Bytes of one message, over HTTP (413) and WebSocket (close 1009). 4 MiB.
    pub max_message_bytes: usize,
    /// Requests of one connection or session that have no response yet. 128.
    pub max_in_flight: usize,
    /// Time from the first byte of a request's head to its last; then 408. 5 s.
    pub head_timeout: Duration,
    /// Bytes of a request's head; then 431. 16 KiB.
    pub max_head_bytes: usize,
    /// Time for a request's body; then 408. 30 s.
    pub body_timeout: Duration,
    /// How long an HTTP connection may stay open without a request. 75 s.
    pub idle_timeout: Duration,
    /// Time between WebSocket pings. 20 s.
    pub ping_interval: Duration,
    /// Pings that may go unanswered; at the next one the WebSocket is closed. 2.
    pub max_unanswered_pings: u32,
    /// Time between comment lines on event streams, which keep them open. 15 s.
    pub comment_interval: Duration,
    /// HTTP sessions that are kept; above it the ones idle for `session_idle` go first, then the longest idle.
    /// A session that went is restored from its id when it is used again. 64.
    pub max_sessions: usize,
    /// See `max_sessions`. 10 min.
    pub session_idle: Duration,
    /// Messages waiting for one client; who lets them overflow is disconnected (1008). 256.
    pub max_queued_messages: usize,
    /// Bytes of the messages waiting for one client. 4 MiB.
    pub max_queued_bytes: usize,
    /// How long a tool may take, unless it says otherwise itself. 60 s.
    pub call_timeout: Duration,
    /// Threads of the blocking pool; they end when idle. 32.
    pub max_blocking_threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_event_streams: 256,
            max_message_bytes: 4 << 20,
            max_in_flight: 128,
            head_timeout: Duration::from_secs(5),
            max_head_bytes: 16 << 10,
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            ping_interval: Duration::from_secs(20),
            max_unanswered_pings: 2,
            comment_interval: Duration::from_secs(15),
            max_sessions: 64,
            session_idle: Duration::from_secs(600),
            max_queued_messages: 256,
            max_queued_bytes: 4 << 20,
            call_timeout: Duration::from_secs(60),
            max_blocking_threads: 32,
        }
    }
}
