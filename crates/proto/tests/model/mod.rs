//! Conversations at random, and a model that says what must come of them: which ids are answered when. The
//! model knows nothing of JSON; it counts.

use jumpseat_proto::Revision;
use proptest::prelude::*;

/// What happens to a session.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A message comes.
    Message(Message),
    /// An array of messages comes.
    Batch(Vec<Message>),
    /// A call ends: which of those that have not, the cancelled ones among them.
    Finish(prop::sample::Index),
    /// The tools change.
    ToolsChange,
    /// The server ends all subscriptions.
    EndSubscriptions,
    /// The app restarts, and the session is restored from its id. Happens when nothing is in flight.
    Restart,
}

#[derive(Clone, Debug)]
pub(crate) enum Message {
    Request {
        id: &'static str,
        method: Method,
        modern: bool,
    },
    Cancel(&'static str),
    /// A notification or a response.
    Unanswered(&'static str),
    /// JSON that is no message.
    Invalid(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Ping,
    Initialize(Revision),
    List,
    Call,
    CallOfNothing,
    CallWithoutName,
    Listen,
    Unknown,
}

const IDS: [&str; 8] =
    ["1", r#""1""#, "1.0", "1e0", "-7", r#""é""#, "123456789012345678901234567890", r#""""#];

const UNANSWERED: [&str; 5] = [
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody's"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
];

const INVALID: [&str; 6] = [
    "{}",
    "7",
    "null",
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1}"#,
];

pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..60)
}

pub(crate) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => message().prop_map(Event::Message),
        4 => prop::collection::vec(message(), 0..6).prop_map(Event::Batch),
        6 => any::<prop::sample::Index>().prop_map(Event::Finish),
        1 => Just(Event::ToolsChange),
        1 => Just(Event::EndSubscriptions),
        1 => Just(Event::Restart),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let id = || prop::sample::select(&IDS[..]);
    let old = |revision: &Revision| *revision != Revision::V2026_07_28;
    let revision = prop::sample::select(Revision::ALL.into_iter().filter(old).collect::<Vec<_>>());
    let method = prop_oneof![
        2 => Just(Method::Ping),
        1 => revision.prop_map(Method::Initialize),
        1 => Just(Method::List),
        8 => Just(Method::Call),
        1 => Just(Method::CallOfNothing),
        1 => Just(Method::CallWithoutName),
        2 => Just(Method::Listen),
        1 => Just(Method::Unknown),
    ];
    prop_oneof![
        8 => (id(), method, prop::bool::weighted(0.3))
            .prop_map(|(id, method, modern)| Message::Request { id, method, modern }),
        3 => id().prop_map(Message::Cancel),
        1 => prop::sample::select(&UNANSWERED[..]).prop_map(Message::Unanswered),
        1 => prop::sample::select(&INVALID[..]).prop_map(Message::Invalid),
    ]
}

impl Event {
    /// The text that comes, if it is that which happens.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Message(message) => Some(message.text()),
            Self::Batch(messages) => {
                Some(format!("[{}]", messages.iter().map(Message::text).collect::<Vec<_>>().join(",")))
            }
            _ => None,
        }
    }
}

