//! WebSocket clients that break the rules, or vanish: each is told so with the right close code, and nobody
//! else notices.

mod support;

use std::time::Duration;

use jumpseat::Limits;
use serde_json::json;
use support::held::{Held, Kind};
use support::websocket::{
    BINARY, CLOSE, CONTINUATION, End, FIN, MASKED, PING, PONG, TEXT, WebSocket, close, frame,
};
use support::{TestServer, builder, call, post, request, soon, start, start_with, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn start_limited(limits: Limits) -> TestServer {
    start_with(builder().limits(limits))
}

/// The server has let go of the WebSocket, and serves the next one.
async fn is_unharmed(server: &TestServer) {
    until("no WebSocket is open", || server.server.transport_info().connections.websocket == 0).await;
    let mut socket = WebSocket::connect(server.port).await;
    let reply = socket.ask(call(1, "echo", &json!({"text": "still here"}))).await;
    assert_eq!(reply["result"]["content"][0]["text"], "still here");
}

#[tokio::test]
async fn frames_that_break_the_protocol_are_closed_with_1002() {
    let server = start();
    let mut unmasked = vec![FIN | TEXT, 2];
    unmasked.extend(b"{}");
    let ping_of_126 = frame(FIN | PING, &[0; 126]);
    for (what, bytes) in [
        ("an unmasked frame", unmasked),
        ("a reserved bit", frame(FIN | 0x40 | TEXT, b"{}")),
        ("an unknown opcode", frame(FIN | 0x3, b"{}")),
        ("an unknown control opcode", frame(FIN | 0xb, b"{}")),
        ("a control frame in fragments", frame(PING, b"p")),
        ("a control frame that is too long", ping_of_126),
        ("a continuation of nothing", frame(FIN | CONTINUATION, b"{}")),
        ("a message within a message", [frame(TEXT, b"{"), frame(FIN | TEXT, b"{}")].concat()),
        ("a close frame of one byte", frame(FIN | CLOSE, &[3])),
        ("a close code that nobody may send", frame(FIN | CLOSE, &close(1005, ""))),
    ] {
        let mut socket = WebSocket::connect(server.port).await;
        socket.http.write(bytes).await;
        assert_eq!(socket.close_code().await, 1002, "{what}");
        assert!(socket.http.is_ended().await, "{what}");
    }
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_binary_message_is_closed_with_1003() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    socket.send_frame(FIN | BINARY, call(1, "echo", &json!({}))).await;
    let End::Closed(code, reason) = socket.end().await else { panic!("a close frame") };
    assert_eq!(code, 1003);
    assert!(reason.contains("text"), "{reason}");
    is_unharmed(&server).await;
}

#[tokio::test]
async fn text_that_is_not_utf_8_is_closed_with_1007() {
    let server = start();
    let whole = frame(FIN | TEXT, b"{\"a\":\"\xff\"}");
    let fragments = [frame(TEXT, b"\"\xc3"), frame(FIN | CONTINUATION, b"(\"")].concat();
    let cut_off = frame(FIN | TEXT, b"\"\xe2\x82");
    let surrogate = frame(FIN | TEXT, b"\"\xed\xa0\x80\"");
    for bytes in [whole, fragments, cut_off, surrogate] {
        let mut socket = WebSocket::connect(server.port).await;
        socket.http.write(bytes).await;
        assert_eq!(socket.close_code().await, 1007);
    }
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_closed_with_1009() {
    let server = start_limited(Limits { max_message_bytes: 1000, ..Limits::default() });
    let of_length = |length: usize| {
        let empty = call(1, "echo", &json!({"text": ""})).len();
        call(1, "echo", &json!({"text": "x".repeat(length - empty)}))
    };
    let mut socket = WebSocket::connect(server.port).await;
    assert_eq!(socket.ask(of_length(1000)).await["id"], 1);
    socket.send(of_length(1001)).await;
    let End::Closed(code, reason) = socket.end().await else { panic!("a close frame") };
    assert_eq!(code, 1009);
    assert!(reason.contains("1000 bytes"), "{reason}");

    let mut socket = WebSocket::connect(server.port).await;
    let (first, second) = (vec![b' '; 600], vec![b' '; 401]);
    socket.send_frame(TEXT, first).await;
    socket.send_frame(FIN | CONTINUATION, second).await;
    assert_eq!(socket.close_code().await, 1009, "in fragments");

    let mut socket = WebSocket::connect(server.port).await;
    socket.http.write([FIN | TEXT, MASKED | 0x7f]).await;
    socket.http.write((1u64 << 62).to_be_bytes()).await;
    socket.http.write([1, 2, 3, 4]).await;
    assert_eq!(socket.close_code().await, 1009, "a frame that says that it is endless");
    is_unharmed(&server).await;
}

#[tokio::test]
async fn four_mebibytes_are_served_and_more_is_closed_with_1009() {
    const LIMIT: usize = 4 << 20;
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let empty = call(1, "echo", &json!({"text": ""})).len();
    let reply = socket.ask(call(1, "echo", &json!({"text": "x".repeat(LIMIT - empty)}))).await;
    assert_eq!(reply["result"]["content"][0]["text"].as_str().unwrap().len(), LIMIT - empty);

    // The client reads only when it has written all, as many do: the close frame must be there then.
    let text = "x".repeat(LIMIT + 1 - empty);
    socket.send(call(2, "echo", &json!({"text": text}))).await;
    assert_eq!(socket.close_code().await, 1009);
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_client_that_does_not_answer_two_pings_is_closed() {
    let limits = Limits { ping_interval: Duration::from_millis(50), ..Limits::default() };
    let server = start_limited(limits);
    let mut socket = WebSocket::connect(server.port).await;
    let mut pings = 0;
    let code = loop {
        let frame = socket.frame().await.expect("a close frame");
        match frame.opcode {
            PING => pings += 1,
            CLOSE => break u16::from_be_bytes([frame.payload[0], frame.payload[1]]),
            other => panic!("opcode {other}"),
        }
    };
    assert_eq!((pings, code), (2, 1008));
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_client_that_answers_pings_or_says_anything_stays() {
    let limits = Limits { ping_interval: Duration::from_millis(50), ..Limits::default() };
    let server = start_limited(limits);
    let (mut answers, mut talks) =
        (WebSocket::connect(server.port).await, WebSocket::connect(server.port).await);
    for _ in 0..8 {
        let ping = answers.frame().await.unwrap();
        assert_eq!(ping.opcode, PING);
        answers.send_frame(FIN | PONG, ping.payload).await;
        assert_eq!(talks.frame().await.unwrap().opcode, PING);
        talks.send_frame(FIN | PONG, "a pong of its own").await;
    }
    for socket in [&mut answers, &mut talks] {
        assert_eq!(socket.ask(call(1, "echo", &json!({}))).await["id"], 1);
    }
}

#[tokio::test]
async fn a_flood_of_pings_is_survived_and_the_last_one_answered() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    let flood: Vec<u8> = (0..20_000u32).flat_map(|number| frame(FIN | PING, &number.to_be_bytes())).collect();
    socket.http.write(&flood).await;
    let mut other = WebSocket::connect(server.port).await;
    assert_eq!(other.ask(call(1, "echo", &json!({}))).await["id"], 1);

    socket.send(call(2, "echo", &json!({}))).await;
    let (mut last, mut answered) = (None, false);
    while last != Some(19_999) || !answered {
        let frame = socket.frame().await.unwrap();
        match frame.opcode {
            PONG => last = Some(u32::from_be_bytes(frame.payload.try_into().unwrap())),
            TEXT => answered = true,
            other => panic!("opcode {other}"),
        }
    }
}

#[tokio::test]
async fn who_leaves_has_its_calls_cancelled() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Blocking);
    let begin = async |held: &mut Held| {
        let mut socket = WebSocket::connect(server.port).await;
        socket.send(call(1, "held", &json!({}))).await;
        (socket, held.begun().await)
    };

    let (socket, context) = begin(&mut held).await;
    socket.abort();
    soon(context.cancelled()).await;

    let (socket, context) = begin(&mut held).await;
    drop(socket);
    soon(context.cancelled()).await;

    let (mut socket, context) = begin(&mut held).await;
    socket.send_frame(FIN | CLOSE, close(1001, "")).await;
    soon(context.cancelled()).await;
    assert_eq!(socket.close_code().await, 1001);

    let (mut socket, context) = begin(&mut held).await;
    socket.send_frame(FIN | BINARY, "no").await;
    soon(context.cancelled()).await;
    drop(held);
    is_unharmed(&server).await;
}

/// What a client does not read is not made without end: the server stops reading from it, and in the end it
/// misses its pongs.
#[tokio::test]
async fn a_client_that_asks_and_never_reads_is_disconnected() {
    let limits = Limits { ping_interval: Duration::from_millis(200), ..Limits::default() };
    let server = start_limited(limits);
    let mut socket = WebSocket::connect(server.port).await;
    let question = frame(FIN | TEXT, call(1, "echo", &json!({"text": "x".repeat(8000)})).as_bytes());
    let stream = socket.http.stream.get_mut();
    let ask_on = async { while stream.write_all(&question).await.is_ok() {} };
    soon(ask_on).await;
    is_unharmed(&server).await;
}

#[tokio::test]
async fn one_client_has_so_many_requests_in_flight_and_no_more() {
    let server = start_limited(Limits { max_in_flight: 2, ..Limits::default() });
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut socket = WebSocket::connect(server.port).await;
    for id in 1..=2 {
        socket.send(call(id, "held", &json!({}))).await;
        held.begun().await;
    }
    let refused = socket.ask(call(3, "held", &json!({}))).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32603)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("in flight"), "{refused}");
    assert_eq!(socket.ask(request(4, "ping", &json!({}))).await["result"], json!({}));
    assert_eq!(post(server.port, &[], call(1, "echo", &json!({}))).await.json()["id"], 1);
    held.release();
    socket.message().await;
    socket.send(call(5, "held", &json!({}))).await;
    held.begun().await;
}

