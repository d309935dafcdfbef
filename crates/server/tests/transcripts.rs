//! The transcripts of the `proto` crate, played over real sockets: every transport says the same.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

#[path = "../../proto/tests/transcript/mod.rs"]
mod transcript;

mod support;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use jumpseat::{Arguments, CallResult, Context, Limits, Server};
use support::websocket::{TEXT, WebSocket};
use support::{Events, Http, JSON, TestServer, post_to, soon, start_with};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use transcript::{
    Exchange, Expected, MAX_IN_FLIGHT, MODERN, PLAIN, Transcript, headers, matches, tools, transcripts,
    wants_answer,
};

fn server(more_tools: usize) -> TestServer {
    let limits = Limits { max_in_flight: MAX_IN_FLIGHT, ..Limits::default() };
    let server = start_with(support::builder().limits(limits));
    for name in ["device_info", "app_info", "system_time", "echo"] {
        assert!(server.server.remove_tool(name));
    }
    let released = Arc::new(Notify::new());
    for described in tools::all() {
        add(&server.server, &described, &released);
    }
    for number in 0..more_tools {
        let tool = jumpseat::Tool::new(format!("many_{number:03}"), "");
        server.server.add_inline_tool(tool, |_: Arguments, _| Ok(CallResult::default())).unwrap();
    }
    server
}

fn add(server: &Server, described: &tools::Described, released: &Arc<Notify>) {
    let mut tool =
        jumpseat::Tool::new(described.name, described.description).input_schema(described.input.clone());
    if let Some(title) = described.title {
        tool = tool.title(title);
    }
    if let Some(schema) = &described.output {
        tool = tool.output_schema(schema.clone());
    }
    if described.read_only {
        tool = tool.read_only();
    }
    let (name, released) = (described.name, released.clone());
    if name == "wait" {
        let wait = move |_: Arguments, context: Context| {
            let released = released.clone();
            async move {
                let released = released.notified();
                report(&context, &[tools::WAITING]);
                released.await;
                Ok(tools::answer(name, "{}"))
            }
        };
        return server.add_tool(tool, wait).unwrap();
    }
    let owner = server.clone();
    let handler = move |arguments: Arguments, context: Context| {
        match name {
            "report" => report(&context, &tools::STEPS),
            "release" => released.notify_waiters(),
            "change" if !owner.remove_tool("extra") => add(&owner, &tools::extra(), &released),
            _ => {}
        }
        Ok(tools::answer(name, arguments.raw()))
    };
    server.add_inline_tool(tool, handler).unwrap();
}

fn report(context: &Context, steps: &[(f64, Option<f64>, Option<&str>)]) {
    for (progress, total, text) in steps {
        context.progress(*progress, *total, *text);
    }
}

/// A message that came, or (without a text) the end of where it came from.
struct Came {
    /// Messages of one source are in order.
    source: usize,
    status: u16,
    text: Option<String>,
    session: Option<String>,
}

impl Came {
    fn is_response(&self) -> bool {
        let message = serde_json::from_str::<serde_json::Value>(self.text.as_deref().unwrap_or("0")).unwrap();
        message.is_array() || message.get("result").or(message.get("error")).is_some()
    }
}

/// One stream of messages, in their order.
enum Stream {
    WebSocket(WebSocket),
    HttpSse { events: Events, port: u16, endpoint: String, refused: VecDeque<Came> },
}

impl Stream {
    async fn send(&mut self, text: &str, revision: &str) {
        match self {
            Self::WebSocket(socket) => socket.send(text).await,
            Self::HttpSse { port, endpoint, refused, .. } => {
                let headers = headers(revision, text);
                let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
                let response = post_to(*port, endpoint, &headers, text).await;
                if response.status != 202 {
                    let (status, text) = (response.status, Some(response.text()));
                    refused.push_back(Came { source: 0, status, text, session: None });
                }
            }
        }
    }

    /// The next message, and the HTTP status that it came with: that of the POST, or of the stream of HTTP+SSE.
    async fn next(&mut self) -> (String, Option<u16>) {
        match self {
            Self::WebSocket(socket) => {
                let frame = socket.frame().await.expect("a message, not the end");
                assert_eq!((frame.opcode, frame.fin), (TEXT, true));
                (String::from_utf8(frame.payload).unwrap(), None)
            }
            Self::HttpSse { events, refused, .. } => match refused.pop_front() {
                Some(Came { text, status, .. }) => (text.unwrap_or_default(), Some(status)),
                None => (soon(data(events)).await.expect("a message, not the end"), Some(200)),
            },
        }
    }

