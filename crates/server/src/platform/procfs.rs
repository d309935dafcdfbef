//! What Linux's kernel tells any process, on desktops and on Android: memory, storage, processors, itself.
//!
//! It does not tell what the device is: `linux` and `android` do.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::{Memory, Process, Storage};

/// A file's text, or `None` where this process may not read it. Names in it need not be UTF-8.
pub(super) fn text(path: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

pub(super) fn memory() -> Option<Memory> {
    let meminfo = text("/proc/meminfo")?;
    let total_bytes = kilobytes(&meminfo, "MemTotal:")?;
    // Kernels before 3.14 do not estimate what is available, and the sums that stand in for it are wrong.
    Some(Memory { total_bytes, available_bytes: kilobytes(&meminfo, "MemAvailable:") })
}

pub(super) fn storage(path: &str) -> Option<Storage> {
    let space = rustix::fs::statvfs(path).ok()?;
    Some(Storage {
        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
        // Not `f_bfree`: some of it is reserved for root.
        available_bytes: space.f_bavail.saturating_mul(space.f_frsize),
    })
}

/// The processors that are there, not those that this process may run on: a phone keeps apps in the background
/// on a few of them.
pub(super) fn cpu_count() -> Option<u32> {
    count_ranges(text("/sys/devices/system/cpu/present")?.trim())
}

/// How long the device is up, including the time that it slept.
///
/// NOTE: asked from the clock, because Android hides `/proc/uptime` from apps.
pub(super) fn uptime() -> Option<Duration> {
    let now = clock_gettime(ClockId::Boottime);
    Duration::try_from(now).ok()
}

pub(super) fn process() -> Process {
    let status = text("/proc/self/status").unwrap_or_default();
    Process {
        name: text("/proc/self/cmdline").as_deref().and_then(process_name),
        uid: field(&status, "Uid:").and_then(|real| real.parse().ok()),
        rss_bytes: kilobytes(&status, "VmRSS:"),
        uptime: process_uptime(),
    }
}

/// The user that this process runs as.
pub(crate) fn own_uid() -> Option<u32> {
    field(&text("/proc/self/status")?, "Uid:")?.parse().ok()
}

fn process_uptime() -> Option<Duration> {
    let started = start_time(&text("/proc/self/stat")?)?;
    Some(uptime()?.saturating_sub(started))
}

/// The first word after `key` at a line's start.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_ascii_whitespace().next()
}

/// A `key: 123 kB` line's value, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    field(text, key)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The program's file name on desktops; on Android, where zygote writes it there, the name of the app's process.
fn process_name(cmdline: &str) -> Option<String> {
    let program = cmdline.split('\0').next()?;
    let name = program.rsplit('/').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// When the process started, counted from the device's start: field 22 of `proc_pid_stat(5)`.
fn start_time(stat: &str) -> Option<Duration> {
    // Field 2 is the program's name in parentheses, and may hold spaces and parentheses itself.
    let (_, after_name) = stat.rsplit_once(')')?;
    let ticks: u64 = after_name.split_ascii_whitespace().nth(22 - 3)?.parse().ok()?;
    // A tick is 1/USER_HZ s, and USER_HZ is 100 on every architecture that Android and desktops have.
    Some(Duration::from_millis(ticks.checked_mul(10)?))
}

/// How many numbers a list such as `0-3,6` names.
fn count_ranges(ranges: &str) -> Option<u32> {
    ranges.split(',').try_fold(0u32, |total, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let size = last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)?;
        total.checked_add(size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        let meminfo =
            "MemTotal:       24684092 kB\nMemFree:        24385276 kB\nMemAvailable:   24375188 kB\n";
        assert_eq!(kilobytes(meminfo, "MemTotal:"), Some(24_684_092 * 1024));
        assert_eq!(kilobytes(meminfo, "MemAvailable:"), Some(24_375_188 * 1024));
        assert_eq!(kilobytes(meminfo, "SwapTotal:"), None);
    }

    #[test]
    fn a_process_is_known_by_its_real_user_and_resident_memory() {
        let status = "Name:\tcat\nUid:\t10123\t0\t0\t0\nVmHWM:\t    1688 kB\nVmRSS:\t     512 kB\n";
        assert_eq!(field(status, "Uid:"), Some("10123"));
        assert_eq!(kilobytes(status, "VmRSS:"), Some(512 * 1024));
    }

    #[test]
    fn a_start_time_is_found_behind_any_program_name() {
        for name in ["cat", "a b", "tricky) 1 2 (3", ")"] {
            let stat = format!(
                "4455 ({name}) R 4451 4451 3467 0 -1 4194304 117 0 0 0 0 0 0 0 20 0 1 0 88878 3133440 394"
            );
            assert_eq!(start_time(&stat), Some(Duration::from_millis(888_780)), "{name}");
        }
        assert_eq!(start_time("4455 (cat) R 1"), None);
        assert_eq!(start_time(""), None);
    }

    #[test]
    fn a_process_name_is_the_programs_or_the_apps() {
        assert_eq!(process_name("/usr/bin/demo\0--port\08080\0").as_deref(), Some("demo"));
        assert_eq!(process_name("com.example.app:remote\0\0\0").as_deref(), Some("com.example.app:remote"));
        assert_eq!(process_name(""), None);
        assert_eq!(process_name("\0"), None);
    }

    #[test]
    fn processors_are_counted_from_their_ranges() {
        assert_eq!(count_ranges("0"), Some(1));
        assert_eq!(count_ranges("0-7"), Some(8));
        assert_eq!(count_ranges("0-3,6,8-9"), Some(7));
        for wrong in ["", "-", "3-1", "0-4294967295", "x"] {
            assert_eq!(count_ranges(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn this_process_knows_itself() {
        let process = process();
        assert!(process.name.is_some_and(|name| !name.is_empty() && !name.contains('/')));
        assert!(process.uid.is_some());
        assert!(process.rss_bytes.is_some_and(|bytes| bytes > 0));
        assert!(process.uptime.is_some_and(|age| Some(age) < uptime()));
    }

    #[test]
    fn a_path_that_is_not_there_has_no_storage() {
        assert_eq!(storage("/no/such/path"), None);
        assert!(storage("/").is_some_and(|root| root.available_bytes <= root.total_bytes));
    }
}
