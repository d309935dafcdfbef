//! The official Rust SDK's client against our server: over HTTP (on the abstract socket) and over WebSocket (as a
//! transport of its own making), with the handshake of old and without. What we misread of MCP, it has not.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]
#![cfg(target_os = "linux")]

mod support;

use std::io;
use std::pin::Pin;

use futures_core::Stream;
use futures_sink::Sink;
use jumpseat::{Context, ToolError};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProtocolVersion,
    ServerNotification, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RunningService, RxJsonRpcMessage, ServiceError, TxJsonRpcMessage,
};
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::json;
use support::held::{Held, Kind};
use support::{TestServer, soon, start, until};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Hands on what the server says without being asked.
struct Client {
    progress: UnboundedSender<ProgressNotificationParam>,
    changes: UnboundedSender<()>,
}

impl ClientHandler for Client {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.send(params).unwrap();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send(()).unwrap();
    }
}

/// A WebSocket as a transport: a task has it, and messages go in and out.
struct Socket {
    outgoing: UnboundedSender<String>,
    incoming: UnboundedReceiver<String>,
}

impl Socket {
    async fn connect(server: &TestServer) -> Self {
        let endpoint = server.server.transport_info().websocket_endpoint.unwrap();
        let (socket, _) = tokio_tungstenite::connect_async(endpoint).await.unwrap();
        let (outgoing, to_send) = unbounded_channel();
        let (received, incoming) = unbounded_channel();
        tokio::spawn(pump(socket, to_send, received));
        Self { outgoing, incoming }
    }
}

async fn pump(
    mut socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    mut to_send: UnboundedReceiver<String>,
    received: UnboundedSender<String>,
) {
    loop {
        let incoming = std::future::poll_fn(|cx| Pin::new(&mut socket).poll_next(cx));
        tokio::select! {
            message = incoming => match message {
                Some(Ok(Message::Text(text))) => received.send(text.to_string()).unwrap(),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            text = to_send.recv() => {
                let Some(text) = text else { return };
                Pin::new(&mut socket).start_send(Message::text(text)).unwrap();
                std::future::poll_fn(|cx| Pin::new(&mut socket).poll_flush(cx)).await.unwrap();
            }
        }
    }
}

impl Transport<RoleClient> for Socket {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = self.outgoing.send(serde_json::to_string(&message).unwrap());
        std::future::ready(sent.map_err(io::Error::other))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let text = self.incoming.recv().await?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}

fn http(server: &TestServer) -> impl Transport<RoleClient, Error: Send + Sync> + use<> {
    let name = server.server.transport_info().local_socket.unwrap();
    StreamableHttpClientTransport::from_unix_socket(&format!("@{name}"), "http://localhost/mcp")
}

/// A client that is connected, and what its server says without being asked.
struct Connected {
    client: RunningService<RoleClient, Client>,
    progress: UnboundedReceiver<ProgressNotificationParam>,
    changes: UnboundedReceiver<()>,
}

impl Connected {
    async fn new(transport: impl Transport<RoleClient> + 'static, lifecycle: ClientLifecycleMode) -> Self {
        let (progress_sender, progress) = unbounded_channel();
        let (change_sender, changes) = unbounded_channel();
        let client = Client { progress: progress_sender, changes: change_sender };
        let client = soon(client.serve_with_lifecycle(transport, lifecycle)).await.unwrap();
        Self { client, progress, changes }
    }

    /// Lists and calls tools, good ones and bad ones.
    async fn calls_tools(&mut self) {
        let peer = self.client.peer_info().unwrap();
        assert!(peer.capabilities.tools.as_ref().unwrap().list_changed.unwrap());
        let server = peer.server_info.as_ref().unwrap();
        assert_eq!((server.title.as_deref(), &*server.version), (Some("Test app"), "1.2.3"));

        let tools = soon(self.client.list_all_tools()).await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["app_info", "device_info", "echo", "fails", "held", "reports", "system_time"]);
        assert!(tools[0].output_schema.is_some());

        let arguments = json!({"text": "grüße 🦀"}).as_object().unwrap().clone();
        let echo = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = soon(self.client.call_tool(echo)).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, "grüße 🦀");
        assert_ne!(result.is_error, Some(true));

        let result = soon(self.client.call_tool(CallToolRequestParams::new("app_info"))).await.unwrap();
        assert_eq!(result.structured_content.unwrap()["pid"], std::process::id());

        let result = soon(self.client.call_tool(CallToolRequestParams::new("fails"))).await.unwrap();
        assert_eq!((result.is_error, &*result.content[0].as_text().unwrap().text), (Some(true), "no luck"));

        let error = soon(self.client.call_tool(CallToolRequestParams::new("nothing"))).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains("nothing"), "{}", error.message);
    }

    async fn sees_progress(&mut self) {
        let reports = CallToolRequestParams::new("reports");
        let result = soon(self.client.call_tool(reports)).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, "done");
        for step in [1.0, 2.0, 3.0] {
            let progress = soon(self.progress.recv()).await.unwrap();
            assert_eq!((progress.progress, progress.total), (step, Some(3.0)));
        }
    }

    /// A client that cancels its call.
    async fn cancels(&mut self, held: &mut Held) {
        let request = CallToolRequest::new(CallToolRequestParams::new("held"));
        let request = ClientRequest::CallToolRequest(request);
        let options = PeerRequestOptions::no_options();
        let handle = soon(self.client.send_cancellable_request(request, options)).await.unwrap();
        let context = held.begun().await;
        soon(handle.cancel(Some("enough".into()))).await.unwrap();
        soon(context.cancelled()).await;
    }
}

