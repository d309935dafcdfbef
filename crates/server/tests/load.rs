//! The specification's own targets for the transport (its section 8): five clients at once for 15 s, and 30 s of
//! steady use with broadcasts. Only a lost or a wrong answer fails; the figures are printed.
//!
//! `JUMPSEAT_LOAD_SECONDS=1` shortens the load to that many seconds, and the steady use to twice as many.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jumpseat::{Arguments, Server, Tool};
use serde_json::{Value, json};
use support::websocket::WebSocket;
use support::{Events, Http, JSON, TestServer, call, modern, open_session, soon, start};
use tokio::task::JoinHandle;

fn seconds() -> u64 {
    std::env::var("JUMPSEAT_LOAD_SECONDS").map_or(15, |seconds| seconds.parse().unwrap())
}

/// One of each kind, all of which say `text` again.
const TOOLS: [&str; 3] = ["echo", "blocking", "async"];

fn serve() -> TestServer {
    let server = start();
    let again = |arguments: Arguments| Ok(arguments.str("text").unwrap_or_default());
    let tool = |name| Tool::text(name, "Says it again");
    server.server.add_blocking_tool(tool("blocking"), move |a, _| again(a)).unwrap();
    server.server.add_tool(tool("async"), move |a, _| async move { again(a) }).unwrap();
    server
}

/// How a client asks.
enum Client {
    Plain(Http),
    Session(Http, String),
    Modern(Http),
    WebSocket(WebSocket),
    HttpSse { post: Http, path: String, events: Events },
}

impl Client {
    const KINDS: [&str; 5] = ["plain HTTP", "session", "2026-07-28", "WebSocket", "HTTP+SSE"];

    async fn connect(kind: &str, server: &TestServer) -> Self {
        let http = Http::connect(server.http_port).await;
        match kind {
            "plain HTTP" => Self::Plain(http),
            "session" => Self::Session(http, open_session(server.http_port, "2025-11-25").await),
            "2026-07-28" => Self::Modern(http),
            "WebSocket" => Self::WebSocket(WebSocket::connect(server.port).await),
            _ => {
                let mut events = Events::get(server.http_port, "/sse", &[]).await;
                let path = events.next().await.unwrap().data.unwrap();
                Self::HttpSse { post: http, path, events }
            }
        }
    }

    /// Asks, and takes the answer. Broadcasts that come before it go to `heard`.
    async fn ask(&mut self, id: u64, tool: &str, text: &str, heard: &mut Broadcasts) -> Value {
        let message = call(id, tool, &json!({"text": text}));
        match self {
            Self::Plain(http) => http.roundtrip("POST", "/mcp", &[JSON], message.as_bytes()).await.json(),
            Self::Session(http, session) => {
                let headers = [JSON, ("Mcp-Session-Id", session)];
                http.roundtrip("POST", "/mcp", &headers, message.as_bytes()).await.json()
            }
            Self::Modern(http) => {
                let params = json!({"name": tool, "arguments": {"text": text}});
                let (message, headers) = modern(id, "tools/call", &params);
                let headers: Vec<_> =
                    headers.iter().map(|(name, value)| (&**name, &**value)).chain([JSON]).collect();
                http.roundtrip("POST", "/mcp", &headers, message.as_bytes()).await.json()
            }
            Self::WebSocket(socket) => {
                socket.send(message).await;
                loop {
                    let message = socket.message().await;
                    if !heard.take(&message) {
                        return message;
                    }
                }
            }
            Self::HttpSse { post, path, events } => {
                assert_eq!(post.roundtrip("POST", path, &[JSON], message.as_bytes()).await.status, 202);
                loop {
                    let message = events.message().await.unwrap();
                    if !heard.take(&message) {
                        return message;
                    }
                }
            }
        }
    }

    /// Takes the broadcasts that are still to come.
    async fn hear_the_rest(&mut self, heard: &mut Broadcasts) {
        while !heard.is_over {
            let message = match self {
                Self::WebSocket(socket) => socket.message().await,
                Self::HttpSse { events, .. } => events.message().await.unwrap(),
                Self::Plain(_) | Self::Session(..) | Self::Modern(_) => return,
            };
            assert!(heard.take(&message), "{message}");
        }
    }
}

/// The broadcasts that a client has heard, each in its turn.
#[derive(Default)]
struct Broadcasts {
    next: Option<u64>,
    is_over: bool,
}

impl Broadcasts {
    fn take(&mut self, message: &Value) -> bool {
        let is_one = message["method"] == "notifications/steady";
        if is_one {
            let number = message["params"]["number"].as_u64().unwrap();
            assert!(self.next.is_none_or(|next| next == number), "{number} came instead of {:?}", self.next);
            self.next = Some(number + 1);
            self.is_over = message["params"]["is_last"] == true;
        }
        is_one
    }
}

