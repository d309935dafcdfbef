//! What the tests share: a server on free ports, and small clients over real sockets that say exactly what
//! they are told to. Every wait has a deadline that fails the test; none is a pause.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

pub mod door;
pub mod held;
pub mod raw;
pub mod websocket;

use std::fmt::Write as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::time::Duration;

use jumpseat::{HostApp, Ports, Server, ServerBuilder, Tool};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Longer than anything takes that works.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Fails the test when `future` takes too long.
pub async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future).await.expect("it should have happened by now")
}

/// Waits for a state that nobody announces.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, patience).await.unwrap_or_else(|_| panic!("it is not so yet: {what}"));
}

/// A port of 127.0.0.1 that is free, and that nobody is given who asks for any port: those are higher numbers.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test binaries that run at the same time begin in different places.
    let start = u16::try_from(std::process::id() % 600 * 20).unwrap();
    let ports = std::iter::repeat_with(|| 20_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000);
    ports.take(12_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// A server of the test's own.
pub struct TestServer {
    pub server: Server,
    /// The WebSocket port.
    pub port: u16,
    /// The HTTP port.
    pub http_port: u16,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // A test that has failed already should say why, not this.
        _ = self.server.stop();
    }
}

/// An app that no other test has.
pub fn app() -> HostApp {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    HostApp::new(format!("test.app{number}"), "Test app", "1.2.3").debuggable(true)
}

pub fn builder() -> ServerBuilder {
    Server::builder(app()).ports(Ports::Fixed(0, 0))
}

/// A running server with an inline tool `echo` that answers its argument `text`.
pub fn start() -> TestServer {
    start_with(builder())
}

pub fn start_with(builder: ServerBuilder) -> TestServer {
    let server = builder.initialize().unwrap();
    let echo = Tool::text("echo", "Says it again");
    server.add_inline_tool(echo, |arguments, _| Ok(arguments.str("text").unwrap_or_default())).unwrap();
    let info = server.start_blocking().unwrap();
    let port = |endpoint: Option<String>| {
        let endpoint = endpoint.unwrap();
        endpoint.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap()
    };
    let (port, http_port) = (port(info.websocket_endpoint), port(info.sse_endpoint));
    TestServer { server, port, http_port }
}

/// A JSON-RPC request.
pub fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

pub fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> String {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// The same request in the form of MCP 2026-07-28, and the headers that go with it over HTTP.
pub fn modern(id: impl Into<Value>, method: &str, params: &Value) -> (String, Vec<(String, String)>) {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let mut headers = vec![
        ("Accept".into(), "application/json, text/event-stream".into()),
        ("MCP-Protocol-Version".into(), "2026-07-28".into()),
        ("Mcp-Method".into(), method.into()),
    ];
    if let Some(name) = params["name"].as_str() {
        headers.push(("Mcp-Name".into(), name.into()));
    }
    (request(id, method, &params), headers)
}

pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| &**value)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }
}

/// One HTTP/1.1 connection.
pub struct Http<S = TcpStream> {
    pub stream: BufReader<S>,
}

impl Http {
    pub async fn connect(port: u16) -> Self {
        Self::over(soon(TcpStream::connect(("127.0.0.1", port))).await.unwrap())
    }
}

impl<S: AsyncReadExt + AsyncWriteExt + Unpin> Http<S> {
    pub fn over(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// Writes bytes as they are.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        soon(self.stream.get_mut().write_all(bytes.as_ref())).await.unwrap();
    }

    /// Writes a request. `Host` is added where it is not given.
    pub async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str("Host: localhost\r\n");
        }
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        if method == "POST" || !body.is_empty() {
            write!(head, "Content-Length: {}\r\n", body.len()).unwrap();
        }
        head.push_str("\r\n");
        self.write([head.as_bytes(), body].concat()).await;
    }

    /// Reads the head of a response.
    pub async fn head(&mut self) -> Response {
        let status = self.line().await.expect("a status line");
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line().await.expect("a header");
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Response { status, headers, body: Vec::new() }
    }

    /// Reads a whole response.
    pub async fn response(&mut self) -> Response {
        let head = self.head().await;
        self.body(head).await
    }

    /// Reads the body that comes after a head.
    pub async fn body(&mut self, mut response: Response) -> Response {
        if let Some(length) = response.header("content-length") {
            response.body = vec![0; length.parse().unwrap()];
            soon(self.stream.read_exact(&mut response.body)).await.unwrap();
        } else if response.header("transfer-encoding").is_some() {
            // An event stream that should have been something else has chunks without end.
            let whole = async {
                while let Some(chunk) = self.chunk().await {
                    response.body.extend(chunk);
                }
            };
            soon(whole).await;
        }
        response
    }

    /// The next chunk of a chunked body; `None` at its end.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(self.line().await?.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        soon(self.stream.read_exact(&mut chunk)).await.unwrap();
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    /// A line without its end; `None` at the end of the stream.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = soon(self.stream.read_line(&mut line)).await.unwrap_or(0);
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Whether the server has ended the connection, by an end of stream or a reset.
    pub async fn is_ended(&mut self) -> bool {
        let mut rest = Vec::new();
        soon(self.stream.read_to_end(&mut rest)).await.map_or(true, |_| rest.is_empty())
    }

    pub async fn roundtrip(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        self.send(method, path, headers, body).await;
        self.response().await
    }
}

