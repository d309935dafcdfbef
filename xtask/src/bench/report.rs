//! The tables, in Markdown that also reads well on a terminal.

use std::fmt::Write;

use super::goals::{Bound, GOALS};
use super::load::{CELLS, HTTP, Load, WEBSOCKET, quantity};
use super::rest::ALL;
use super::samples::Samples;

const ABOUT: &str = "
All servers run on one thread, pinned to one CPU, and the load program on another; each connection has one call
under way, and every answer's id and text are checked. The servers run in turn, cell by cell; a number is the
median of the rounds, a ratio the median of the ratios within each round.

- `ours`: jumpseat through its public API, with an inline `echo` tool.
- `bare-hyper`, `bare-ws`: the floor. hyper, or tungstenite, one parse of the call and one formatted answer.
- `rmcp-http`, `rmcp-ws`: the official Rust SDK, stateless Streamable HTTP with JSON answers, or its server fed
  from tungstenite's messages, since it has no WebSocket transport.

*busy* is the part of its CPU that a program used. Where the server's is well below 100 % and the load program's
is not, the number says more about the load program than about the server.
";

const DISTURBED: &str = "
**Something else used the CPUs during this run**: with 64 connections some server was not as busy as it can be. Calls a
second and latencies say little then; CPU a call still does.
";

/// The whole report. `args` are those after `cargo xtask bench`.
pub(super) fn markdown(machine: &[(&str, String)], args: &[String], samples: &Samples) -> String {
    let command =
        ["cargo xtask bench"].into_iter().chain(args.iter().map(String::as_str)).collect::<Vec<_>>();
    let mut out =
        format!("# Benchmarks\n\nWritten by `{}`. Do not edit; run it again.\n\n", command.join(" "));
    let machine = machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]);
    table(&mut out, &["machine", ""], machine.collect());
    out.push_str(ABOUT);
    if was_disturbed(samples) {
        out.push_str(DISTURBED);
    }
    section(&mut out, "Goals", &["what", "goal", "measured", ""], goals(samples));
    for (title, load) in [("HTTP", &HTTP), ("WebSocket", &WEBSOCKET)] {
        let floor = load.servers[1];
        let (rps_ratio, cpu_ratio) = (format!("/ {floor}"), format!("/ {floor} "));
        let head = [
            "connections",
            "text",
            "server",
            "calls/s",
            &rps_ratio,
            "p50 µs",
            "p99 µs",
            "CPU µs/call",
            &cpu_ratio,
            "server busy",
            "load busy",
        ];
        section(&mut out, title, &head, load_rows(load, samples));
    }
    let head =
        ["server", "start ms", "size MB", "memory idle MiB", "after load MiB", "KiB an idle WebSocket"];
    section(&mut out, "Start, size and memory", &head, resources(samples));
    let head = ["server", "threads idle", "threads after load", "no connection", "10 idle ones a transport"];
    section(&mut out, "Threads, and wake-ups in 10 idle seconds", &head, idle(samples));
    out
}

/// Whether a server did not get its CPU, although there was always something to do for it.
fn was_disturbed(samples: &Samples) -> bool {
    let busy = |load: &Load| {
        load.servers.map(|server| samples.median(server, &quantity(load.transport, (64, 100), "server_busy")))
    };
    [&HTTP, &WEBSOCKET].into_iter().flat_map(busy).flatten().any(|busy| busy < 0.9)
}

/// Adds a heading and a table, or nothing where nothing was measured.
fn section(out: &mut String, title: &str, head: &[&str], rows: Vec<Vec<String>>) {
    if !rows.is_empty() {
        let _ = write!(out, "\n## {title}\n\n"); // writing to a String cannot fail
        table(out, head, rows);
    }
}

