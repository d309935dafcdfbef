//! The command line of the load program.

use std::time::Duration;

pub(crate) const USAGE: &str = "\
usage: load --url URL --transport http|ws [options]
  --connections N   connections, each with one request under way [1]
  --payload BYTES   length of the echoed text [100]
  --seconds S       measured time [3]
  --requests N      measure N requests in place of a time
  --warm-up S       time before the measured window [0.5]
  --server-pid PID  report the CPU that this process used in the window (Linux)
  --hold            open the connections, make one call on each, then keep them idle until stdin ends";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Http,
    WebSocket,
}

/// How long the measured window is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Window {
    Time(Duration),
    Requests(u64),
}

#[derive(Debug)]
pub(crate) struct Options {
    /// `host:port` of the URL.
    pub(crate) authority: String,
    /// Path of the URL, with its `/`.
    pub(crate) path: String,
    pub(crate) transport: Transport,
    pub(crate) connections: usize,
    pub(crate) payload: usize,
    pub(crate) window: Window,
    pub(crate) warm_up: Duration,
    pub(crate) server_pid: Option<u32>,
    pub(crate) hold: bool,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut url, mut transport) = (None, None);
        let mut options = Self {
            authority: String::new(),
            path: String::new(),
            transport: Transport::Http,
            connections: 1,
            payload: 100,
            window: Window::Time(Duration::from_secs(3)),
            warm_up: Duration::from_millis(500),
            server_pid: None,
            hold: false,
        };
        while let Some(name) = arguments.next() {
            if name == "--hold" {
                options.hold = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"))?;
            match name.as_str() {
                "--url" => url = Some(value),
                "--transport" => transport = Some(parse_transport(&value)?),
                "--connections" => options.connections = number(&name, &value)?,
                "--payload" => options.payload = number(&name, &value)?,
                "--seconds" => options.window = Window::Time(seconds(&name, &value)?),
                "--requests" => options.window = Window::Requests(number(&name, &value)?),
                "--warm-up" => options.warm_up = seconds(&name, &value)?,
                "--server-pid" => options.server_pid = Some(number(&name, &value)?),
                _ => return Err(format!("unknown option {name}\n{USAGE}")),
            }
        }
        let url = url.ok_or_else(|| format!("--url is missing\n{USAGE}"))?;
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(Self {
            authority: authority.to_owned(),
            path: format!("/{path}"),
            transport: transport.ok_or_else(|| format!("--transport is missing\n{USAGE}"))?,
            ..options
        })
    }
}

fn parse_transport(value: &str) -> Result<Transport, String> {
    match value {
        "http" => Ok(Transport::Http),
        "ws" => Ok(Transport::WebSocket),
        other => Err(format!("--transport is http or ws, not {other}")),
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} needs a whole number, not {value}"))
}

fn seconds(name: &str, value: &str) -> Result<Duration, String> {
    let seconds = value.parse().map_err(|_| format!("{name} needs seconds, not {value}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("{name}: {error}"))
}
