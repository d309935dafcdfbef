//! The answers of `device_info` and `app_info`, as the tools' callers read them.
//!
//! Nothing here asks the operating system. A value that the platform cannot tell is `None`, and absent from the
//! JSON.

use serde::Serialize;

/// The device that the app runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Who made the device, such as `Google`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<String>,
    /// The brand that it is sold under, such as `google` (Android's `ro.product.brand`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The model that a user knows, such as `Pixel 8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The design's code name, such as `shiba` (Android's `ro.product.device`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The operating system.
    pub os: Os,
    /// The instruction sets that it runs, the preferred one first, such as `arm64-v8a`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abis: Vec<String>,
    /// How many logical processors it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u32>,
    /// The whole device's main memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The file system for apps' data: `/data` on Android, `/` on desktops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The main screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<Screen>,
    /// The user's language as a BCP 47 tag, such as `de-DE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Whether the device is an emulator's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_emulator: Option<bool>,
}

/// An operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Os {
    /// Its name, such as `Android`.
    pub name: String,
    /// The version that a user knows, such as `16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Android's API level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_level: Option<u32>,
    /// The build: Android's build id, elsewhere the kernel's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// A device's main memory, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// All that the operating system manages.
    pub total_bytes: u64,
    /// What apps could still get without swapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_bytes: Option<u64>,
}

/// A file system, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Storage {
    /// Its size.
    pub total_bytes: u64,
    /// What an app may still fill.
    pub available_bytes: u64,
}

/// A screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Screen {
    /// Its width in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width_px: Option<u32>,
    /// Its height in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height_px: Option<u32>,
    /// Its density in dots per inch, as Android rounds it for layouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density_dpi: Option<u32>,
}

/// The app, and the process that it runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AppInfo {
    /// Its id, such as `com.example.app`.
    pub id: String,
    /// The name that a user sees.
    pub name: String,
    /// The version that a user sees, such as `1.2.3`.
    pub version_name: String,
    /// The number that grows with each release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_code: Option<i64>,
    /// Whether this is a debug build.
    pub debuggable: bool,
    /// The process's name; on Android it begins with the package's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_name: Option<String>,
    /// The process's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The id of the user that the process runs as; on Android every app has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Milliseconds since the process started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_ms: Option<u64>,
    /// When the process started, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The process's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<AppMemory>,
    /// The API level that an Android app is made for (`targetSdkVersion`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_sdk: Option<u32>,
    /// The directory of the app's private files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<String>,
}

/// A process's memory, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AppMemory {
    /// What of it is in main memory (resident set size).
    pub rss_bytes: u64,
}
