//! `stop`: within 2 s whatever handlers and clients do, with a word to everybody who is connected; and the start
//! after it.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::time::{Duration, Instant};

use jumpseat::{Arguments, Context, Limits, Server, StopError, Tool};
use serde_json::{Value, json};
use support::held::{Held, Kind};
use support::websocket::{CLOSE, End, FIN, WebSocket, close};
use support::{
    Events, Http, JSON, builder, call, modern, open_session, post, post_to, soon, start, start_with,
};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The 2 s of the rule, and some for a machine that is busy with other tests.
const STOPPED: Duration = Duration::from_millis(2500);

/// Stops the server from another thread, as an app does.
async fn stop(server: &Server) -> Result<(), StopError> {
    let server = server.clone();
    soon(tokio::task::spawn_blocking(move || {
        let begun = Instant::now();
        let stopped = server.stop();
        assert!(begun.elapsed() < STOPPED, "it took {:?}", begun.elapsed());
        assert!(!server.is_server_running());
        stopped
    }))
    .await
    .unwrap()
}

/// The port of `ws://127.0.0.1:8080/mcp` and its like.
fn port(endpoint: &str) -> u16 {
    endpoint.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap()
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

#[tokio::test]
async fn nobody_connects_to_a_stopped_server() {
    let server = start();
    assert_eq!(post(server.port, &[], call(1, "echo", &json!({}))).await.status, 200);
    stop(&server.server).await.unwrap();
    for port in [server.port, server.http_port] {
        let error = TcpStream::connect(("127.0.0.1", port)).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    }
    stop(&server.server).await.unwrap();
}

#[tokio::test]
async fn everybody_gets_a_word() {
    let server = start();
    let mut sockets = [WebSocket::connect(server.port).await, WebSocket::connect(server.port).await];
    sockets[0].ask(call(1, "echo", &json!({}))).await;
    sockets[1].ask(modern(1, "tools/list", &json!({})).0).await;
    let id = open_session(server.port, "2025-06-18").await;
    let mut streams = vec![
        Events::get(server.port, "/mcp/events", &[]).await,
        Events::get(server.port, "/sse", &[]).await,
        Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await,
        Events::get(server.port, "/mcp", &[("Mcp-Session-Id", &id)]).await,
    ];
    let mut idle = Http::connect(server.port).await;
    idle.roundtrip("POST", "/mcp", &[JSON], call(1, "echo", &json!({})).as_bytes()).await;

    stop(&server.server).await.unwrap();
    for socket in &mut sockets {
        assert!(matches!(socket.end().await, End::Closed(1001, _)));
    }
    for stream in &mut streams {
        // The end of a chunked body, and not of the connection alone.
        let mut rest = Vec::new();
        soon(stream.http.stream.read_to_end(&mut rest)).await.unwrap();
        assert!(rest.ends_with(b"0\r\n\r\n"), "{:?}", String::from_utf8_lossy(&rest));
    }
    assert!(idle.is_ended().await);
}

#[tokio::test]
async fn a_subscription_gets_its_closing_response() {
    let server = start();
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let mut socket = WebSocket::connect(server.port).await;
    socket.ask(modern("ws", "subscriptions/listen", &listen).0).await;
    let mut stream = Events::post_modern(server.port, 7, "subscriptions/listen", &listen).await;
    stream.message().await.unwrap();
    stop(&server.server).await.unwrap();
    for (closing, id) in [(socket.message().await, json!("ws")), (stream.message().await.unwrap(), json!(7))]
    {
        assert_eq!(closing["id"], id);
        assert_eq!(closing["result"]["resultType"], "complete", "{closing}");
        assert_eq!(closing["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    }
    assert_eq!(socket.close_code().await, 1001);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn calls_in_flight_are_answered_within_their_second() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let (message, arguments) = ("held", json!({"text": "just in time"}));
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, message, &arguments)).await;
    held.begun().await;
    let mut http = Http::connect(server.port).await;
    http.send("POST", "/mcp", &[JSON], call(2, message, &arguments).as_bytes()).await;
    held.begun().await;

    let stopping = tokio::spawn({
        let server = server.server.clone();
        async move { stop(&server).await }
    });
    support::until("nobody can connect", || !server.server.is_server_running()).await;
    held.release();
    held.release();
    assert_eq!(text(&socket.message().await), "just in time");
    assert_eq!(text(&http.response().await.json()), "just in time");
    assert_eq!(socket.close_code().await, 1001);
    stopping.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_handler_that_does_not_return_does_not_hold_up_the_stop() {
    for kind in [Kind::Blocking, Kind::Async] {
        let server = start();
        let mut held = Held::named(&server.server, "stuck", kind);
        let mut socket = WebSocket::connect(server.port).await;
        socket.send(call(1, "stuck", &json!({}))).await;
        let context = held.begun().await;
        let mut http = Http::connect(server.port).await;
        http.send("POST", "/mcp", &[JSON], call(1, "stuck", &json!({})).as_bytes()).await;
        held.begun().await;
        stop(&server.server).await.unwrap();
        assert!(matches!(socket.end().await, End::Closed(1001, _)), "{kind:?}");
        assert!(http.is_ended().await, "{kind:?}");
        soon(context.cancelled()).await;
        // It starts again while the old handler is still at it.
        let info = server.server.start_blocking().unwrap();
        assert!(info.is_running);
        drop(held);
    }
}

#[tokio::test]
async fn an_inline_handler_that_does_not_return_is_reported_and_the_server_stops_when_it_does() {
    let server = start();
    let mut held = Held::named(&server.server, "stuck", Kind::Inline);
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, "stuck", &json!({"text": "sorry"}))).await;
    held.begun().await;
    let error = stop(&server.server).await.unwrap_err().to_string();
    assert!(error.contains("inline") && error.contains("2 s"), "{error}");
    held.release();
    assert_eq!(text(&socket.message().await), "sorry");
    assert_eq!(socket.close_code().await, 1001);
    assert!(socket.http.is_ended().await);
}

/// Registers a tool that stops the server. If it waited for the end, it would wait for itself, and nobody would get
/// its answer.
fn add_stop(server: &Server, kind: Kind) {
    let handle = server.clone();
    let stop = move |_: Arguments, _: Context| {
        handle.stop()?;
        Ok(format!("running: {}", handle.is_server_running()))
    };
    let tool = Tool::text("stop", "Stops the server");
    match kind {
        Kind::Inline => server.add_inline_tool(tool, stop),
        Kind::Blocking => server.add_blocking_tool(tool, stop),
        Kind::Async => server.add_tool(tool, move |a, c| {
            let stopped = stop(a, c);
            async move { stopped }
        }),
    }
    .unwrap();
}

#[tokio::test]
async fn a_handler_of_any_kind_may_stop_the_server_and_is_answered() {
    const STOPPED: &str = "running: false";
    let message = call(1, "stop", &json!({}));
    for (kind, worker_threads) in Kind::ALL.into_iter().flat_map(|kind| [(kind, 1), (kind, 3)]) {
        let what = format!("{kind:?}, {worker_threads} threads");
        let start = || {
            let server = start_with(builder().worker_threads(worker_threads));
            add_stop(&server.server, kind);
            server
        };
        let server = start();
        let mut socket = WebSocket::connect(server.port).await;
        assert_eq!(text(&socket.ask(&message).await), STOPPED, "{what}");
        assert_eq!(socket.close_code().await, 1001);
        assert!(socket.http.is_ended().await);

        let server = start();
        let mut http = Http::connect(server.port).await;
        let response = http.roundtrip("POST", "/mcp", &[JSON], message.as_bytes()).await;
        assert_eq!(text(&response.json()), STOPPED, "{what}");
        assert!(http.is_ended().await);

        let server = start();
        let mut events = Events::get(server.port, "/sse", &[]).await;
        let path = events.next().await.unwrap().data.unwrap();
        assert_eq!(post_to(server.port, &path, &[], &message).await.status, 202, "{what}");
        assert_eq!(text(&events.message().await.unwrap()), STOPPED, "{what}");
        assert_eq!(events.message().await, None);
    }
}

/// A stop from a handler goes on when it has returned. Who starts the server meanwhile waits for its end, which
/// would be the end of the new connections, too.
#[tokio::test]
async fn a_start_waits_for_the_end_of_the_run_before() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let handle = server.server.clone();
    let stop = Tool::text("stop", "Stops the server");
    server.server.add_inline_tool(stop, move |_, _| Ok(format!("{:?}", handle.stop().is_ok()))).unwrap();
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, "held", &json!({"text": "held"}))).await;
    held.begun().await;
    assert_eq!(text(&socket.ask(call(2, "stop", &json!({}))).await), "true");

    let handle = server.server.clone();
    let restarted = tokio::task::spawn_blocking(move || handle.start_blocking().unwrap());
    assert_eq!(socket.close_code().await, 1001);
    let endpoint = soon(restarted).await.unwrap().websocket_endpoint.unwrap();
    let mut socket = WebSocket::connect(port(&endpoint)).await;
    assert_eq!(socket.ask(call(3, "echo", &json!({}))).await["id"], 3);
    assert!(server.server.is_server_running());
    assert_eq!(server.server.transport_info().connections.websocket, 1);
}

