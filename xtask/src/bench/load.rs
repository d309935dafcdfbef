//! Requests a second, latency, CPU a request, and memory around it, for one transport.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::machine;
use super::process::{self, Running};
use super::samples::Samples;

/// One transport and the servers that are compared on it: ours, the floor, the peer.
pub(super) struct Load {
    /// As the load program and `--only` call it.
    pub(super) transport: &'static str,
    pub(super) servers: [&'static str; 3],
}

pub(super) const HTTP: Load = Load { transport: "http", servers: ["ours", "bare-hyper", "rmcp-http"] };
pub(super) const WEBSOCKET: Load = Load { transport: "ws", servers: ["ours", "bare-ws", "rmcp-ws"] };

/// Connections and bytes of text, in the order in which every server gets them.
pub(super) const CELLS: [(usize, usize); 5] = [(1, 100), (5, 100), (64, 100), (1000, 100), (5, 256 * 1024)];
/// What the load program says of a cell.
const FIELDS: [&str; 6] = ["rps", "p50_us", "p99_us", "cpu_us", "server_busy", "load_busy"];

/// The name of a quantity in the samples.
pub(super) fn quantity(transport: &str, (connections, bytes): (usize, usize), field: &str) -> String {
    format!("{transport} {connections}x{bytes} {field}")
}

impl Load {
    /// One round: fresh servers side by side, every cell on one after the other.
    pub(super) fn run(&self, programs: &Path, quick: bool, samples: &mut Samples) -> Result<(), String> {
        let mut servers = Vec::new();
        for name in self.servers {
            servers.push((name, Running::server(programs, name)?));
        }
        sleep(Duration::from_millis(300));
        self.add_state(&servers, "idle", samples)?;
        for cell in CELLS {
            for (name, server) in &servers {
                let (connections, bytes) = cell;
                eprintln!("  {} {connections} connections, {bytes} bytes: {name}", self.transport);
                let line = process::load(programs, server, &self.args(cell, quick))?;
                for field in FIELDS {
                    let value = number(&line, field).ok_or_else(|| format!("no {field} in {line}"))?;
                    samples.add(name, &quantity(self.transport, cell, field), value);
                }
            }
        }
        self.add_state(&servers, "after load", samples)
    }

    fn args(&self, (connections, bytes): (usize, usize), quick: bool) -> Vec<String> {
        let (seconds, warm_up) = if quick { ("0.5", "0.2") } else { ("3", "0.5") };
        let (connections, bytes) = (connections.to_string(), bytes.to_string());
        let args = ["--transport", self.transport, "--connections", &connections, "--payload", &bytes];
        args.into_iter().chain(["--seconds", seconds, "--warm-up", warm_up]).map(str::to_owned).collect()
    }

    fn add_state(
        &self,
        servers: &[(&str, Running)],
        when: &str,
        samples: &mut Samples,
    ) -> Result<(), String> {
        for (name, server) in servers {
            let memory = machine::resident_kib(server.pid())? / 1024.0;
            samples.add(name, &format!("{} MiB {when}", self.transport), memory);
            let threads = machine::threads(server.pid())?;
            samples.add(name, &format!("{} threads {when}", self.transport), threads);
        }
        Ok(())
    }
}

/// A number out of the load program's one flat JSON object.
fn number(line: &str, field: &str) -> Option<f64> {
    let (_, rest) = line.split_once(&format!("\"{field}\":"))?;
    rest.split([',', '}']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let line = r#"{"requests":7,"rps":12.5,"cpu_us":null,"load_busy":0.9}"#;
        assert_eq!(number(line, "rps"), Some(12.5));
        assert_eq!(number(line, "load_busy"), Some(0.9));
        assert_eq!(number(line, "busy"), None);
        assert_eq!(number(line, "cpu_us"), None);
    }
}
