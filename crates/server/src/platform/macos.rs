//! What macOS tells, through `sysinfo`.
//!
//! It has no Android words: no brand, no code name, no API level.

use std::path::Path;
use std::time::Duration;

use sysinfo::{
    DiskRefreshKind, Disks, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, Product, System,
    UpdateKind,
};

use super::{DeviceInfo, Memory, Os, Process, Storage};

pub(super) fn device_info() -> DeviceInfo {
    DeviceInfo {
        manufacturer: Product::vendor_name(),
        model: Product::name(),
        os: Os {
            name: "macOS".to_owned(),
            version: System::os_version(),
            api_level: None,
            build: System::kernel_version(),
        },
        abis: vec![std::env::consts::ARCH.to_owned()],
        cpu_count: std::thread::available_parallelism().ok().and_then(|count| count.get().try_into().ok()),
        memory: memory(),
        storage: storage(),
        locale: sys_locale::get_locale(),
        ..DeviceInfo::default()
    }
}

pub(super) fn process() -> Process {
    let program = std::env::current_exe().ok();
    let mut process = Process {
        name: program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        ..Process::default()
    };
    let Ok(pid) = sysinfo::get_current_pid() else { return process };
    let mut system = System::new();
    let asked = ProcessRefreshKind::nothing().with_memory().with_user(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, asked);
    if let Some(told) = system.process(pid) {
        process.uid = told.user_id().map(|uid| **uid);
        process.rss_bytes = Some(told.memory());
    }
    process
}

pub(super) fn uptime() -> Option<Duration> {
    // Whole seconds; 0 is `sysinfo`'s word for "not told".
    Some(Duration::from_secs(System::uptime())).filter(|uptime| !uptime.is_zero())
}

fn memory() -> Option<Memory> {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let total_bytes = Some(system.total_memory()).filter(|&bytes| bytes > 0)?;
    Some(Memory { total_bytes, available_bytes: Some(system.available_memory()) })
}

fn storage() -> Option<Storage> {
    let disks = Disks::new_with_refreshed_list_specifics(DiskRefreshKind::nothing().with_storage());
    let root = disks.iter().find(|disk| disk.mount_point() == Path::new("/"))?;
    Some(Storage { total_bytes: root.total_space(), available_bytes: root.available_space() })
}
