//! The app that embeds the server, as it describes itself.

/// Who the host app is, and whether it is a debug build. Made by [`host_app!`](crate::host_app) in a Rust
/// program; a host that knows better (Android's `FLAG_DEBUGGABLE`) makes its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostApp {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version_name: String,
    pub(crate) version_code: Option<i64>,
    pub(crate) debuggable: Option<bool>,
}

impl HostApp {
    /// An app of which is not known whether it is a debug build, which counts as no.
    ///
    /// `id` is the application id (`com.example.app`), `name` what people call it, `version` its version name.
    pub fn new(id: impl Into<String>, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            version_name: version.into(),
            version_code: None,
            debuggable: None,
        }
    }

    /// Says whether this is a debug build. Only there does the server run.
    #[must_use]
    pub fn debuggable(mut self, debuggable: bool) -> Self {
        self.debuggable = Some(debuggable);
        self
    }

    /// The version code (Android) or build number.
    #[must_use]
    pub fn version_code(mut self, code: i64) -> Self {
        self.version_code = Some(code);
        self
    }

    /// The application id.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The [`HostApp`] of the crate that this is written in: its package name and version, and whether *it* is
/// compiled with debug assertions.
#[macro_export]
macro_rules! host_app {
    () => {
        $crate::HostApp::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .debuggable(cfg!(debug_assertions))
    };
}
