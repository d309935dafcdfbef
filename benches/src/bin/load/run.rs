//! Drives the connections through warm-up and the measured window, and prints what came of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::answer::{Answers, FIRST_ID};
use crate::connection::Connection;
use crate::histogram::Histogram;
use crate::options::{Options, Window};
use crate::schedstat;

/// What all connections of the load share.
pub(crate) struct Load {
    tally: Mutex<Tally>,
    finished: Notify,
}

struct Tally {
    answers: Answers,
    next_id: u64,
    latencies: Histogram,
    errors: u64,
    first_error: Option<String>,
    /// `finished` is told when so many requests are counted.
    wanted: u64,
    over: bool,
}

impl Load {
    pub(crate) fn new(text: String) -> Self {
        let tally = Tally {
            answers: Answers::new(text),
            next_id: FIRST_ID,
            latencies: Histogram::new(),
            errors: 0,
            first_error: None,
            wanted: u64::MAX,
            over: false,
        };
        Self { tally: Mutex::new(tally), finished: Notify::new() }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An id that no other call has.
    pub(crate) fn next_id(&self) -> u64 {
        let mut tally = self.tally();
        tally.next_id += 1;
        tally.next_id
    }

    pub(crate) fn check(&self, body: &[u8], id: u64) -> Result<(), String> {
        self.tally().answers.check(body, id)
    }

    /// Calls until the window is over; the connection ends with the first call that fails.
    async fn drive(&self, mut connection: Connection) {
        let mut id = self.next_id();
        let mut began = Instant::now();
        loop {
            let called = connection.call(id).await.map_err(|error| error.to_string());
            let now = Instant::now();
            let mut tally = self.tally();
            let checked = called.and_then(|body| tally.answers.check(body, id));
            if tally.over {
                return;
            }
            if let Err(error) = checked {
                tally.errors += 1;
                tally.first_error.get_or_insert(error);
                return self.finished.notify_one();
            }
            tally.latencies.record(now - began);
            if tally.latencies.total() == tally.wanted {
                self.finished.notify_one();
            }
            tally.next_id += 1;
            id = tally.next_id;
            began = now;
        }
    }
}

/// The text that every call sends: letters only, so that its JSON has no escapes.
pub(crate) fn text(length: usize) -> String {
    ('a'..='z').cycle().take(length).collect()
}

/// Opens the connections one after another.
pub(crate) async fn open(options: &Options, text: &str) -> Result<Vec<Connection>, String> {
    let mut connections = Vec::with_capacity(options.connections);
    for number in 1..=options.connections {
        let opened = Connection::open(options, text).await;
        connections
            .push(opened.map_err(|error| format!("connection {number} to {}: {error}", options.authority))?);
    }
    Ok(connections)
}

pub(crate) async fn run(options: Options) -> Result<(), String> {
    let text = text(options.payload);
    let connections = open(&options, &text).await?;
    let load = Arc::new(Load::new(text));
    for connection in connections {
        let load = load.clone();
        tokio::spawn(async move { load.drive(connection).await });
    }
    tokio::time::sleep(options.warm_up).await;

    let before = Usage::now(&options)?;
    let began = Instant::now();
    {
        let mut tally = load.tally();
        tally.latencies = Histogram::new();
        if let Window::Requests(wanted) = options.window {
            tally.wanted = wanted;
        }
    }
    match options.window {
        Window::Time(window) => tokio::time::sleep(window).await,
        Window::Requests(_) => load.finished.notified().await,
    }
    let mut tally = load.tally();
    tally.over = true;
    let elapsed = began.elapsed();
    let used = Usage::now(&options)?.since(&before);
    if tally.latencies.total() > 0 {
        report(&tally, elapsed, &used);
    }
    match &tally.first_error {
        Some(error) => Err(format!("{} calls failed; the first: {error}", tally.errors)),
        None if tally.latencies.total() == 0 => Err("no call was answered in the measured time".to_owned()),
        None => Ok(()),
    }
}

/// CPU time of the server, when its process id is known, and of this program.
struct Usage {
    server: Option<Duration>,
    own: Duration,
}

impl Usage {
    fn now(options: &Options) -> Result<Self, String> {
        let server = options.server_pid.map(schedstat::cpu).transpose()?;
        Ok(Self { server, own: schedstat::cpu(std::process::id())? })
    }

    fn since(&self, earlier: &Self) -> Self {
        let server = self.server.zip(earlier.server).map(|(now, then)| now.saturating_sub(then));
        Self { server, own: self.own.saturating_sub(earlier.own) }
    }
}

/// One JSON line. `*_busy` are parts of one CPU; the server's fields are null when its process id is not known.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn report(tally: &Tally, elapsed: Duration, used: &Usage) {
    let (requests, seconds) = (tally.latencies.total(), elapsed.as_secs_f64());
    let or_null = |value: Option<f64>| value.map_or("null".to_owned(), |value| format!("{value:.4}"));
    println!(
        r#"{{"requests":{requests},"errors":{},"seconds":{seconds:.4},"rps":{:.1},"p50_us":{:.2},"p99_us":{:.2},"cpu_us":{},"server_busy":{},"load_busy":{:.4}}}"#,
        tally.errors,
        requests as f64 / seconds,
        tally.latencies.quantile_us(500),
        tally.latencies.quantile_us(990),
        or_null(used.server.map(|cpu| cpu.as_secs_f64() * 1e6 / requests as f64)),
        or_null(used.server.map(|cpu| cpu.as_secs_f64() / seconds)),
        used.own.as_secs_f64() / seconds,
    );
}
