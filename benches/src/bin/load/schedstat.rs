//! CPU time of a process from `/proc/<pid>/task/*/schedstat`, in nanoseconds. Linux only; says so elsewhere.

use std::fs;
use std::time::Duration;

/// CPU time that all present threads of the process have used so far.
///
/// A thread that has ended is not counted, so the servers must keep theirs for the window.
pub(crate) fn cpu(pid: u32) -> Result<Duration, String> {
    let folder = format!("/proc/{pid}/task");
    let tasks =
        fs::read_dir(&folder).map_err(|error| format!("cannot read {folder} (Linux only): {error}"))?;
    let mut nanoseconds = 0;
    for task in tasks.flatten() {
        let path = task.path().join("schedstat");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let first = text.split_whitespace().next().and_then(|first| first.parse::<u64>().ok());
        nanoseconds += first.ok_or_else(|| format!("{} does not start with a number", path.display()))?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
