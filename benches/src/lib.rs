//! What the servers under measurement share: one accept loop on one thread, and for the bare ones one parse
//! and one reply. Holds no transport and measures nothing.

use std::error::Error;
use std::net::Ipv4Addr;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::{TcpListener, TcpStream};

pub mod rmcp_echo;

/// Accepts connections on a free loopback port for ever, one task each, all on this thread.
///
/// Prints `<scheme>://127.0.0.1:<port>/mcp` as the first line of stdout once it listens.
///
/// # Errors
///
/// When the runtime cannot start, or the port cannot be bound, or accepting fails.
pub fn serve<F>(scheme: &str, connection: impl Fn(TcpStream) -> F) -> Result<(), Box<dyn Error>>
where
    F: Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{scheme}://{}/mcp", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let served = connection(stream);
            // How a connection ends is no part of the measurement; the load program reports every failed call.
            tokio::spawn(async move { drop(served.await) });
        }
    })
}

/// The parts of a JSON-RPC message that the floor needs, still JSON text.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
}

/// Answers one message in the shape of an MCP server with an `echo` tool; a notification gets no answer.
///
/// # Errors
///
/// When the message is not a JSON-RPC request of the kind the load program sends.
pub fn reply(message: &[u8]) -> Result<Option<String>, serde_json::Error> {
    let message: Message = serde_json::from_slice(message)?;
    let Some(id) = message.id else { return Ok(None) };
    let text = message.params.and_then(|params| params.arguments).map(|arguments| arguments.text);
    Ok(Some(match text.filter(|_| message.method == "tools/call") {
        Some(text) => format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
        ),
        None => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
    }))
}
