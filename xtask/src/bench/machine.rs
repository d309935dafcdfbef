//! The machine that is measured on: what it must have, what it is, and what Linux tells of a process.

use std::fs;
use std::process::Command;

/// Says what is missing.
pub(super) fn check() -> Result<(), String> {
    match fs::read_to_string("/proc/self/schedstat") {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("bench needs Linux with /proc/<pid>/schedstat: {error}")),
    }
}

/// Names and values for the head of the report.
pub(super) fn describe() -> Result<Vec<(&'static str, String)>, String> {
    let cpu = read("/proc/cpuinfo")?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let rustc = Command::new("rustc").arg("--version").output();
    let rustc = rustc.map_err(|error| format!("cannot run rustc: {error}"))?.stdout;
    let others = read("/proc/loadavg")?;
    Ok(vec![
        ("CPU", model.map_or("unknown", |(_, model)| model.trim()).to_owned()),
        ("CPUs", cpus().to_string()),
        ("kernel", read("/proc/sys/kernel/osrelease")?.trim().to_owned()),
        ("compiler", String::from_utf8_lossy(&rustc).trim().to_owned()),
        ("load average at the start", others.split(' ').next().unwrap_or("unknown").to_owned()),
    ])
}

pub(super) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many files a process may have open by default.
pub(super) fn open_files() -> Result<u64, String> {
    let limits = read("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).unwrap_or("");
    Ok(soft.parse().unwrap_or(u64::MAX)) // "unlimited"
}

/// Resident memory in KiB.
pub(super) fn resident_kib(pid: u32) -> Result<f64, String> {
    status_number(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// How often the process's present threads have gone to sleep so far, each followed by a wake-up.
pub(super) fn sleeps(pid: u32) -> Result<f64, String> {
    let tasks = tasks(pid)?;
    tasks.iter().map(|task| status_number(&format!("{task}/status"), "voluntary_ctxt_switches:")).sum()
}

#[allow(clippy::cast_precision_loss)] // a handful
pub(super) fn threads(pid: u32) -> Result<f64, String> {
    Ok(tasks(pid)?.len() as f64)
}

fn tasks(pid: u32) -> Result<Vec<String>, String> {
    let folder = format!("/proc/{pid}/task");
    let tasks = fs::read_dir(&folder).map_err(|error| format!("cannot read {folder}: {error}"))?;
    Ok(tasks.flatten().map(|task| task.path().display().to_string()).collect())
}

fn status_number(path: &str, name: &str) -> Result<f64, String> {
    let status = read(path)?;
    let value =
        status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    value.ok_or_else(|| format!("{path} has no number after {name}"))
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))
}
