//! `GET /`: the page for people.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat::{HostApp, Ports, Server, Tool};
use support::{Response, get, start, start_with};

async fn page(port: u16) -> Response {
    let response = get(port, "/", &[("Accept", "text/html")]).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/html; charset=utf-8")));
    response
}

#[tokio::test]
async fn the_page_shows_the_app_the_endpoints_and_the_tools() {
    let server = start();
    let info = server.server.transport_info();
    let html = page(server.port).await.text();
    for endpoint in [
        info.websocket_endpoint,
        info.sse_endpoint,
        info.message_endpoint,
        info.events_endpoint,
        info.status_endpoint,
    ] {
        let endpoint = endpoint.unwrap();
        assert!(html.contains(&format!(">{endpoint}<")), "{endpoint}");
    }
    assert!(info.local_socket.is_none_or(|name| html.contains(&format!("@{name}"))));
    for text in
        ["Test app", "1.2.3", &info.app.id, "device_info", "Get device information", "echo", "Says it again"]
    {
        assert!(html.contains(text), "{text}");
    }
}

#[tokio::test]
async fn the_page_shows_the_tools_of_now() {
    let server = start();
    assert!(!page(server.port).await.text().contains("late_tool"));
    server.server.add_inline_tool(Tool::text("late_tool", "Came later"), |_, _| Ok(String::new())).unwrap();
    assert!(page(server.port).await.text().contains("late_tool"));
    assert!(server.server.remove_tool("late_tool"));
    assert!(!page(server.port).await.text().contains("late_tool"));
}

#[tokio::test]
async fn the_page_loads_nothing_from_anywhere() {
    let server = start();
    let response = page(server.port).await;
    let policy = response.header("content-security-policy").unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("http"), "{policy}");
    let html = response.text().to_ascii_lowercase();
    for loading in ["<script", "<link", "<img", "<iframe", "<form", "src=", "href=", "@import", "url("] {
        assert!(!html.contains(loading), "{loading}");
    }
}

#[tokio::test]
async fn what_the_app_and_its_tools_say_is_escaped() {
    const EVIL: &str = r#"<script>alert("1")</script>&amp;<b>"#;
    let app = HostApp::new("test.page.escaped", EVIL, EVIL).debuggable(true);
    let server = start_with(Server::builder(app).ports(Ports::Fixed(0, 0)));
    let tool =
        Tool::text("evil", EVIL).input_schema(serde_json::json!({"type": "object", "description": EVIL}));
    server.server.add_inline_tool(tool, |_, _| Ok(String::new())).unwrap();
    let html = page(server.port).await.text();
    assert!(!html.contains("<script") && !html.contains("<b>"));
    let escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;&lt;b&gt;";
    // The name (in the title, too), the version and the description.
    assert!(html.matches(escaped).count() >= 4, "{html}");
    // The same inside of a JSON string.
    assert!(html.contains("&lt;script&gt;alert(\\&quot;1\\&quot;)"));
}
