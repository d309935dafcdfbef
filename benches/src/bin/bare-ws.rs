//! The floor for WebSocket: tungstenite, one parse, one formatted reply. Not an MCP server.

use std::error::Error;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

fn main() -> Result<(), Box<dyn Error>> {
    jumpseat_benches::serve("ws", connection)
}

async fn connection(stream: TcpStream) -> Result<(), Box<dyn Error + Send + Sync>> {
    let config = WebSocketConfig::default().read_buffer_size(4 * 1024);
    let mut socket = tokio_tungstenite::accept_async_with_config(stream, Some(config)).await?;
    while let Some(message) = socket.next().await {
        if let Message::Text(text) = message?
            && let Some(reply) = jumpseat_benches::reply(text.as_bytes())?
        {
            socket.send(Message::text(reply)).await?;
        }
    }
    Ok(())
}