pub const JSON: (&str, &str) = ("Content-Type", "application/json");

/// One POST of a message to `/mcp` on a connection of its own.
pub async fn post(port: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Response {
    post_to(port, "/mcp", headers, body).await
}

pub async fn post_to(port: u16, path: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Response {
    let headers = [&[JSON], headers].concat();
    Http::connect(port).await.roundtrip("POST", path, &headers, body.as_ref()).await
}

/// A POST in the form of MCP 2026-07-28.
pub async fn post_modern(port: u16, id: impl Into<Value>, method: &str, params: &Value) -> Response {
    let (body, headers) = modern(id, method, params);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    post(port, &headers, body).await
}

pub async fn get(port: u16, path: &str, headers: &[(&str, &str)]) -> Response {
    Http::connect(port).await.roundtrip("GET", path, headers, b"").await
}

/// Does the handshake of a revision over HTTP, and gives the session's id.
pub async fn open_session(port: u16, revision: &str) -> String {
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let response = post(port, &[], request(0, "initialize", &params)).await;
    assert_eq!(response.status, 200, "{}", response.text());
    let id = response.header("mcp-session-id").expect("a session id").to_owned();
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(post(port, &[("Mcp-Session-Id", &id)], initialized).await.status, 202);
    id
}

/// One event of a stream. A comment is an event with nothing but the comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_field_names, reason = "the fields' own names")]
pub struct Event {
    pub event: Option<String>,
    pub id: Option<String>,
    pub data: Option<String>,
    pub comment: Option<String>,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(self.data.as_deref().expect("data")).unwrap()
    }
}

/// An event stream.
pub struct Events<S = TcpStream> {
    pub http: Http<S>,
    pub head: Response,
    text: String,
}

impl Events {
    /// Sends a request and expects an event stream.
    pub async fn open(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Self {
        Self::over(Http::connect(port).await, method, path, headers, body).await
    }

    pub async fn get(port: u16, path: &str, headers: &[(&str, &str)]) -> Self {
        let headers = [&[("Accept", "text/event-stream")], headers].concat();
        Self::open(port, "GET", path, &headers, b"").await
    }

    pub async fn post(port: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let accept = ("Accept", "application/json, text/event-stream");
        Self::open(port, "POST", "/mcp", &[&[JSON, accept], headers].concat(), body.as_bytes()).await
    }

    pub async fn post_modern(port: u16, id: impl Into<Value>, method: &str, params: &Value) -> Self {
        let (body, headers) = modern(id, method, params);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        Self::open(port, "POST", "/mcp", &[&[JSON], &*headers].concat(), body.as_bytes()).await
    }
}

impl<S: AsyncReadExt + AsyncWriteExt + Unpin> Events<S> {
    /// [`Events::open`] on a connection that is there already.
    pub async fn over(
        mut http: Http<S>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Self {
        http.send(method, path, headers, body).await;
        let head = http.head().await;
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        Self::after(http, head)
    }

    /// The stream that comes after a head.
    pub fn after(http: Http<S>, head: Response) -> Self {
        Self { http, head, text: String::new() }
    }

    /// The next event or comment; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Event> {
        while !self.text.contains("\n\n") {
            let chunk = self.http.chunk().await?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let (block, _) = self.text.split_once("\n\n").unwrap();
        let mut event = Event::default();
        for line in block.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = Some(value.strip_prefix(' ').unwrap_or(value).to_owned());
            match field {
                "" => event.comment = value,
                "event" => event.event = value,
                "id" => event.id = value,
                "data" => event.data = value,
                other => panic!("no field of an event: {other}"),
            }
        }
        let read = block.len() + 2;
        self.text.drain(..read);
        Some(event)
    }

    /// The next message, past comments and events without data.
    pub async fn message(&mut self) -> Option<Value> {
        // Comments come more often than the deadline.
        soon(async {
            loop {
                let event = self.next().await?;
                if event.data.as_deref().is_some_and(|data| !data.is_empty()) {
                    return Some(event.json());
                }
            }
        })
        .await
    }
}
