//! `jumpseat demo`, as a user runs it.
#![allow(clippy::unwrap_used, reason = "a test fails where it should")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn jumpseat(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jumpseat"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn once_calls_the_tools_and_stops() {
    let output = jumpseat(&["demo", "--once", "--port", "0"]).output().unwrap();
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(text.contains("\"title\":\"Try Jumpseat\""), "{text}");
    assert!(text.contains("(10 progress notifications)"), "{text}");
    assert!(text.contains("claude mcp add --transport http jumpseat http://127.0.0.1:"), "{text}");
    assert!(!text.contains('\u{1b}'), "colours in a pipe: {text:?}");
}

#[test]
fn a_taken_port_is_named_with_a_way_out() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = jumpseat(&["demo", "--once", "--port", &port.to_string()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.starts_with(&format!("error: port {port} of 127.0.0.1 is taken")), "{text}");
    assert!(text.contains("\nhint: "), "{text}");
    assert_eq!(stdout(&output), "");
}

/// A demo that serves.
struct Demo {
    child: Child,
    port: u16,
    /// What it printed before it began to serve.
    text: String,
    rest: BufReader<std::process::ChildStdout>,
}

impl Demo {
    fn start() -> Self {
        let mut child = jumpseat(&["demo", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut rest = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("Serving until Ctrl-C.") {
            assert!(rest.read_line(&mut text).unwrap() > 0, "it ended: {text}");
        }
        let port = text.split("ws://127.0.0.1:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
        Self { child, port, text, rest }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It has ended already where the test went well.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn post(port: u16, body: &str) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn it_serves_every_tool_that_it_has_shown_until_it_is_told_to_stop() {
    let mut demo = Demo::start();
    let listed = post(demo.port, r#"{"jsonrpc":"2.0","method":"tools/list","id":1}"#);
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 10, "{listed}");
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(demo.text.contains(&format!("\n  {name} {{")), "{name} was not called");
    }
    let interrupted =
        Command::new("sh").arg("-c").arg(format!("kill -INT {}", demo.child.id())).status().unwrap();
    assert!(interrupted.success());
    let mut last = String::new();
    demo.rest.read_to_string(&mut last).unwrap();
    assert_eq!(last, "Stopped.\n");
    assert!(demo.child.wait().unwrap().success());
}

#[test]
fn arguments_that_do_not_fit_are_told_by_name() {
    let demo = Demo::start();
    let call = r#"{"jsonrpc":"2.0","method":"tools/call","id":1,"params":{"name":"add_todo","arguments":{"title":3}}}"#;
    let answer = post(demo.port, call);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("`title`"), "{answer}");
}
