//! The peer for WebSocket: rmcp has no such transport, so its server gets the messages of a tungstenite stream.

use std::error::Error;
use std::future::ready;

use futures_util::{SinkExt, StreamExt};
use jumpseat_benches::rmcp_echo::Echo;
use rmcp::ServiceExt;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

fn main() -> Result<(), Box<dyn Error>> {
    let echo = Echo::default();
    jumpseat_benches::serve("ws", |stream| {
        let echo = echo.clone();
        async move {
            let config = WebSocketConfig::default().read_buffer_size(4 * 1024);
            let socket = tokio_tungstenite::accept_async_with_config(stream, Some(config)).await?;
            let (sink, stream) = socket.split();
            let sink = sink.with(|message| ready(encode(&message)));
            let stream = stream.filter_map(|message| ready(decode(message)));
            echo.serve((sink, stream)).await?.waiting().await?;
            Ok(())
        }
    })
}

fn encode(message: &ServerJsonRpcMessage) -> Result<Message, tungstenite::Error> {
    let text = serde_json::to_string(message).map_err(std::io::Error::from)?;
    Ok(Message::text(text))
}

fn decode(message: Result<Message, tungstenite::Error>) -> Option<ClientJsonRpcMessage> {
    match message {
        Ok(Message::Text(text)) => serde_json::from_str(&text).ok(),
        _ => None,
    }
}
