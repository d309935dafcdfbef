//! Any conversation: every request gets one response, or is cancelled and gets none.
#![no_main]

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use jumpseat_proto::{
    Annotations, CallResult, Envelope, Id, Implementation, Offer, Revision, Session, SessionId, Step, Tool,
};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use serde_json::value::RawValue;

const MAX_IN_FLIGHT: usize = 4;

#[derive(Arbitrary, Debug)]
enum Event {
    One(Message),
    Batch(Vec<Message>),
    Finish(u8),
    ToolsChange,
    EndSubscriptions,
    Restart,
}

#[derive(Arbitrary, Debug)]
enum Message {
    Request { id: Name, method: Method, modern: bool },
    Cancel(Name),
    Notification,
    Response(Name),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Name {
    Number(u8),
    Float(u8),
    Text(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Method {
    Ping,
    Initialize(u8),
    List,
    Call,
    CallOfNothing,
    Listen,
    Unknown,
}

impl Name {
    fn json(self) -> String {
        // Few enough to meet again.
        match self {
            Self::Number(n) => format!("{}", n % 4),
            Self::Float(n) => format!("{}.0", n % 4),
            Self::Text(n) => format!("\"{}\"", n % 4),
        }
    }
}

impl Message {
    fn json(&self) -> String {
        match self {
            Self::Request { id, method, modern } => request(&id.json(), *method, *modern),
            Self::Cancel(id) => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                id.json()
            ),
            Self::Notification => r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            Self::Response(id) => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id.json()),
        }
    }
}

fn request(id: &str, method: Method, modern: bool) -> String {
    let (method, params) = match method {
        Method::Ping => ("ping", String::new()),
        Method::Initialize(n) => {
            let revision = Revision::ALL[usize::from(n) % Revision::ALL.len()];
            ("initialize", format!(r#""protocolVersion":"{revision}","#))
        }
        Method::List => ("tools/list", String::new()),
        Method::Call => ("tools/call", r#""name":"tool","#.to_owned()),
        Method::CallOfNothing => ("tools/call", r#""name":"nothing","#.to_owned()),
        Method::Listen => {
            ("subscriptions/listen", r#""notifications":{"toolsListChanged":true},"#.to_owned())
        }
        Method::Unknown => ("unknown", String::new()),
    };
    let meta = if modern {
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#
    } else {
        ""
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}"_meta":{{{meta}}}}}}}"#)
}

/// What was asked, and what was answered.
#[derive(Default)]
struct Tally {
    requests: usize,
    responses: usize,
    cancelled: usize,
    /// Responses that each id may still get.
    owed: BTreeMap<String, usize>,
    /// The calls that the app runs.
    calls: Vec<Id>,
}

impl Tally {
    fn asks(&mut self, message: &Message) {
        if let Message::Request { id, .. } = message {
            self.requests += 1;
            *self.owed.entry(id.json()).or_default() += 1;
        }
    }

    fn response(&mut self, response: &str) {
        let response: BTreeMap<String, &RawValue> =
            serde_json::from_str(response).expect("a response is JSON");
        let id = response["id"].get();
        self.responses += 1;
        if id != "null" {
            let owed = self.owed.get_mut(id).filter(|owed| **owed > 0);
            *owed.expect("a response answers a request") -= 1;
        }
    }

    fn text(&mut self, text: &str) {
        if text.starts_with('[') {
            let responses: Vec<&RawValue> = serde_json::from_str(text).expect("a batch is JSON");
            assert!(!responses.is_empty());
            responses.iter().for_each(|response| self.response(response.get()));
        } else {
            self.response(text);
        }
    }

    fn follow(&mut self, step: Step) {
        match step {
            Step::Nothing => {}
            Step::Reply(reply) => self.text(&reply.text),
            Step::Call(call) => self.calls.push(call.id),
            Step::Listen(listen) => {
                assert!(serde_json::from_str::<&RawValue>(&listen.acknowledgement).is_ok());
            }
            Step::Cancel(id, reply) => {
                self.calls.retain(|call| *call != id);
                self.cancelled += 1;
                reply.iter().for_each(|reply| self.text(&reply.text));
            }
            Step::Batch(steps) => steps.into_iter().for_each(|step| self.follow(step)),
        }
    }
}

fn offer() -> Offer {
    let mut offer = Offer::new(&Implementation::default(), None);
    let schema = json!({"type": "object"});
    offer.tools.insert(Tool::new("tool", None, "", &schema, None, Annotations::default()).unwrap());
    offer
}

fn happen(event: &Event, session: &mut Session, tally: &mut Tally, offer: &Offer) {
    match event {
        Event::One(message) => {
            tally.asks(message);
            tally.follow(session.receive(&message.json(), Envelope::Stream, offer));
        }
        Event::Batch(messages) => {
            let is_served = !messages.is_empty() && session.revision() <= Revision::V2025_03_26;
            if is_served {
                messages.iter().for_each(|message| tally.asks(message));
            } else {
                // One error answers all of it.
                tally.requests += 1;
            }
            let texts: Vec<_> = messages.iter().map(Message::json).collect();
            tally.follow(session.receive(&format!("[{}]", texts.join(",")), Envelope::Stream, offer));
        }
        Event::Finish(which) if !tally.calls.is_empty() => {
            let id = tally.calls.remove(usize::from(*which) % tally.calls.len());
            finish(&id, session, tally, offer);
        }
        Event::ToolsChange => {
            for text in session.tools_list_changed(true) {
                assert!(serde_json::from_str::<&RawValue>(&text).is_ok());
            }
        }
        Event::EndSubscriptions => session.end_subscriptions(offer).iter().for_each(|text| tally.text(text)),
        Event::Restart if session.in_flight() == 0 => {
            let id = SessionId::parse(&session.id(1)).expect("an id of ours is read");
            *session = Session::restore(id, MAX_IN_FLIGHT);
        }
        Event::Finish(_) | Event::Restart => {}
    }
}

fn finish(id: &Id, session: &mut Session, tally: &mut Tally, offer: &Offer) {
    let reply = session.finish(id, &Ok(CallResult::text("done")), offer);
    reply.iter().for_each(|reply| tally.text(&reply.text));
    assert!(session.finish(id, &Ok(CallResult::text("again")), offer).is_none());
}

fuzz_target!(|events: Vec<Event>| {
    let (offer, mut session, mut tally) = (offer(), Session::new(MAX_IN_FLIGHT), Tally::default());
    for event in &events {
        happen(event, &mut session, &mut tally, &offer);
        assert!(session.in_flight() <= MAX_IN_FLIGHT);
    }
    for id in std::mem::take(&mut tally.calls) {
        finish(&id, &mut session, &mut tally, &offer);
    }
    session.end_subscriptions(&offer).iter().for_each(|text| tally.text(text));
    assert_eq!(session.in_flight(), 0);
    assert_eq!(tally.responses + tally.cancelled, tally.requests);
});
