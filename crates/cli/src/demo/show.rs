//! What the demo prints: where the server listens, what its tools answer, and how to come in.

use anstream::{print, println};
use jumpseat::TransportInfo;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::client;
use crate::error::Error;

/// One call of every tool, in an order that makes a story. A test sees to it that none is missing.
fn story() -> [(&'static str, Value); 10] {
    [
        ("app_info", json!({})),
        ("device_info", json!({})),
        ("system_time", json!({"timezone": "Europe/Berlin"})),
        ("list_todos", json!({"which": "open"})),
        ("add_todo", json!({"title": "Try Jumpseat"})),
        ("complete_todo", json!({"id": 2})),
        ("search_todos", json!({"text": "jump"})),
        ("count", json!({"by": 1})),
        ("backup_todos", json!({"seconds": 1})),
        ("debug_info", json!({})),
    ]
}

pub(crate) fn endpoints(info: &TransportInfo) {
    let app = &info.app;
    println!(
        "{} {} is running (pid {}), with an MCP server inside.",
        app.name.bold(),
        app.version_name,
        app.pid
    );
    println!();
    let local = info.local_socket.as_ref().map(|name| format!("@{name}"));
    for (what, address) in [
        ("WebSocket", &info.websocket_endpoint),
        ("HTTP and event stream", &info.sse_endpoint),
        ("plain JSON-RPC", &info.message_endpoint),
        ("events", &info.events_endpoint),
        ("status", &info.status_endpoint),
        ("abstract socket", &local),
    ] {
        if let Some(address) = address {
            println!("  {what:<22} {}", address.green());
        }
    }
    println!();
}

/// Calls each tool once, through its own socket, and shows what it answers.
pub(crate) fn calls(port: u16) -> Result<(), Error> {
    let failed = |error| Error::internal(format!("the demo cannot reach its own server: {error}"));
    println!("{}", "Every tool, called once over HTTP:".bold());
    for (name, arguments) in story() {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": name}});
        let mut steps = 0;
        let result = client::request(port, "tools/call", &params, |_progress| steps += 1).map_err(failed)?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        print!("  {} {}", name.cyan(), arguments.to_string().dimmed());
        if steps > 0 {
            print!(" {}", format!("({steps} progress notifications)").dimmed());
        }
        println!();
        println!("    {}", shortened(text, 100));
    }
    println!();
    Ok(())
}

/// The first `length` characters of a text, in one line.
fn shortened(text: &str, length: usize) -> String {
    let mut line: String = text.chars().map(|c| if c == '\n' { ' ' } else { c }).take(length).collect();
    if text.chars().nth(length).is_some() {
        line.push('…');
    }
    line
}

/// How to come in with other programs.
pub(crate) fn ways_in(info: &TransportInfo, port: u16) {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let http = format!("http://127.0.0.1:{port}/mcp");
    let websocket = info.websocket_endpoint.as_deref().unwrap_or_default();
    println!("{}", "Come in with".bold());
    println!("  curl         curl -s {http} -H 'Content-Type: application/json' -d '{list}'");
    println!("  WebSocket    echo '{list}' | websocat -n1 {websocket}");
    println!("  a browser    http://127.0.0.1:{port}/");
    println!("  Claude Code  claude mcp add --transport http jumpseat {http}");
    let cursor = json!({"mcpServers": {"jumpseat": {"url": http}}});
    println!("  Cursor       {cursor}   in .cursor/mcp.json");
    let code = json!({"servers": {"jumpseat": {"type": "http", "url": http}}});
    println!("  VS Code      {code}   in .vscode/mcp.json");
    println!();
}

pub(crate) fn serving() {
    println!("Serving until Ctrl-C.");
}

pub(crate) fn stopping() {
    println!("Stopped.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_between_characters() {
        assert_eq!(shortened("äöü\nx", 4), "äöü …");
        assert_eq!(shortened("äöü", 3), "äöü");
    }
}
