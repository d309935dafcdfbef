//! An operating system that we know no more of than Rust's standard library does.

use std::time::Duration;

use super::{DeviceInfo, Os, Process};

pub(super) fn device_info() -> DeviceInfo {
    DeviceInfo {
        os: Os { name: os_name(std::env::consts::OS).to_owned(), ..Os::default() },
        abis: vec![std::env::consts::ARCH.to_owned()],
        cpu_count: std::thread::available_parallelism().ok().and_then(|count| count.get().try_into().ok()),
        ..DeviceInfo::default()
    }
}

pub(super) fn process() -> Process {
    let program = std::env::current_exe().ok();
    Process {
        name: program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        ..Process::default()
    }
}

pub(super) fn uptime() -> Option<Duration> {
    None
}

fn os_name(target: &str) -> &str {
    match target {
        "ios" => "iOS",
        "windows" => "Windows",
        other => other,
    }
}
