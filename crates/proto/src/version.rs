//! The revisions of MCP, and what each of them has: the only file that compares revisions.

use std::fmt;

/// A revision of MCP that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05: stdio and HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches.
    V2025_03_26,
    /// 2025-06-18: structured output, elicitation, no batches.
    V2025_06_18,
    /// 2025-11-25: resumable streams that begin with a priming event.
    V2025_11_25,
    /// 2026-07-28: stateless; every request says its version and capabilities itself.
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

impl Revision {
    /// All of them, newest first.
    pub const ALL: [Self; 5] = [V2026_07_28, V2025_11_25, V2025_06_18, V2025_03_26, V2024_11_05];

    /// The ones without a handshake, whose requests carry their own metadata.
    pub const MODERN: [Self; 1] = [V2026_07_28];

    /// What a request is answered like that did no handshake and names no revision
    /// (MCP 2025-11-25, transports, "Protocol Version Header").
    pub const PLAIN: Self = V2025_03_26;

    /// The date that names it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that date, if it is served.
    pub fn parse(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// What `initialize` answers to a client that asks for `date`: that revision if it has a handshake, else
    /// the newest that has one.
    pub(crate) fn negotiate(date: &str) -> Self {
        Self::parse(date).filter(|revision| !revision.is_modern()).unwrap_or(V2025_11_25)
    }

    /// Stateless: no handshake, no session, metadata on every request and result.
    pub fn is_modern(self) -> bool {
        self >= V2026_07_28
    }

    /// A message may be an array of messages. 2025-06-18 took batches out again.
    pub(crate) fn has_batches(self) -> bool {
        self <= V2025_03_26
    }

    pub(crate) fn has_audio(self) -> bool {
        self >= V2025_03_26
    }

    pub(crate) fn has_resource_links(self) -> bool {
        self >= V2025_06_18
    }

    pub(crate) fn has_progress_message(self) -> bool {
        self >= V2025_03_26
    }

    /// `structuredContent` and `outputSchema` may be any JSON; before, only objects.
    pub(crate) fn has_any_structured_content(self) -> bool {
        self >= V2026_07_28
    }

    /// An event stream begins with an event that has an id and no data. Older clients stumble over it.
    pub fn has_priming_event(self) -> bool {
        self == V2025_11_25
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legacy_revision_is_negotiated_as_asked_and_all_else_as_the_newest_legacy_one() {
        for date in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Revision::negotiate(date).as_str(), date);
        }
        for date in ["2026-07-28", "1999-01-01", "", "latest"] {
            assert_eq!(Revision::negotiate(date).as_str(), "2025-11-25");
        }
    }
}
