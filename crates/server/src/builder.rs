//! Setting a server up, and the rule that there is one for an app, and only in a debug build.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::app::HostApp;
use crate::error::InitializeError;
use crate::lifecycle::LifecycleConfig;
use crate::limits::Limits;
use crate::listener::Ports;
use crate::platform::{Host, HostFacts, Platform};
use crate::server::{Server, Shared};
use crate::transport::Allowed;

/// How a server is set up, but for the app and the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) ports: Ports,
    pub(crate) tcp: bool,
    pub(crate) lifecycle: LifecycleConfig,
    pub(crate) limits: Limits,
    pub(crate) instructions: Option<String>,
    #[cfg(feature = "multi-thread")]
    pub(crate) worker_threads: usize,
    pub(crate) allowed: Allowed,
}

/// Sets a server up; made by [`Server::builder`].
pub struct ServerBuilder {
    app: HostApp,
    config: Config,
    platform: Option<Arc<dyn Platform>>,
}

/// The servers of this process, by the id of their app.
static SERVERS: Mutex<BTreeMap<String, Weak<Shared>>> = Mutex::new(BTreeMap::new());

impl ServerBuilder {
    pub(crate) fn new(app: HostApp) -> Self {
        let config = Config {
            ports: Ports::default(),
            tcp: true,
            lifecycle: LifecycleConfig::default(),
            limits: Limits::default(),
            instructions: None,
            #[cfg(feature = "multi-thread")]
            worker_threads: 1,
            allowed: Allowed::default(),
        };
        Self { app, config, platform: None }
    }

    /// Which ports to listen on. [`Ports::NextFree`].
    #[must_use]
    pub fn ports(mut self, ports: Ports) -> Self {
        self.config.ports = ports;
        self
    }

    /// Switches the TCP listeners off, so that other apps on the phone cannot connect: only the abstract
    /// socket is left, which asks who comes. False.
    #[must_use]
    pub fn local_socket_only(mut self, only: bool) -> Self {
        self.config.tcp = !only;
        self
    }

    /// What to do when the app starts, stops and returns.
    #[must_use]
    pub fn lifecycle(mut self, lifecycle: LifecycleConfig) -> Self {
        self.config.lifecycle = lifecycle;
        self
    }

    /// What clients may take.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// What clients tell their model about the app.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.config.instructions = Some(text.into());
        self
    }

    /// Threads that serve, with the feature `multi-thread`. 1, which is enough for a phone; more are for desktops
    /// and hubs.
    #[cfg(feature = "multi-thread")]
    #[must_use]
    pub fn worker_threads(mut self, threads: usize) -> Self {
        self.config.worker_threads = threads;
        self
    }

    /// Allows a `Host` besides the loopback names; without a port.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        self.config.allowed.hosts.push(host.to_ascii_lowercase());
        self
    }

    /// Allows pages of an `Origin` besides the loopback ones, such as `https://inspector.example.com`.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.config.allowed.origins.push(origin.into());
        self
    }

    /// Where `device_info` and `app_info` get their answers: an app can know more than the operating system
    /// tells.
    #[must_use]
    pub fn platform(mut self, platform: impl Platform) -> Self {
        self.platform = Some(Arc::new(platform));
        self
    }

    /// Makes the server, which does not run yet. There is one for an app: where there is one already, this
    /// gives that one, and warns when it was set up otherwise.
    ///
    /// # Errors
    /// [`InitializeError::IllegalState`] when the host is not known to be a debug build.
    pub fn initialize(self) -> Result<Server, InitializeError> {
        let Self { app, config, platform } = self;
        if app.debuggable != Some(true) {
            return Err(not_a_debug_build(&app));
        }
        let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = servers.get(&app.id).and_then(Weak::upgrade) {
            if *shared.config() != config || *shared.app() != app {
                tracing::warn!(
                    app = app.id,
                    "initialized again with another configuration: the first one holds"
                );
            }
            return Ok(Server::from_shared(shared));
        }
        let platform = platform.unwrap_or_else(|| Arc::new(Host::new(facts(&app))));
        let id = app.id.clone();
        let server = Server::new(app, config, &platform);
        servers.retain(|_, server| server.strong_count() > 0);
        servers.insert(id, Arc::downgrade(server.shared()));
        Ok(server)
    }
}

fn facts(app: &HostApp) -> HostFacts {
    HostFacts {
        id: app.id.clone(),
        name: app.name.clone(),
        version_name: app.version_name.clone(),
        version_code: app.version_code,
        debuggable: app.debuggable == Some(true),
    }
}

fn not_a_debug_build(app: &HostApp) -> InitializeError {
    let known = match app.debuggable {
        Some(_) => "is not one",
        None => "does not say whether it is one, which counts as no",
    };
    InitializeError::IllegalState(format!(
        "Jumpseat is only available in debug builds, and this build of {} {known}. Leave it out of release builds: \
         debugImplementation in Gradle, or an optional Cargo feature; a host that knows that it is debuggable says \
         HostApp::debuggable(true).",
        app.id
    ))
}
