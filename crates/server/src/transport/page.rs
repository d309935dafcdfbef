//! `GET /`: a page for people, that says what this is, where it listens and what tools there are.

use std::fmt::Write as _;

use hyper::header::{CONTENT_SECURITY_POLICY, HeaderName};
use hyper::{Response, StatusCode};
use serde_json::Value;

use super::body::{self, Body};
use crate::server::Shared;
use crate::status::TransportInfo;

const TEMPLATE: &str = include_str!("page.html");

pub(crate) fn page(shared: &Shared) -> Response<Body> {
    let info = shared.transport_info();
    let tools = shared.tools().snapshot();
    let mut descriptors = String::new();
    for tool in tools.offer().tools.tools() {
        descriptors.push_str(&tool_section(tool.descriptor()));
    }
    let count = tools.offer().tools.tools().count();
    // The tools come last: what they say may contain the other marks.
    let html = TEMPLATE
        .replace("{{app}}", &escape(&info.app.name))
        .replace("{{version}}", &escape(&info.app.version_name))
        .replace("{{id}}", &escape(&info.app.id))
        .replace("{{pid}}", &info.app.pid.to_string())
        .replace("{{server}}", &format!("{} {}", info.server.name, info.server.version))
        .replace("{{revisions}}", &info.protocol_versions.join(", "))
        .replace("{{endpoints}}", &endpoints(&info))
        .replace("{{forward}}", &escape(&forward(&info)))
        .replace("{{curl}}", &escape(&curl(&info)))
        .replace("{{count}}", &count.to_string())
        .replace("{{tools}}", &descriptors);
    let response = body::full(StatusCode::OK, "text/html; charset=utf-8", html);
    let response =
        body::with_header(response, CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'");
    body::with_header(response, HeaderName::from_static("x-content-type-options"), "nosniff")
}

/// How a workstation reaches the server on a phone.
fn forward(info: &TransportInfo) -> String {
    let port =
        info.sse_endpoint.as_deref().and_then(|endpoint| endpoint.rsplit(':').next()?.strip_suffix("/mcp"));
    match (port, &info.local_socket) {
        (None, Some(name)) => format!("adb forward tcp:8080 localabstract:{name}"),
        (port, _) => {
            let port = port.unwrap_or("8080");
            format!("adb forward tcp:{port} tcp:{port}")
        }
    }
}

/// What `curl` is told to connect to.
fn curl(info: &TransportInfo) -> String {
    match (&info.sse_endpoint, &info.local_socket) {
        (Some(endpoint), _) => endpoint.clone(),
        (None, Some(name)) => format!("--abstract-unix-socket {name} http://localhost/mcp"),
        (None, None) => "http://127.0.0.1:8080/mcp".to_owned(),
    }
}

fn endpoints(info: &TransportInfo) -> String {
    let local = info.local_socket.as_ref().map(|name| format!("@{name}"));
    let rows = [
        ("WebSocket", &info.websocket_endpoint),
        ("HTTP (POST, event stream)", &info.sse_endpoint),
        ("Plain JSON-RPC", &info.message_endpoint),
        ("Events", &info.events_endpoint),
        ("Status", &info.status_endpoint),
        ("Abstract socket", &local),
    ];
    rows.iter().fold(String::new(), |mut html, (name, address)| {
        if let Some(address) = address {
            _ = write!(html, "<tr><th>{name}</th><td><code>{}</code></td></tr>", escape(address));
        }
        html
    })
}

fn tool_section(descriptor: &str) -> String {
    // It was written by us, from a tree.
    let tool = serde_json::from_str::<Value>(descriptor).unwrap_or_default();
    let text = |key: &str| escape(tool.get(key).and_then(Value::as_str).unwrap_or(""));
    let mut html = format!("<section><h3><code>{}</code></h3><p>{}</p>", text("name"), text("description"));
    for (title, key) in [("Arguments", "inputSchema"), ("Output", "outputSchema"), ("Hints", "annotations")] {
        if let Some(value) = tool.get(key) {
            let json = serde_json::to_string_pretty(value).unwrap_or_default();
            _ = write!(html, "<details><summary>{title}</summary><pre>{}</pre></details>", escape(&json));
        }
    }
    html.push_str("</section>");
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
