//! The server as an app holds it: start, stop, tools, broadcast, lifecycle.

use std::future::Future;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use jumpseat_proto::{Implementation, Offer, check_notification};
use tokio::runtime::Handle;

use crate::app::HostApp;
use crate::builder::{Config, ServerBuilder};
use crate::connection::{Hub, Sessions};
use crate::error::{BroadcastError, StartError, StopError};
use crate::lifecycle::{AppEvent, LifecycleAction, lifecycle_action};
use crate::limits::Limits;
use crate::listener::{Addresses, Gauge, Ports, adopt, bind, serve};
use crate::platform::Platform;
use crate::run::{Ending, Run, Serving, runtime};
use crate::status::{Started, TransportInfo};
use crate::tools::{Registry, register_builtin};
use crate::transport::Allowed;

/// An MCP server inside an app. Clones are handles to the same server, which runs on when they are dropped.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

/// What every connection of a server shares.
pub(crate) struct Shared {
    app: HostApp,
    config: Config,
    tools: Registry,
    hub: Arc<Hub>,
    sessions: Sessions,
    connections: Gauge,
    websockets: Gauge,
    streams: Gauge,
    in_flight: Gauge,
    requests_total: AtomicU64,
    run: Mutex<Option<Run>>,
    /// Held while the server starts or stops, so that it does one after the other: what was stopped last, when
    /// it may not have ended yet.
    transition: Mutex<Option<Ending>>,
}

/// A run on the caller's runtime, where it may be dropped at any time.
struct Served<'s> {
    shared: &'s Shared,
    serving: Serving,
}