    async fn play(&mut self, exchange: &Exchange, revision: &str) -> Result<(), String> {
        self.send(&exchange.sent, revision).await;
        for expected in &exchange.expected {
            let (text, status) = self.next().await;
            if !matches(&expected.text, &text) || status.is_some_and(|status| status != expected.status) {
                return Err(format!(
                    "expected: {} {}\ncame: {status:?} {text}",
                    expected.status, expected.text
                ));
            }
        }
        Ok(())
    }
}

/// The data of the next event that has any; `None` at the end.
async fn data(events: &mut Events) -> Option<String> {
    loop {
        let data = events.next().await?.data.unwrap_or_default();
        if !data.is_empty() {
            return Some(data);
        }
    }
}

/// A client that POSTs each message on a connection of its own, and has the stream of its session open.
struct Posts {
    port: u16,
    path: &'static str,
    session: Option<String>,
    count: usize,
    sender: UnboundedSender<Came>,
    came: UnboundedReceiver<Came>,
    tasks: JoinSet<()>,
}

impl Posts {
    fn new(port: u16, path: &'static str) -> Self {
        let (sender, came) = unbounded_channel();
        Self { port, path, session: None, count: 0, sender, came, tasks: JoinSet::new() }
    }

    /// Opens the stream of the session.
    async fn listen(&mut self) {
        let session = self.session.clone().expect("a session begins with initialize");
        let mut events = Events::get(self.port, "/mcp", &[("Mcp-Session-Id", &session)]).await;
        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            while let Some(text) = data(&mut events).await {
                // The test may be over.
                _ = sender.send(Came { source: 0, status: 200, text: Some(text), session: None });
            }
        });
    }

    fn send(&mut self, text: &str, revision: &str) {
        self.count += 1;
        let mut headers = headers(revision, text);
        headers.push((JSON.0, JSON.1.to_owned()));
        headers.extend(self.session.clone().map(|session| ("Mcp-Session-Id", session)));
        if self.path != "/mcp" {
            JSON.1.clone_into(&mut headers[0].1);
        }
        let (port, path, source, sender) = (self.port, self.path, self.count, self.sender.clone());
        let text = text.to_owned();
        self.tasks.spawn(async move {
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
            let mut http = Http::connect(port).await;
            http.send("POST", path, &headers, text.as_bytes()).await;
            let head = http.head().await;
            let (status, session) = (head.status, head.header("mcp-session-id").map(str::to_owned));
            let send = |text| _ = sender.send(Came { source, status, text, session: session.clone() });
            if head.header("content-type") == Some("text/event-stream") {
                let mut events = Events::after(http, head);
                while let Some(text) = data(&mut events).await {
                    send(Some(text));
                }
            } else {
                let body = http.body(head).await.text();
                if !body.is_empty() {
                    send(Some(body));
                }
            }
            send(None);
        });
    }

    /// What comes of a message may come from several sources: from each in the order that is expected.
    async fn play(&mut self, exchange: &Exchange, revision: &str) -> Result<(), String> {
        self.send(&exchange.sent, revision);
        let own = self.count;
        let mut expected: Vec<_> = exchange.expected.iter().map(Some).collect();
        let mut last: Vec<(usize, usize)> = Vec::new();
        // Those who have said all that they have to say.
        let mut ending = Vec::new();
        if exchange.expected.is_empty() && !wants_answer(&exchange.sent) {
            ending.push(own);
        }
        while expected.iter().any(Option::is_some) || !ending.is_empty() {
            let came = soon(self.came.recv()).await.expect("the sender is kept");
            let Some(text) = &came.text else {
                if exchange.expected.is_empty() && came.source == own && came.status != 202 {
                    return Err(format!("expected: 202\ncame: {}", came.status));
                }
                ending.retain(|source| *source != came.source);
                continue;
            };
            let after =
                last.iter().rev().find(|(source, _)| *source == came.source).map_or(0, |(_, at)| at + 1);
            let fits = |expected: &Expected| matches(&expected.text, text) && expected.status == came.status;
            let Some(at) = (after..expected.len()).find(|at| expected[*at].is_some_and(fits)) else {
                let expected: Vec<_> = expected.iter().flatten().map(|e| (e.status, &*e.text)).collect();
                return Err(format!("expected: {expected:#?}\ncame: {} {text}", came.status));
            };
            expected[at] = None;
            last.push((came.source, at));
            if came.is_response() {
                ending.push(came.source);
            }
            self.session = came.session.or(self.session.take());
        }
        Ok(())
    }
}

