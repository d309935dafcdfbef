//! The numbers that jumpseat is to reach, as data.

use super::samples::Samples;

pub(super) struct Goal {
    pub(super) what: &'static str,
    /// The quantity in the samples, of the server `ours`.
    pub(super) quantity: &'static str,
    pub(super) bound: Bound,
}

/// What the quantity is held against.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    /// At most so many of the unit.
    Most(f64, &'static str),
    /// At most so many times what this peer has in the same round.
    MostOfPeer(f64, &'static str),
    /// At least so many times what this peer has in the same round.
    LeastOfPeer(f64, &'static str),
}

use Bound::{LeastOfPeer, Most, MostOfPeer};

#[rustfmt::skip] // a table
pub(super) const GOALS: [Goal; 16] = [
    Goal { what: "CPU a call, HTTP, 64 connections", quantity: "http 64x100 cpu_us", bound: MostOfPeer(1.3, "bare-hyper") },
    Goal { what: "calls a second, HTTP, 64 connections", quantity: "http 64x100 rps", bound: LeastOfPeer(0.8, "bare-hyper") },
    Goal { what: "calls a second, HTTP, 64 connections", quantity: "http 64x100 rps", bound: LeastOfPeer(2.0, "rmcp-http") },
    Goal { what: "calls a second, HTTP, 1,000 connections", quantity: "http 1000x100 rps", bound: LeastOfPeer(0.8, "bare-hyper") },
    Goal { what: "calls a second, WebSocket, 64 connections", quantity: "ws 64x100 rps", bound: LeastOfPeer(0.8, "bare-ws") },
    Goal { what: "calls a second, WebSocket, 64 connections", quantity: "ws 64x100 rps", bound: LeastOfPeer(2.0, "rmcp-ws") },
    Goal { what: "256 KiB calls a second, HTTP, 5 connections", quantity: "http 5x262144 rps", bound: LeastOfPeer(0.8, "bare-hyper") },
    Goal { what: "256 KiB calls a second, WebSocket, 5 connections", quantity: "ws 5x262144 rps", bound: LeastOfPeer(0.8, "bare-ws") },
    Goal { what: "size of the stripped program, `opt-level = \"z\"`", quantity: "size MB", bound: Most(1.2, "MB") },
    Goal { what: "memory, idle", quantity: "http MiB idle", bound: Most(4.0, "MiB") },
    Goal { what: "memory after the HTTP load", quantity: "http MiB after load", bound: Most(30.0, "MiB") },
    Goal { what: "memory after the WebSocket load", quantity: "ws MiB after load", bound: Most(30.0, "MiB") },
    Goal { what: "memory of an idle WebSocket", quantity: "KiB an idle WebSocket", bound: Most(24.0, "KiB") },
    Goal { what: "wake-ups while idle, no connection", quantity: "wake-ups, no connection", bound: Most(0.0, "") },
    Goal { what: "wake-ups while idle, idle connections", quantity: "wake-ups, idle connections", bound: Most(0.0, "") },
    Goal { what: "process start until the first answer", quantity: "start ms", bound: MostOfPeer(1.3, "bare-hyper") },
];

impl Goal {
    /// What was reached, in the bound's own terms; `None` when it was not measured.
    pub(super) fn reached(&self, samples: &Samples) -> Option<f64> {
        match self.bound {
            Most(..) => samples.median("ours", self.quantity),
            MostOfPeer(_, peer) | LeastOfPeer(_, peer) => samples.ratio("ours", peer, self.quantity),
        }
    }

    pub(super) fn is_met_by(&self, value: f64) -> bool {
        match self.bound {
            Most(most, _) | MostOfPeer(most, _) => value <= most,
            LeastOfPeer(least, _) => value >= least,
        }
    }
}