fn goals(samples: &Samples) -> Vec<Vec<String>> {
    let row = |goal: &super::goals::Goal| {
        let value = goal.reached(samples)?;
        let (bound, measured) = match goal.bound {
            Bound::Most(most, unit) => (format!("≤ {most} {unit}"), format!("{value:.2} {unit}")),
            Bound::MostOfPeer(most, peer) => (format!("≤ {most} × {peer}"), format!("{value:.2} ×")),
            Bound::LeastOfPeer(least, peer) => (format!("≥ {least} × {peer}"), format!("{value:.2} ×")),
        };
        let met = if goal.is_met_by(value) { "reached" } else { "NOT REACHED" };
        Some(vec![goal.what.to_owned(), bound, measured, met.to_owned()])
    };
    GOALS.iter().filter_map(row).collect()
}

fn load_rows(load: &Load, samples: &Samples) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for cell in CELLS {
        for server in load.servers {
            let number = |field: &str, digits| {
                decimal(samples.median(server, &quantity(load.transport, cell, field)), digits)
            };
            let ratio = |field: &str| {
                decimal(samples.ratio(server, load.servers[1], &quantity(load.transport, cell, field)), 2)
            };
            let busy = |field: &str| {
                let part = samples.median(server, &quantity(load.transport, cell, field));
                part.map_or(String::new(), |part| format!("{:.0} %", part * 100.0))
            };
            let (connections, bytes) = cell;
            let text = if bytes < 1024 { format!("{bytes} B") } else { format!("{} KiB", bytes / 1024) };
            let row = vec![connections.to_string(), text, server.to_owned(), number("rps", 0), ratio("rps")];
            let latency = [number("p50_us", 0), number("p99_us", 0)];
            let cpu = [number("cpu_us", 2), ratio("cpu_us"), busy("server_busy"), busy("load_busy")];
            rows.push(row.into_iter().chain(latency).chain(cpu).collect());
        }
    }
    keep_measured(rows, 3)
}

fn resources(samples: &Samples) -> Vec<Vec<String>> {
    let row = |(server, transports): &(&str, &[&str])| {
        let memory = |when: &str| {
            let each = transports.iter().filter_map(|transport| {
                let mebibytes = samples.median(server, &format!("{transport} MiB {when}"))?;
                let of = if transports.len() > 1 { format!(" ({transport})") } else { String::new() };
                Some(format!("{mebibytes:.1}{of}"))
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let number = |quantity, digits| decimal(samples.median(server, quantity), digits);
        let first = [(*server).to_owned(), number("start ms", 2), number("size MB", 2)];
        first
            .into_iter()
            .chain([memory("idle"), memory("after load"), number("KiB an idle WebSocket", 1)])
            .collect()
    };
    keep_measured(ALL.iter().map(row).collect(), 1)
}

fn idle(samples: &Samples) -> Vec<Vec<String>> {
    let row = |(server, transports): &(&str, &[&str])| {
        let number = |quantity: &str| decimal(samples.median(server, quantity), 0);
        let threads = ["idle", "after load"].map(|when| number(&format!("{} threads {when}", transports[0])));
        let wake_ups = ["wake-ups, no connection", "wake-ups, idle connections"].map(number);
        [(*server).to_owned()].into_iter().chain(threads).chain(wake_ups).collect()
    };
    keep_measured(ALL.iter().map(row).collect(), 1)
}

/// The rows that have a number after their `names` first columns.
fn keep_measured(mut rows: Vec<Vec<String>>, names: usize) -> Vec<Vec<String>> {
    rows.retain(|row| row[names..].iter().any(|cell| !cell.is_empty()));
    rows
}

fn decimal(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}

/// Adds a table whose columns are as wide as their widest cell.
fn table(out: &mut String, head: &[&str], mut rows: Vec<Vec<String>>) {
    rows.insert(0, head.iter().map(|&name| name.to_owned()).collect());
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    rows.insert(1, widths.iter().map(|&width| "-".repeat(width.max(3))).collect());
    for row in rows {
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(out, "| {cell:<width$} "); // as above
        }
        out.push_str("|\n");
    }
}