#[tokio::test]
async fn the_id_of_a_request_in_flight_is_not_taken_twice() {
    let server = start();
    let mut held = Held::named(&server.server, "held", Kind::Async);
    let mut socket = WebSocket::connect(server.port).await;
    socket.send(call(1, "held", &json!({"text": "first"}))).await;
    held.begun().await;
    let refused = socket.ask(call(1, "echo", &json!({}))).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(null), &json!(-32600)));
    held.release();
    let reply = socket.message().await;
    assert_eq!((&reply["id"], &reply["result"]["content"][0]["text"]), (&json!(1), &json!("first")));
}

/// Half a frame, and then nothing: the connection is not held open for ever.
#[tokio::test]
async fn a_frame_that_never_ends_is_closed_by_the_pings() {
    let limits = Limits { ping_interval: Duration::from_millis(50), ..Limits::default() };
    let server = start_limited(limits);
    let mut socket = WebSocket::connect(server.port).await;
    let whole = frame(FIN | TEXT, b"{\"jsonrpc\":\"2.0\"}");
    socket.http.write(&whole[..whole.len() - 1]).await;
    let mut rest = Vec::new();
    // A reset is an end, too.
    _ = soon(socket.http.stream.read_to_end(&mut rest)).await;
    is_unharmed(&server).await;
}
