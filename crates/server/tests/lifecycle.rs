//! The server's life in an app: start and its errors, the app's events, handles, and the caller's own runtime.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::net::TcpListener;

use jumpseat::{AppEvent, LifecycleAction, LifecycleConfig, Ports, Server, StartError, Tool, TransportInfo};
use serde_json::json;
use support::websocket::WebSocket;
use support::{app, builder, call, post, soon, start, until};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// A server that does not run yet, with the tool `echo`.
fn initialized(builder: jumpseat::ServerBuilder) -> Server {
    let server = builder.initialize().unwrap();
    let echo = Tool::text("echo", "Says it again");
    server.add_inline_tool(echo, |arguments, _| Ok(arguments.str("text").unwrap_or_default())).unwrap();
    server
}

fn ports(info: &TransportInfo) -> (u16, u16) {
    let port = |endpoint: &Option<String>| {
        let endpoint = endpoint.as_deref().unwrap();
        endpoint.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap()
    };
    (port(&info.websocket_endpoint), port(&info.sse_endpoint))
}

async fn answers(port: u16) {
    let response = post(port, &[], call(1, "echo", &json!({"text": "hello"}))).await;
    assert_eq!(response.json()["result"]["content"][0]["text"], "hello");
}

async fn refuses(port: u16) {
    let error = TcpStream::connect(("127.0.0.1", port)).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn a_client_can_connect_as_soon_as_the_server_says_that_it_runs() {
    let server = initialized(builder());
    assert!(!server.is_server_running());
    assert_eq!(server.transport_info().websocket_endpoint, None);
    let thread = server.start_server_async();
    until("it runs", || server.is_server_running()).await;
    let info = server.transport_info();
    assert!(info.is_running);
    answers(ports(&info).0).await;
    answers(ports(&info).1).await;
    assert!(thread.join().unwrap().unwrap().is_running);
    server.stop().unwrap();
}

#[tokio::test]
async fn starting_is_awaited_or_not_and_twice_is_once() {
    let server = initialized(builder());
    let first = server.start().await.unwrap();
    let second = server.start_blocking().unwrap();
    let third = server.start_server_async().join().unwrap().unwrap();
    assert_eq!(ports(&first), ports(&second));
    assert_eq!(ports(&first), ports(&third));
    assert_eq!(first.started_at, third.started_at);
    answers(ports(&first).0).await;
    server.stop().unwrap();
}

#[tokio::test]
async fn a_start_that_fails_leaves_nothing_behind() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let free = free_port();
    let server = initialized(Server::builder(app()).ports(Ports::Fixed(free, port)));
    for _ in 0..2 {
        let error = server.start_blocking().unwrap_err();
        assert!(matches!(error, StartError::PortTaken { port: named, .. } if named == port));
        assert!(error.to_string().contains(&port.to_string()), "{error}");
        assert!(!server.is_server_running());
        refuses(free).await;
    }
    assert!(matches!(server.start_server_async().join().unwrap(), Err(StartError::PortTaken { .. })));
    assert_eq!(server.app_event(AppEvent::Start), LifecycleAction::Start);
    assert!(!server.is_server_running());

    drop(taken);
    let info = server.start_blocking().unwrap();
    assert_eq!(ports(&info), (free, port));
    answers(free).await;
    server.stop().unwrap();
}

#[tokio::test]
async fn the_events_of_the_app_do_what_the_flags_say() {
    use AppEvent::{Return, Start, Stop};
    for flags in 0..8 {
        let config = LifecycleConfig {
            auto_start_on_app_start: flags & 1 != 0,
            auto_stop_on_app_stop: flags & 2 != 0,
            restart_on_app_return: flags & 4 != 0,
        };
        let server = initialized(builder().lifecycle(config));
        for (event, was_running) in
            [(Start, false), (Start, true), (Stop, false), (Stop, true), (Return, false), (Return, true)]
        {
            if was_running {
                server.start_blocking().unwrap();
            } else {
                server.stop().unwrap();
            }
            let before = server.transport_info();
            let action = server.app_event(event);
            let after = server.transport_info();
            let runs = match (event, was_running) {
                (Start, false) => config.auto_start_on_app_start,
                (Stop, true) => !config.auto_stop_on_app_stop,
                (Return, false) => config.restart_on_app_return,
                _ => was_running,
            };
            let what = format!("{config:?}, {event:?}, running: {was_running}: {action:?}");
            assert_eq!((after.is_running, server.is_server_running()), (runs, runs), "{what}");
            match (was_running, runs) {
                (false, true) => assert_eq!(action, LifecycleAction::Start, "{what}"),
                (true, false) => assert_eq!(action, LifecycleAction::Stop, "{what}"),
                _ => assert_eq!(before.websocket_endpoint, after.websocket_endpoint, "{what}"),
            }
            if runs {
                answers(ports(&after).0).await;
            } else if was_running {
                refuses(ports(&before).0).await;
            }
        }
        server.stop().unwrap();
    }
}

#[tokio::test]
async fn a_return_to_a_server_that_accepts_disturbs_nobody() {
    let server = start();
    let mut socket = WebSocket::connect(server.port).await;
    socket.ask(call(1, "echo", &json!({}))).await;
    let started_at = server.server.transport_info().started_at;
    assert_eq!(server.server.app_event(AppEvent::Return), LifecycleAction::Check);
    assert_eq!(socket.ask(call(2, "echo", &json!({}))).await["id"], 2);
    assert_eq!(server.server.transport_info().started_at, started_at);
}

