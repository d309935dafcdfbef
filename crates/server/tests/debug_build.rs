//! Initialization: only in a debug build, and one server for an app.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jumpseat::{HostApp, InitializeError, Limits, Ports, Server};
use support::app;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

#[test]
fn in_a_build_that_is_not_a_debug_build_initialization_fails_with_an_illegal_state() {
    let error = Server::builder(app().debuggable(false)).initialize().unwrap_err();
    assert!(matches!(error, InitializeError::IllegalState(_)));
    let message = error.to_string();
    assert!(message.contains("only available in debug builds"), "{message}");
    assert!(message.contains("debugImplementation") && message.contains("feature"), "the way out: {message}");
    assert!(message.contains(app().id().split('.').next().unwrap()), "the app: {message}");
}

#[test]
fn not_known_counts_as_not_debuggable() {
    let error = Server::builder(HostApp::new("test.unknown", "Unknown", "1")).initialize().unwrap_err();
    let message = error.to_string();
    assert!(message.contains("only available in debug builds"), "{message}");
    assert!(message.contains("HostApp::debuggable(true)"), "{message}");
}

#[test]
fn a_rust_host_says_it_with_its_own_build() {
    let initialized = Server::builder(jumpseat::host_app!()).initialize();
    assert_eq!(initialized.is_ok(), cfg!(debug_assertions));
    assert_eq!(jumpseat::host_app!().id(), env!("CARGO_PKG_NAME"));
}

#[test]
fn initializing_twice_gives_the_one_instance() {
    let app = app();
    let initialize = || Server::builder(app.clone()).ports(Ports::Fixed(0, 0)).initialize().unwrap();
    let first = initialize();
    first.add_simple_tool("mine", "", |_| Ok(String::new())).unwrap();
    let started = first.start_blocking().unwrap();
    let second = initialize();
    assert!(second.is_server_running());
    assert_eq!(second.transport_info().websocket_endpoint, started.websocket_endpoint);
    assert!(second.add_simple_tool("mine", "", |_| Ok(String::new())).is_err());
    second.stop().unwrap();
    assert!(!first.is_server_running());
}

#[test]
fn an_app_that_is_not_debuggable_does_not_get_the_instance_of_one_that_is() {
    let app = app();
    let _server = Server::builder(app.clone()).initialize().unwrap();
    assert!(Server::builder(app.debuggable(false)).initialize().is_err());
}

#[test]
fn every_app_has_its_own() {
    let servers: Vec<_> = (0..3).map(|_| support::builder().initialize().unwrap()).collect();
    servers[1].start_blocking().unwrap();
    let running: Vec<_> = servers.iter().map(Server::is_server_running).collect();
    assert_eq!(running, [false, true, false]);
    servers[1].stop().unwrap();
}

#[test]
fn many_threads_initialize_one_instance() {
    let app = app();
    let made = AtomicUsize::new(0);
    // The name is free once for an instance.
    let keep: Vec<Server> = std::thread::scope(|scope| {
        let initialize = || {
            let server = Server::builder(app.clone()).initialize().unwrap();
            if server.add_simple_tool("first", "", |_| Ok(String::new())).is_ok() {
                made.fetch_add(1, Ordering::Relaxed);
            }
            server
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(initialize)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!((keep.len(), made.into_inner()), (8, 1));
}

/// Collects what is logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(Level, String)>>>);

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push((*event.metadata().level(), message.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn the_second_initialization_warns_when_its_configuration_differs() {
    let app = app();
    let log = Log::default();
    let warnings = || {
        let log = log.0.lock().unwrap();
        log.iter()
            .filter(|(level, _)| *level == Level::WARN)
            .map(|(_, text)| text.clone())
            .collect::<Vec<_>>()
    };
    tracing::subscriber::with_default(log.clone(), || {
        let _first = Server::builder(app.clone()).initialize().unwrap();
        let _same = Server::builder(app.clone()).initialize().unwrap();
        assert!(warnings().is_empty(), "{:?}", warnings());
        let limits = Limits { max_connections: 7, ..Limits::default() };
        let _other = Server::builder(app.clone()).limits(limits).initialize().unwrap();
        assert_eq!(warnings().len(), 1);
        let _renamed = Server::builder(app.clone().version_code(7)).initialize().unwrap();
        assert_eq!(warnings().len(), 2);
    });
    assert!(warnings()[0].contains("another configuration"), "{:?}", warnings());
}
