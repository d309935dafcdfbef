//! Starts and ends the servers and the load program. Pins servers to the first CPU and the load to the second.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::machine;

/// Enough for 1,000 connections and the rest.
const OPEN_FILES: u64 = 4096;

/// A program under way, with the first line that it printed; ends with this value.
pub(super) struct Running {
    /// Its stdout stays open, so that a later line does not end the program.
    child: Child,
    pub(super) first_line: String,
}

impl Running {
    /// Starts a server on the first CPU; its first line is its URL.
    pub(super) fn server(programs: &Path, name: &str) -> Result<Self, String> {
        Self::start(&mut pinned(0, &programs.join(name))?, name)
    }

    /// Starts a server with no wrapper around it.
    pub(super) fn unpinned_server(programs: &Path, name: &str) -> Result<Self, String> {
        Self::start(&mut Command::new(programs.join(name)), name)
    }

    /// Opens idle connections to a server and keeps them.
    pub(super) fn idle_connections(
        programs: &Path,
        server: &Self,
        transport: &str,
        connections: usize,
    ) -> Result<Self, String> {
        let mut load = pinned(1, &programs.join("load"))?;
        load.args(["--url", &server.first_line, "--transport", transport, "--hold"]);
        Self::start(load.args(["--connections", &connections.to_string()]), "load")
    }

    fn start(command: &mut Command, name: &str) -> Result<Self, String> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("cannot start {name}: {error}"))?;
        let stdout = child.stdout.as_mut().ok_or("the program has no stdout")?;
        let mut first_line = String::new();
        let read = BufReader::new(stdout).read_line(&mut first_line);
        first_line.truncate(first_line.trim_end().len());
        let running = Self { child, first_line };
        read.map_err(|error| format!("cannot read the first line of {name}: {error}"))?;
        if running.first_line.is_empty() {
            return Err(format!("{name} ended before it printed a line"));
        }
        Ok(running)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the load program to its end and returns its line.
pub(super) fn load(programs: &Path, server: &Running, args: &[String]) -> Result<String, String> {
    let mut load = pinned(1, &programs.join("load"))?;
    load.args(["--url", &server.first_line, "--server-pid", &server.pid().to_string()]).args(args);
    let output = load.output().map_err(|error| format!("cannot start load: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{load:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim_end()))
}

/// The program on one CPU, where there are two, and with enough open files. Every wrapper replaces itself, so
/// that the child's process id is the program's.
fn pinned(cpu: usize, program: &Path) -> Result<Command, String> {
    let mut words = Vec::new();
    if machine::open_files()? < OPEN_FILES {
        words.extend(["sh".into(), "-c".into(), format!("ulimit -n {OPEN_FILES} && exec \"$0\" \"$@\"")]);
    }
    if machine::cpus() > 1 {
        words.extend(["taskset".into(), "--cpu-list".into(), cpu.to_string()]);
    }
    words.push(program.display().to_string());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    Ok(command)
}