/// Takes the listener on `port` away from the server, as iOS does with a suspended app's.
#[cfg(target_os = "linux")]
fn take_away(port: u16) {
    use rustix::net::{Shutdown, getsockname, shutdown, sockopt::socket_acceptconn};
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

    let process = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    let taken = std::fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        // Others open and close files meanwhile: the duplicate is asked what it is, and not the number.
        let Ok(file) =
            pidfd_getfd(&process, name.to_str().unwrap().parse().unwrap(), PidfdGetfdFlags::empty())
        else {
            return false;
        };
        let address =
            getsockname(&file).ok().and_then(|address| std::net::SocketAddr::try_from(address).ok());
        let is_it = address.is_some_and(|a| a.port() == port) && socket_acceptconn(&file).unwrap_or(false);
        is_it && shutdown(&file, Shutdown::Both).is_ok()
    });
    assert_eq!(taken.count(), 1, "one listener on {port}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn on_return_listeners_that_were_taken_away_are_bound_anew() {
    for both in [true, false] {
        let server = start();
        let mut socket = WebSocket::connect(server.port).await;
        socket.ask(call(1, "echo", &json!({}))).await;
        take_away(server.http_port);
        if both {
            take_away(server.port);
        }
        refuses(server.http_port).await;
        assert!(server.server.is_server_running());

        let handle = server.server.clone();
        let checking = tokio::task::spawn_blocking(move || handle.app_event(AppEvent::Return));
        assert_eq!(soon(checking).await.unwrap(), LifecycleAction::Check);
        assert_eq!(ports(&server.server.transport_info()), (server.port, server.http_port), "the same ports");
        answers(server.port).await;
        answers(server.http_port).await;
        assert_eq!(socket.close_code().await, 1001);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_restart_on_return_listeners_that_were_taken_away_stay_so() {
    let lifecycle = LifecycleConfig { restart_on_app_return: false, ..LifecycleConfig::default() };
    let server = support::start_with(builder().lifecycle(lifecycle));
    take_away(server.http_port);
    refuses(server.http_port).await;
    assert_eq!(server.server.app_event(AppEvent::Return), LifecycleAction::None);
    refuses(server.http_port).await;
    // The other listener is served on.
    answers(server.port).await;
}

#[tokio::test]
async fn a_server_serves_on_when_all_its_handles_are_dropped() {
    let app = app();
    let server = initialized(Server::builder(app.clone()).ports(Ports::Fixed(0, 0)));
    let info = server.start_blocking().unwrap();
    drop(server);
    answers(ports(&info).0).await;
    // And it can be had again.
    let again = Server::builder(app).initialize().unwrap();
    assert!(again.is_server_running());
    assert_eq!(ports(&again.transport_info()), ports(&info));
    again.stop().unwrap();
    refuses(ports(&info).0).await;
}

#[tokio::test]
async fn it_serves_on_the_callers_runtime_until_it_is_told_to_end() {
    let server = initialized(builder());
    let listeners = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    let expected = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.serve(listeners, async { _ = ended.await }).await }
    });
    until("it runs", || server.is_server_running()).await;
    assert_eq!(ports(&server.transport_info()), expected.into());
    let mut socket = WebSocket::connect(expected[0]).await;
    assert_eq!(socket.ask(call(1, "echo", &json!({}))).await["id"], 1);
    answers(expected[1]).await;
    let mine = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(matches!(server.serve([mine], std::future::pending()).await, Err(StartError::Running)));

    end.send(()).unwrap();
    assert_eq!(socket.close_code().await, 1001);
    soon(serving).await.unwrap().unwrap();
    assert!(!server.is_server_running());
    refuses(expected[0]).await;
}

#[tokio::test]
async fn stop_ends_what_runs_on_the_callers_runtime_and_it_can_be_started_elsewhere() {
    let server = initialized(builder());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.serve([listener], std::future::pending()).await }
    });
    until("it runs", || server.is_server_running()).await;
    let mut socket = WebSocket::connect(port).await;
    assert_eq!(socket.ask(call(1, "echo", &json!({}))).await["id"], 1);
    // From outside of that runtime, a stop is over when it returns.
    let handle = server.clone();
    let restarted = std::thread::spawn(move || {
        handle.stop().unwrap();
        handle.start_blocking().unwrap()
    });
    assert_eq!(socket.close_code().await, 1001);
    soon(serving).await.unwrap().unwrap();
    let info = restarted.join().unwrap();
    // The end of the one before is not the end of this one.
    assert!(server.is_server_running());
    answers(ports(&info).0).await;
    refuses(port).await;
    server.stop().unwrap();
}

#[tokio::test]
async fn a_serving_that_is_dropped_does_not_run_any_more() {
    let server = initialized(builder());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    {
        let serving = server.serve([listener], std::future::pending());
        tokio::select! {
            _ = serving => panic!("it serves until it is dropped"),
            () = answers(port) => {}
        }
    }
    assert!(!server.is_server_running());
    refuses(port).await;
    let info = server.start_blocking().unwrap();
    answers(ports(&info).0).await;
    server.stop().unwrap();
}

#[tokio::test]
async fn only_listeners_on_loopback_are_served() {
    let server = initialized(builder());
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let error = server.serve([everywhere], std::future::pending()).await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
    assert!(!server.is_server_running());
}