enum Client {
    Stream(Stream),
    Posts(Posts),
}

impl Client {
    async fn connect(transport: &str, server: &TestServer) -> Self {
        match transport {
            "websocket" => {
                let socket = WebSocket::connect(server.port).await;
                // Messages that have no answer come one upon the other, and none should wait for the last.
                socket.http.stream.get_ref().set_nodelay(true).unwrap();
                Self::Stream(Stream::WebSocket(socket))
            }
            "post" => Self::Posts(Posts::new(server.http_port, "/mcp")),
            "message" => Self::Posts(Posts::new(server.http_port, "/mcp/message")),
            "http+sse" => {
                let port = server.http_port;
                let mut events = Events::get(port, "/sse", &[]).await;
                let endpoint = data(&mut events).await.expect("an endpoint");
                Self::Stream(Stream::HttpSse { events, port, endpoint, refused: VecDeque::new() })
            }
            other => panic!("no transport: {other}"),
        }
    }

    async fn play(&mut self, exchange: &Exchange, revision: &str) -> Result<(), String> {
        match self {
            Self::Stream(stream) => stream.play(exchange, revision).await,
            Self::Posts(posts) => posts.play(exchange, revision).await,
        }
    }

    async fn handshake(&mut self, revision: &str) {
        let Some([initialize, initialized]) = Transcript::handshake(revision) else { return };
        let result = r#"{"jsonrpc":"2.0","id":"initialize","result":{"protocolVersion":"REVISION","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"…","title":"…","version":"…"}}}"#;
        let result = Expected { status: 200, text: result.replace("REVISION", revision) };
        let initialize = Exchange { line: 0, sent: initialize, expected: vec![result] };
        let initialized = Exchange { line: 0, sent: initialized, expected: vec![] };
        self.play(&initialize, PLAIN).await.unwrap();
        self.play(&initialized, revision).await.unwrap();
        if let Self::Posts(posts) = self {
            posts.listen().await;
        }
    }
}

/// A last message, which shows that nothing else has come of those before.
fn the_end(revision: &str) -> Exchange {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let (meta, status) = if revision == MODERN { (meta, 404) } else { ("", 200) };
    let sent = format!(r#"{{"jsonrpc":"2.0","id":"the end","method":"the end","params":{{{meta}}}}}"#);
    let text = r#"{"jsonrpc":"2.0","id":"the end","error":{"code":-32601,"message":"…"}}"#.to_owned();
    Exchange { line: 0, sent, expected: vec![Expected { status, text }] }
}

/// Plays a transcript to a server of its own.
async fn check(transcript: &Transcript, revision: &str, transport: &str) {
    let server = server(transcript.more_tools);
    let mut client = Client::connect(transport, &server).await;
    client.handshake(revision).await;
    for exchange in transcript.exchanges.iter().chain([&the_end(revision)]) {
        let mut exchange = exchange.clone();
        if transport == "message" {
            // There is no stream for notifications.
            exchange.expected.retain(|expected| wants_no_stream(&expected.text));
        }
        if let Err(error) = client.play(&exchange, revision).await {
            panic!("{} over {transport}:\n{error}", transcript.at(&exchange, revision));
        }
    }
}

fn wants_no_stream(text: &str) -> bool {
    !text.contains(r#""method":"notifications/"#)
}

async fn check_all(transport: &str, is_had_by: fn(&str) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/tests/transcripts");
    let all = transcripts(&folder);
    for transcript in all.iter().filter(|transcript| transcript.transports.iter().any(|t| t == transport)) {
        for revision in transcript.revisions.iter().filter(|revision| is_had_by(revision)) {
            check(transcript, revision, transport).await;
        }
    }
}

#[tokio::test]
async fn every_transcript_is_the_same_over_a_websocket() {
    check_all("websocket", |_| true).await;
}

#[tokio::test]
async fn every_transcript_is_the_same_in_posts_and_sessions() {
    check_all("post", |_| true).await;
}

#[tokio::test]
async fn every_transcript_without_a_handshake_is_the_same_in_posts_to_mcp_message() {
    check_all("message", |revision| revision == PLAIN).await;
}

#[tokio::test]
async fn every_transcript_with_a_stream_is_the_same_over_http_sse() {
    check_all("http+sse", |revision| revision != MODERN).await;
}