impl Message {
    fn text(&self) -> String {
        let Self::Request { id, method, modern } = self else {
            return match self {
                Self::Cancel(id) => format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                ),
                Self::Unanswered(text) | Self::Invalid(text) => (*text).to_owned(),
                Self::Request { .. } => unreachable!(),
            };
        };
        let (method, params) = match method {
            Method::Ping => ("ping", String::new()),
            Method::Initialize(revision) => ("initialize", format!(r#""protocolVersion":"{revision}""#)),
            Method::List => ("tools/list", String::new()),
            Method::Call => ("tools/call", r#""name":"tool""#.to_owned()),
            Method::CallOfNothing => ("tools/call", r#""name":"nothing""#.to_owned()),
            Method::CallWithoutName => ("tools/call", String::new()),
            Method::Listen => {
                ("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#.to_owned())
            }
            Method::Unknown => ("unknown", String::new()),
        };
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params = [&params[..], if *modern { meta } else { "" }];
        let params = params.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
    }
}

/// The ids that one message from the server answers: one, or those of an array. Their order does not matter, so
/// they are sorted as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    One(String),
    Batch(Vec<String>),
}

/// The id of an error whose request has none.
const NULL: &str = "null";

struct InFlight {
    id: &'static str,
    batch: Option<usize>,
    is_subscription: bool,
}

#[derive(Default)]
struct Batch {
    answered: Vec<String>,
    waiting: usize,
}

/// What must come of a conversation.
pub(crate) struct Model {
    revision: Revision,
    max_in_flight: usize,
    in_flight: Vec<InFlight>,
    batches: Vec<Batch>,
}

impl Model {
    pub(crate) fn new(max_in_flight: usize) -> Self {
        Self { revision: Revision::PLAIN, max_in_flight, in_flight: vec![], batches: vec![] }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    pub(crate) fn is_in_flight(&self, id: &str) -> bool {
        self.in_flight.iter().any(|request| request.id == id)
    }

    pub(crate) fn one(&mut self, message: &Message) -> Vec<Answer> {
        if let Message::Cancel(id) = message {
            return self.ended(id).into_iter().collect();
        }
        self.message(message, None).map(Answer::One).into_iter().collect()
    }

    pub(crate) fn batch(&mut self, messages: &[Message]) -> Vec<Answer> {
        let has_batches = matches!(self.revision, Revision::V2024_11_05 | Revision::V2025_03_26);
        if messages.is_empty() || !has_batches {
            return vec![Answer::One(NULL.into())];
        }
        let key = self.batches.len();
        // It waits for its own end.
        self.batches.push(Batch { answered: vec![], waiting: 1 });
        let mut answers = Vec::new();
        for message in messages {
            if let Message::Cancel(id) = message {
                answers.extend(self.ended(id));
            } else {
                let answered = self.message(message, Some(key));
                self.batches[key].answered.extend(answered);
            }
        }
        answers.extend(self.settled(key));
        answers
    }

    /// A call has an outcome.
    pub(crate) fn finished(&mut self, id: &str) -> Vec<Answer> {
        let Some(index) = self.in_flight.iter().position(|request| request.id == id) else { return vec![] };
        match self.in_flight[index].batch {
            None => {
                self.in_flight.remove(index);
                vec![Answer::One(id.to_owned())]
            }
            Some(batch) => {
                self.batches[batch].answered.push(id.to_owned());
                self.ended(id).into_iter().collect()
            }
        }
    }

    pub(crate) fn subscriptions_end(&mut self) -> Vec<Answer> {
        let (ended, others) =
            std::mem::take(&mut self.in_flight).into_iter().partition(|request| request.is_subscription);
        self.in_flight = others;
        let ended: Vec<InFlight> = ended;
        ended.iter().map(|request| Answer::One(request.id.to_owned())).collect()
    }

    /// The id that is answered at once, if any.
    fn message(&mut self, message: &Message, batch: Option<usize>) -> Option<String> {
        let (id, method, modern) = match message {
            Message::Request { id, method, modern } => (*id, *method, *modern),
            Message::Cancel(_) | Message::Unanswered(_) => return None,
            Message::Invalid(_) => return Some(NULL.into()),
        };
        if self.is_in_flight(id) {
            return Some(NULL.into());
        }
        match method {
            Method::Initialize(revision) if !modern && batch.is_none() => self.revision = revision,
            Method::Call | Method::Listen
                if self.in_flight.len() < self.max_in_flight
                    && (method == Method::Call || modern)
                    && !(modern && batch.is_some()) =>
            {
                self.in_flight.push(InFlight { id, batch, is_subscription: method == Method::Listen });
                if let Some(batch) = batch {
                    self.batches[batch].waiting += 1;
                }
                return None;
            }
            _ => {}
        }
        Some(id.to_owned())
    }

    /// A request is in flight no more. Gives the batch that has waited for nothing else.
    fn ended(&mut self, id: &str) -> Option<Answer> {
        let index = self.in_flight.iter().position(|request| request.id == id)?;
        let batch = self.in_flight.remove(index).batch?;
        self.settled(batch)
    }

    fn settled(&mut self, batch: usize) -> Option<Answer> {
        let batch = &mut self.batches[batch];
        batch.waiting -= 1;
        if batch.waiting > 0 || batch.answered.is_empty() {
            return None;
        }
        batch.answered.sort();
        Some(Answer::Batch(batch.answered.clone()))
    }
}
