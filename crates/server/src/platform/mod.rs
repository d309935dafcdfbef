//! What the built-in tools tell: the device, the app, and the time.
//!
//! It registers no tool and knows nothing of MCP. It asks the operating system through plain files and
//! programs, never through the app's Java or Swift runtime: what only those can tell, an app adds with its own
//! [`Platform`].

mod info;
pub(crate) mod schema;
pub(crate) mod time;
mod zone;

// Android's rules are plain text parsing, so they are compiled and tested on Linux too.
#[cfg(any(target_os = "android", all(test, target_os = "linux")))]
mod android;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "android", target_os = "linux", target_os = "macos")))]
mod other;
#[cfg(any(target_os = "android", target_os = "linux"))]
mod procfs;

use std::time::{Duration, Instant};

pub use info::{AppInfo, AppMemory, DeviceInfo, Memory, Os, Screen, Storage};

#[cfg(target_os = "android")]
use android::device_info;
#[cfg(target_os = "linux")]
use linux::device_info;
#[cfg(target_os = "macos")]
use macos::{device_info, process, uptime};
#[cfg(not(any(target_os = "android", target_os = "linux", target_os = "macos")))]
use other::{device_info, process, uptime};
#[cfg(any(target_os = "android", target_os = "linux"))]
pub(crate) use procfs::own_uid;
#[cfg(any(target_os = "android", target_os = "linux"))]
use procfs::{process, uptime};

/// Where `device_info` and `app_info` get their answers.
///
/// The server's own is [`Host`]. An app that knows more, because it can ask Android's or Apple's frameworks,
/// starts from `Host`'s answers and adds to them:
///
/// ```
/// use jumpseat::{AppInfo, DeviceInfo, Host, Platform, Screen};
///
/// struct Phone(Host);
///
/// impl Platform for Phone {
///     fn device_info(&self) -> DeviceInfo {
///         let screen = Screen { width_px: Some(1080), height_px: Some(2400), density_dpi: Some(420) };
///         DeviceInfo { screen: Some(screen), ..self.0.device_info() }
///     }
///
///     fn app_info(&self) -> AppInfo {
///         AppInfo { target_sdk: Some(36), ..self.0.app_info() }
///     }
/// }
/// ```
///
/// Both are asked anew for each call of the tool, and may block.
pub trait Platform: Send + Sync + 'static {
    /// The device that the app runs on.
    fn device_info(&self) -> DeviceInfo;

    /// The app, and the process that it runs in.
    fn app_info(&self) -> AppInfo;
}

/// What only the app itself knows of itself; the rest of [`AppInfo`] comes from the operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The app's id, such as `com.example.app`. Empty means not said: on Android the process's name then stands
    /// for it.
    pub id: String,
    /// The name that a user sees.
    pub name: String,
    /// The version that a user sees, such as `1.2.3`.
    pub version_name: String,
    /// The number that grows with each release (Android's `versionCode`, Apple's `CFBundleVersion`).
    pub version_code: Option<i64>,
    /// Whether this is a debug build.
    pub debuggable: bool,
}

/// The [`Platform`] of the operating system that the process runs on.
#[derive(Debug)]
pub struct Host {
    facts: HostFacts,
    created: Instant,
    started_at: Option<String>,
}

impl Host {
    /// A platform that reports `facts` beside what the operating system tells of the process.
    ///
    /// Where the operating system does not tell when the process started, its time counts from this call.
    pub fn new(facts: HostFacts) -> Host {
        let started_at = time::rfc3339_before_now(process().uptime.unwrap_or_default());
        Host { facts, created: Instant::now(), started_at }
    }
}

impl Platform for Host {
    fn device_info(&self) -> DeviceInfo {
        device_info()
    }

    fn app_info(&self) -> AppInfo {
        let process = process();
        let facts = self.facts.clone();
        let info = AppInfo {
            id: facts.id,
            name: facts.name,
            version_name: facts.version_name,
            version_code: facts.version_code,
            debuggable: facts.debuggable,
            process_name: process.name,
            pid: Some(std::process::id()),
            uid: process.uid,
            uptime_ms: Some(milliseconds(process.uptime.unwrap_or_else(|| self.created.elapsed()))),
            started_at: self.started_at.clone(),
            memory: process.rss_bytes.map(|rss_bytes| AppMemory { rss_bytes }),
            target_sdk: None,
            data_dir: None,
        };
        #[cfg(target_os = "android")]
        let info = android::with_package(info);
        info
    }
}

/// What an operating system tells of the process that asks.
#[derive(Debug, Default)]
struct Process {
    name: Option<String>,
    uid: Option<u32>,
    rss_bytes: Option<u64>,
    uptime: Option<Duration>,
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host::new(HostFacts {
            id: "com.example.app".into(),
            name: "Example".into(),
            version_name: "1.2.3".into(),
            version_code: Some(42),
            debuggable: true,
        })
    }

    #[test]
    fn the_app_is_reported_as_its_host_describes_it() {
        let info = host().app_info();
        assert_eq!(info.id, "com.example.app");
        assert_eq!(info.name, "Example");
        assert_eq!(info.version_name, "1.2.3");
        assert_eq!(info.version_code, Some(42));
        assert!(info.debuggable);
        assert_eq!(info.pid, Some(std::process::id()));
    }

    #[test]
    fn the_start_stays_where_it_is_while_the_uptime_grows() {
        let host = host();
        let (first, second) = (host.app_info(), host.app_info());
        assert!(first.started_at.is_some());
        assert_eq!(first.started_at, second.started_at);
        assert!(first.uptime_ms <= second.uptime_ms);
    }

    #[test]
    fn what_a_platform_does_not_know_is_absent() {
        let info = AppInfo { id: "com.example.app".into(), ..AppInfo::default() };
        assert_eq!(
            serde_json::to_value(info).expect("app info is JSON"),
            serde_json::json!({"id": "com.example.app", "name": "", "version_name": "", "debuggable": false})
        );
        let info = serde_json::to_value(DeviceInfo::default()).expect("device info is JSON");
        assert_eq!(info, serde_json::json!({"os": {"name": ""}}));
    }
}