/// What a client has measured.
struct Figures {
    kind: &'static str,
    latencies: Vec<Duration>,
}

impl Figures {
    fn print(title: &str, mut all: Vec<Self>) {
        let whole = all.iter().flat_map(|figures| figures.latencies.clone()).collect();
        all.push(Self { kind: "all", latencies: whole });
        // Past the test runner, which shows a test's output only when it fails.
        let mut out = std::io::stderr().lock();
        writeln!(out, "{title}").unwrap();
        for Self { kind, mut latencies } in all {
            latencies.sort_unstable();
            let average = latencies.iter().sum::<Duration>() / u32::try_from(latencies.len()).unwrap();
            let p99 = latencies[latencies.len() * 99 / 100];
            let requests = latencies.len();
            writeln!(
                out,
                "  {kind:<10}  {requests:>7} requests, average {average:.1?}, p99 {p99:.1?}, lost 0"
            )
            .unwrap();
        }
    }
}

/// Asks until the time is over, and checks each answer.
fn spawn(
    kind: &'static str,
    server: &Arc<TestServer>,
    time: Duration,
    pause: Option<Duration>,
) -> JoinHandle<Figures> {
    let server = server.clone();
    tokio::spawn(async move {
        let mut client = Client::connect(kind, &server).await;
        let (mut heard, mut latencies) = (Broadcasts::default(), Vec::new());
        let begun = Instant::now();
        while begun.elapsed() < time {
            let id = latencies.len() as u64;
            let tool = TOOLS[latencies.len() % TOOLS.len()];
            let text = format!("{kind} {id} {}", "x".repeat(latencies.len() % 500));
            let asked = Instant::now();
            let answer = client.ask(id, tool, &text, &mut heard).await;
            latencies.push(asked.elapsed());
            assert_eq!(
                (&answer["id"], &answer["result"]["content"][0]["text"]),
                (&json!(id), &json!(text)),
                "{kind}"
            );
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
        }
        // There are none under load, where nobody pauses.
        if pause.is_some() {
            client.hear_the_rest(&mut heard).await;
        }
        Figures { kind, latencies }
    })
}

async fn all(clients: Vec<JoinHandle<Figures>>) -> Vec<Figures> {
    let mut figures = Vec::new();
    for client in clients {
        figures.push(client.await.unwrap());
    }
    figures
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn five_clients_at_once_lose_nothing() {
    let server = Arc::new(serve());
    let time = Duration::from_secs(seconds());
    let kinds = ["plain HTTP", "session", "2026-07-28", "WebSocket", "WebSocket"];
    let clients = kinds.map(|kind| spawn(kind, &server, time, None));
    let figures = all(clients.into()).await;
    Figures::print(&format!("load: five clients for {} s", time.as_secs()), figures);
}

/// Broadcasts until the time is over. Gives how many there were.
async fn broadcast(server: &Server, time: Duration) -> u64 {
    let begun = Instant::now();
    for number in 0.. {
        let is_last = begun.elapsed() > time;
        let params = json!({"number": number, "is_last": is_last, "padding": "x".repeat(200)});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/steady", "params": params});
        server.broadcast_message(message.to_string()).unwrap();
        if is_last {
            return number + 1;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("numbers don't end")
}

/// Hears every broadcast on a stream of its own.
async fn listen(mut events: Events) -> u64 {
    let mut heard = Broadcasts::default();
    while !heard.is_over {
        assert!(heard.take(&events.message().await.unwrap()));
    }
    heard.next.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn steady_use_with_broadcasts_loses_nothing() {
    let server = Arc::new(serve());
    let time = Duration::from_secs(seconds() * 2);
    let id = open_session(server.http_port, "2025-11-25").await;
    let listeners = [
        tokio::spawn(listen(Events::get(server.http_port, "/mcp/events", &[]).await)),
        tokio::spawn(listen(Events::get(server.http_port, "/mcp", &[("Mcp-Session-Id", &id)]).await)),
    ];
    let pause = Some(Duration::from_millis(5));
    let clients = Client::KINDS.map(|kind| spawn(kind, &server, time, pause));
    let broadcasts = broadcast(&server.server, time).await;
    let figures = all(clients.into()).await;
    for listener in listeners {
        assert_eq!(soon(listener).await.unwrap(), broadcasts);
    }
    Figures::print(&format!("steady use for {} s, with {broadcasts} broadcasts", time.as_secs()), figures);
}