impl Served<'_> {
    fn end(&mut self) {
        let mut run = self.shared.run();
        // After a `stop`, what is there now may be the next run.
        if !self.serving.is_stopped() {
            *run = None;
        }
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    pub(crate) fn app(&self) -> &HostApp {
        &self.app
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.config.limits
    }

    pub(crate) fn allowed(&self) -> &Allowed {
        &self.config.allowed
    }

    pub(crate) fn tools(&self) -> &Registry {
        &self.tools
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Open connections.
    pub(crate) fn connections(&self) -> &Gauge {
        &self.connections
    }

    /// Open WebSockets.
    pub(crate) fn websockets(&self) -> &Gauge {
        &self.websockets
    }

    /// Open event streams.
    pub(crate) fn streams(&self) -> &Gauge {
        &self.streams
    }

    /// Requests that are being answered, subscriptions aside.
    pub(crate) fn in_flight(&self) -> &Gauge {
        &self.in_flight
    }

    pub(crate) fn count_request(&self) {
        self.requests_total.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn requests_total(&self) -> u64 {
        self.requests_total.load(Ordering::Relaxed)
    }

    fn run(&self) -> MutexGuard<'_, Option<Run>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the server listens, and since when; `None` while it does not run.
    pub(crate) fn running(&self) -> Option<(Addresses, Started)> {
        self.run().as_ref().map(|run| (run.addresses.clone(), run.started))
    }
}

impl Server {
    /// Begins to set up a server for `app`; see [`host_app!`](crate::host_app).
    pub fn builder(app: HostApp) -> ServerBuilder {
        ServerBuilder::new(app)
    }

    pub(crate) fn new(app: HostApp, config: Config, platform: &Arc<dyn Platform>) -> Self {
        let info = Implementation {
            name: app.id.clone(),
            title: Some(app.name.clone()),
            version: app.version_name.clone(),
        };
        let server = Self(Arc::new(Shared {
            tools: Registry::new(Offer::new(&info, config.instructions.as_deref())),
            app,
            config,
            hub: Arc::default(),
            sessions: Sessions::default(),
            connections: Gauge::default(),
            websockets: Gauge::default(),
            streams: Gauge::default(),
            in_flight: Gauge::default(),
            requests_total: AtomicU64::new(0),
            run: Mutex::new(None),
            transition: Mutex::new(None),
        }));
        if let Err(error) = register_builtin(&server, platform) {
            tracing::error!("a built-in tool is missing: {error}");
        }
        server
    }

    pub(crate) fn from_shared(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }

    /// Starts the server on a thread of its own, and returns when clients can connect. A server that runs
    /// already is left as it is.
    ///
    /// # Errors
    /// When a port is taken, or a socket or the thread cannot be made. Nothing runs then.
    pub fn start_blocking(&self) -> Result<TransportInfo, StartError> {
        let mut transition = self.transition();
        self.start_with(self.0.config.ports, &mut transition)?;
        Ok(self.transport_info())
    }

    /// [`Server::start_blocking`] for async code. It does not block: binding takes microseconds, unless the end of
    /// an earlier run is still to come.
    ///
    /// # Errors
    /// The same.
    #[allow(clippy::unused_async, reason = "callers await a start, however quick it is")]
    pub async fn start(&self) -> Result<TransportInfo, StartError> {
        self.start_blocking()
    }

    /// Starts the server from another thread, and returns at once. A failure is logged, and is what the
    /// thread returns.
    pub fn start_server_async(&self) -> JoinHandle<Result<TransportInfo, StartError>> {
        let server = self.clone();
        std::thread::spawn(move || {
            let started = server.start_blocking();
            if let Err(error) = &started {
                tracing::error!("the server did not start: {error}");
            }
            started
        })
    }

    /// Serves on the caller's tokio runtime until `shutdown` is ready or [`Server::stop`] is called. The
    /// `listeners` must be bound to 127.0.0.1; the abstract socket is added where there is one.
    ///
    /// # Errors
    /// When a listener is not on 127.0.0.1, a socket cannot be made, or the server runs already.
    pub async fn serve(
        &self,
        listeners: impl IntoIterator<Item = TcpListener>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), StartError> {
        let (bound, mut served) = {
            let _transition = self.transition();
            if self.is_server_running() {
                return Err(StartError::Running);
            }
            let bound = adopt(listeners.into_iter().collect(), &self.0.app.id)?;
            let (run, serving) = Run::begin(bound.addresses.clone(), Handle::current().id());
            *self.0.run() = Some(run);
            (bound, Served { shared: &self.0, serving })
        };
        let shutdown = async {
            tokio::select! {
                () = shutdown => {}
                () = served.serving.stopped() => {}
            }
            served.end();
        };
        serve(self.0.clone(), bound, shutdown).await.map_err(StartError::Runtime)
    }

    /// Stops the server, within 2 s: no new connections, calls in flight get up to 1 s, WebSockets close with
    /// 1001, event streams end. Called from a handler, or on the runtime of [`Server::serve`], it returns at once.
    /// It can be started again.
    ///
    /// # Errors
    /// When an inline handler holds the server's thread; it stops when that returns.
    pub fn stop(&self) -> Result<(), StopError> {
        let mut transition = self.transition();
        self.stop_running(&mut transition)
    }

    fn stop_running(&self, last: &mut Option<Ending>) -> Result<(), StopError> {
        let Some(run) = self.0.run().take() else { return Ok(()) };
        let ending = last.insert(run.stop());
        if ending.is_here() {
            return Ok(());
        }
        if !ending.has_come() {
            return Err(StopError(()));
        }
        *last = None;
        Ok(())
    }

    /// Whether clients can connect.
    pub fn is_server_running(&self) -> bool {
        self.0.run().is_some()
    }

    /// Ports, endpoints, and who is connected; in both states.
    pub fn transport_info(&self) -> TransportInfo {
        self.0.transport_info()
    }

    /// Sends `text` to every WebSocket and event stream, in one order for all. Returns for how many clients
    /// it was queued.
    ///
    /// # Errors
    /// When `text` is not a JSON-RPC 2.0 notification: an object with a string `method` and no `id`.
    pub fn broadcast_message(&self, text: impl Into<String>) -> Result<usize, BroadcastError> {
        let text = text.into();
        check_notification(&text).map_err(BroadcastError)?;
        Ok(self.0.hub.broadcast(&text.into()))
    }

    /// Tells the server what happened to the app, and does what the [`LifecycleConfig`](crate::LifecycleConfig)
    /// says. Returns what that was, when it is done: a stop may take as long as [`Server::stop`]. What went
    /// wrong is logged.
    pub fn app_event(&self, event: AppEvent) -> LifecycleAction {
        let mut transition = self.transition();
        let action = lifecycle_action(self.0.config.lifecycle, self.is_server_running(), event);
        match action {
            LifecycleAction::None => {}
            LifecycleAction::Start => log("start", self.start_with(self.0.config.ports, &mut transition)),
            LifecycleAction::Stop => log("stop", self.stop_running(&mut transition)),
            LifecycleAction::Check => self.check(&mut transition),
        }
        action
    }

    /// Sees whether the listeners still accept, and binds them anew when they do not.
    fn check(&self, last: &mut Option<Ending>) {
        let Some((addresses, _)) = self.0.running() else { return };
        let Some((first, second)) = addresses.ports else { return };
        let accepts = |port: u16| {
            let address = SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, port));
            TcpStream::connect_timeout(&address, Duration::from_millis(250)).is_ok()
        };
        if accepts(first) && accepts(second) {
            return;
        }
        tracing::warn!("the listeners were taken away: binding them anew");
        log("stop", self.stop_running(last));
        // Where clients know it, if that can be had.
        if self.start_with(Ports::Fixed(first, second), last).is_err() {
            log("start", self.start_with(self.0.config.ports, last));
        }
    }

    fn transition(&self) -> MutexGuard<'_, Option<Ending>> {
        self.0.transition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_with(&self, ports: Ports, last: &mut Option<Ending>) -> Result<(), StartError> {
        if self.is_server_running() {
            return Ok(());
        }
        // The end of the last run is that of all connections. Where it cannot be waited for, or a handler holds it
        // up, binding may fail.
        if let Some(ending) = last.take_if(|ending| !ending.is_here()) {
            ending.has_come();
        }
        let bound = bind(self.0.config.tcp.then_some(ports), &self.0.app.id)?;
        let runtime = runtime(&self.0.config).map_err(StartError::Runtime)?;
        let (run, mut serving) = Run::begin(bound.addresses.clone(), runtime.handle().id());
        // Noted before it serves, which it may cease to do at once.
        *self.0.run() = Some(run);
        let shared = self.0.clone();
        let thread = std::thread::Builder::new().name("jumpseat".into()).spawn(move || {
            if let Err(error) = runtime.block_on(serve(shared.clone(), bound, serving.stopped())) {
                tracing::error!("the server ended: {error}");
                *shared.run() = None;
            }
            // Not waiting for blocking handlers, which may never return.
            runtime.shutdown_background();
            drop(serving);
        });
        if let Err(error) = thread {
            *self.0.run() = None;
            return Err(StartError::Runtime(error));
        }
        Ok(())
    }
}

fn log<E: std::fmt::Display>(what: &str, result: Result<(), E>) {
    if let Err(error) = result {
        tracing::error!("the server did not {what}: {error}");
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let running = self.is_server_running();
        f.debug_struct("Server").field("app", &self.0.app.id).field("running", &running).finish()
    }
}