#[tokio::test]
async fn clients_that_do_not_read_or_answer_do_not_hold_up_the_stop() {
    let server = start_with(builder().limits(Limits { max_queued_messages: 4096, ..Limits::default() }));
    let mut silent = WebSocket::connect(server.port).await;
    silent.ask(call(1, "echo", &json!({}))).await;
    let mut stuck = WebSocket::connect(server.port).await;
    stuck.ask(call(1, "echo", &json!({}))).await;
    let _half_a_head = {
        let mut http = Http::connect(server.port).await;
        http.write("POST /mcp HTTP/1.1\r\nHost: loc").await;
        http
    };
    let _half_a_body = {
        let mut http = Http::connect(server.port).await;
        http.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{").await;
        http
    };
    let _events = Events::get(server.port, "/mcp/events", &[]).await;
    let padding = "x".repeat(16 << 10);
    let message = json!({"jsonrpc": "2.0", "method": "m", "params": {"padding": padding}}).to_string();
    for _ in 0..200 {
        server.server.broadcast_message(message.clone()).unwrap();
    }
    stop(&server.server).await.unwrap();
}

#[tokio::test]
async fn a_server_starts_and_stops_a_hundred_times() {
    let server = start();
    server.server.stop().unwrap();
    for round in 0..100 {
        let info = server.server.start_blocking().unwrap();
        assert!(info.is_running && server.server.is_server_running());
        let port =
            |endpoint: &str| endpoint.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
        let mut socket = WebSocket::connect(port(&info.websocket_endpoint.unwrap())).await;
        let reply = socket.ask(call(round, "echo", &json!({"text": "again"}))).await;
        assert_eq!((&reply["id"], text(&reply)), (&json!(round), "again"));
        let mut events = Events::get(port(&info.sse_endpoint.unwrap()), "/mcp/events", &[]).await;
        let end = async {
            // The close frame is answered, or the server would wait for that.
            assert_eq!(socket.close_code().await, 1001);
            socket.send_frame(FIN | CLOSE, close(1001, "")).await;
            events.message().await
        };
        let (stopped, message) = tokio::join!(stop(&server.server), end);
        stopped.unwrap();
        assert_eq!(message, None);
        let info = server.server.transport_info();
        assert!(!info.is_running);
        assert_eq!((info.connections.websocket, info.connections.event_streams), (0, 0));
    }
}

#[tokio::test]
async fn starts_and_stops_from_many_threads_leave_one_server_or_none() {
    let server = start();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let server = server.server.clone();
            std::thread::spawn(move || {
                for round in 0..25 {
                    if (thread + round) % 2 == 0 {
                        server.start_blocking().unwrap();
                    } else {
                        server.stop().unwrap();
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let info = server.server.start_blocking().unwrap();
    let port =
        info.sse_endpoint.unwrap().rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
    assert_eq!(post(port, &[], call(1, "echo", &json!({}))).await.status, 200);
    stop(&server.server).await.unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}