/// A server with tools that do what a client must cope with.
fn server() -> (TestServer, Held) {
    let server = start();
    let held = Held::named(&server.server, "held", Kind::Async);
    let fails = jumpseat::Tool::text("fails", "Fails");
    server.server.add_inline_tool(fails, |_, _| Err(ToolError::new("no luck"))).unwrap();
    let reports = jumpseat::Tool::text("reports", "Reports progress");
    let report = |_, context: Context| {
        for step in [1.0, 2.0, 3.0] {
            context.progress(step, Some(3.0), Some("on it"));
        }
        Ok("done".to_owned())
    };
    server.server.add_blocking_tool(reports, report).unwrap();
    (server, held)
}

fn change(server: &TestServer) {
    server.server.add_simple_tool("fresh", "", |_| Ok(String::new())).unwrap();
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

/// On 2026-07-28, who wants to hear of changes asks for it.
async fn subscribes(connected: &Connected, server: &TestServer) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = soon(connected.client.listen(filter)).await.unwrap();
    assert_eq!(subscription.acknowledged().tools_list_changed, Some(true));
    change(server);
    let change = soon(subscription.next()).await.unwrap().unwrap();
    assert!(matches!(change, ServerNotification::ToolListChangedNotification(_)));
    soon(subscription.cancel()).await.unwrap();
}

#[tokio::test]
async fn over_http_with_a_handshake() {
    let (server, mut held) = server();
    let mut connected = Connected::new(http(&server), ClientLifecycleMode::Initialize).await;
    assert_eq!(connected.client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    connected.calls_tools().await;
    connected.sees_progress().await;
    connected.cancels(&mut held).await;
    until("it has its stream", || server.server.transport_info().connections.event_streams == 1).await;
    change(&server);
    soon(connected.changes.recv()).await.unwrap();
    soon(connected.client.cancel()).await.unwrap();
    until("its session is deleted", || server.server.transport_info().connections.sessions == 0).await;
}

#[tokio::test]
async fn over_http_without_a_handshake() {
    let (server, mut held) = server();
    let mut connected = Connected::new(http(&server), modern()).await;
    connected.calls_tools().await;
    connected.sees_progress().await;
    connected.cancels(&mut held).await;
    subscribes(&connected, &server).await;
    soon(connected.client.cancel()).await.unwrap();
    assert_eq!(server.server.transport_info().connections.sessions, 0);
}

#[tokio::test]
async fn over_a_websocket_with_a_handshake() {
    let (server, mut held) = server();
    let mut connected = Connected::new(Socket::connect(&server).await, ClientLifecycleMode::Initialize).await;
    assert_eq!(connected.client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2025_11_25);
    connected.calls_tools().await;
    connected.sees_progress().await;
    connected.cancels(&mut held).await;
    change(&server);
    soon(connected.changes.recv()).await.unwrap();
    soon(connected.client.cancel()).await.unwrap();
    until("it is gone", || server.server.transport_info().connections.websocket == 0).await;
}

#[tokio::test]
async fn over_a_websocket_without_a_handshake() {
    let (server, mut held) = server();
    let mut connected = Connected::new(Socket::connect(&server).await, modern()).await;
    connected.calls_tools().await;
    connected.sees_progress().await;
    connected.cancels(&mut held).await;
    subscribes(&connected, &server).await;
    soon(connected.client.cancel()).await.unwrap();
}

/// A client that finds out by itself what the server speaks.
#[tokio::test]
async fn a_client_that_tries_both_finds_the_newest() {
    let (server, _held) = server();
    let auto = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    };
    let mut connected = Connected::new(http(&server), auto).await;
    assert_eq!(connected.client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2026_07_28);
    connected.calls_tools().await;
    soon(connected.client.cancel()).await.unwrap();
}
