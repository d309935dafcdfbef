//! What holds for any conversation. `PROPTEST_CASES` says how many are tried; 256 when it does not.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod model;

use jumpseat_proto::{
    Annotations, CallResult, Envelope, Headers, Id, Implementation, Offer, PAGE_SIZE, Session, SessionId,
    Step, Tool,
};
use model::{Answer, Event, Model, event, events};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const MAX_IN_FLIGHT: usize = 5;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn tool(name: &str, input_schema: &Value) -> Tool {
    Tool::new(name, None, "", input_schema, None, Annotations::default()).unwrap()
}

fn offer_of(tools: impl IntoIterator<Item = Tool>) -> Offer {
    let mut offer = Offer::new(&Implementation::default(), None);
    tools.into_iter().for_each(|tool| offer.tools.insert(tool));
    offer
}

fn offer() -> Offer {
    offer_of([tool("tool", &json!({"type": "object"}))])
}

/// An app and its one client.
struct Conversation {
    session: Session,
    offer: Offer,
    /// The calls that the app was asked to run and has not finished; those that it was told to stop say so.
    calls: Vec<(Id, bool)>,
    sent: Vec<String>,
    restarts: u128,
}

impl Conversation {
    fn new() -> Self {
        let session = Session::new(MAX_IN_FLIGHT);
        Self { session, offer: offer(), calls: vec![], sent: vec![], restarts: 0 }
    }

    /// Has it happen. Gives what must come of it by the model.
    fn happen(&mut self, event: &Event, model: &mut Model) -> Vec<Answer> {
        match event {
            Event::Message(message) => {
                self.receive(&event.text().unwrap(), Envelope::Stream);
                model.one(message)
            }
            Event::Batch(messages) => {
                self.receive(&event.text().unwrap(), Envelope::Stream);
                model.batch(messages)
            }
            Event::Finish(which) if !self.calls.is_empty() => {
                let (id, is_cancelled) = self.calls.remove(which.index(self.calls.len()));
                // By its id, a cancelled call cannot be told from a later one: the app does that.
                if is_cancelled && model.is_in_flight(id.as_json()) {
                    return vec![];
                }
                self.finish(&id);
                if is_cancelled { vec![] } else { model.finished(id.as_json()) }
            }
            Event::ToolsChange => {
                for text in self.session.tools_list_changed(true) {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    assert!(message["method"].is_string() && message.get("id").is_none(), "{text}");
                }
                vec![]
            }
            Event::EndSubscriptions => {
                self.end_subscriptions();
                model.subscriptions_end()
            }
            Event::Restart if model.in_flight() == 0 => {
                self.restarts += 1;
                let id = self.session.id(self.restarts);
                self.session = Session::restore(SessionId::parse(&id).unwrap(), MAX_IN_FLIGHT);
                vec![]
            }
            Event::Finish(_) | Event::Restart => vec![],
        }
    }

    fn receive(&mut self, text: &str, envelope: Envelope) {
        let step = self.session.receive(text, envelope, &self.offer);
        self.follow(step);
    }

    fn follow(&mut self, step: Step) {
        match step {
            Step::Nothing => {}
            Step::Reply(reply) => self.sent.push(reply.text),
            Step::Call(call) => self.calls.push((call.id, false)),
            Step::Listen(listen) => {
                let message: Value = serde_json::from_str(&listen.acknowledgement).unwrap();
                assert_eq!(message["method"], "notifications/subscriptions/acknowledged");
            }
            Step::Cancel(id, reply) => {
                for (other, is_cancelled) in &mut self.calls {
                    *is_cancelled |= *other == id;
                }
                self.sent.extend(reply.map(|reply| reply.text));
            }
            Step::Batch(steps) => steps.into_iter().for_each(|step| self.follow(step)),
        }
    }

    fn finish(&mut self, id: &Id) {
        let reply = self.session.finish(id, &Ok(CallResult::text("done")), &self.offer);
        self.sent.extend(reply.map(|reply| reply.text));
    }

    fn end_subscriptions(&mut self) {
        self.sent.extend(self.session.end_subscriptions(&self.offer));
    }

    /// What was sent since the last time.
    fn answers(&mut self) -> Vec<Answer> {
        sorted(std::mem::take(&mut self.sent).iter().map(|text| answer(text)).collect())
    }
}

/// Several answers at once may be in any order.
fn sorted(mut answers: Vec<Answer>) -> Vec<Answer> {
    answers.sort();
    answers
}

/// Reads a response, or an array of them.
fn answer(text: &str) -> Answer {
    if text.starts_with('[') {
        let responses: Vec<&RawValue> = serde_json::from_str(text).unwrap();
        let mut ids: Vec<_> = responses.iter().map(|response| response_id(response.get())).collect();
        ids.sort();
        Answer::Batch(ids)
    } else {
        Answer::One(response_id(text))
    }
}

/// The id of a response, which must be one: version, id, and either a result or an error.
fn response_id(text: &str) -> String {
    type Object<'a> = std::collections::BTreeMap<String, &'a RawValue>;
    let response: Object = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(response.get("jsonrpc").map(|version| version.get()), Some(r#""2.0""#), "{text}");
    assert_eq!(response.len(), 3, "{text}");
    assert!(response.contains_key("result") != response.contains_key("error"), "{text}");
    response["id"].get().to_owned()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_request_is_answered_once_under_its_id_unless_it_is_cancelled(events in events()) {
        let (mut conversation, mut model) = (Conversation::new(), Model::new(MAX_IN_FLIGHT));
        for event in &events {
            let expected = conversation.happen(event, &mut model);
            prop_assert_eq!(conversation.answers(), sorted(expected), "{:?}", event);
            prop_assert_eq!(conversation.session.in_flight(), model.in_flight());
            prop_assert!(conversation.session.in_flight() <= MAX_IN_FLIGHT);
            prop_assert_eq!(conversation.session.revision(), model.revision());
        }
        // In the end nothing is left open.
        for (id, is_cancelled) in std::mem::take(&mut conversation.calls) {
            if !is_cancelled {
                conversation.finish(&id);
                prop_assert_eq!(conversation.answers(), model.finished(id.as_json()));
            }
        }
        conversation.end_subscriptions();
        prop_assert_eq!(conversation.answers(), sorted(model.subscriptions_end()));
        prop_assert_eq!((conversation.session.in_flight(), model.in_flight()), (0, 0));
    }

    #[test]
    fn any_text_is_taken_and_what_comes_of_it_is_json(
        texts in prop::collection::vec(text(), 1..8),
        headers in headers(),
    ) {
        let mut conversation = Conversation::new();
        for (index, text) in texts.iter().enumerate() {
            let envelope = if index % 2 == 0 { Envelope::Stream } else { Envelope::Http(&headers) };
            conversation.receive(text, envelope);
            // Text that is no JSON is answered as that, and by nothing else.
            if serde_json::from_str::<&RawValue>(text).is_err() {
                let parse_error = r#""id":null,"error":{"code":-32700,"#;
                prop_assert!(matches!(&conversation.sent[..], [text] if text.contains(parse_error)));
            }
            conversation.answers();
        }
        for (id, _) in std::mem::take(&mut conversation.calls) {
            conversation.finish(&id);
        }
        conversation.end_subscriptions();
        conversation.answers();
        prop_assert_eq!(conversation.session.in_flight(), 0);
    }

    #[test]
    fn the_pages_of_tools_list_show_each_tool_once_and_in_order(count in 0_u32..350) {
        let mut names: Vec<_> = (0..count).map(|number| format!("{:03}", number * 7 % 1000)).collect();
        let offer = offer_of(names.iter().map(|name| tool(name, &json!({"type": "object"}))));
        let pages = pages(&offer);
        prop_assert!(pages.iter().rev().skip(1).all(|page| page.len() == PAGE_SIZE));
        names.sort();
        prop_assert_eq!(pages.concat(), names);
    }

    #[test]
    fn an_argument_that_a_client_puts_into_a_header_is_read_back(given in argument(), other in argument()) {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}});
        let offer = offer_of([tool("tool", &schema)]);
        let params = json!({"name": "tool", "arguments": {"a": given}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        let request = request("tools/call", &params);
        for argument in [&given, &other] {
            let headers = Given(vec![
                ("mcp-protocol-version", b"2026-07-28".to_vec()),
                ("mcp-method", b"tools/call".to_vec()),
                ("mcp-name", b"tool".to_vec()),
                ("mcp-param-a", in_header(argument).into_bytes()),
            ]);
            let mut session = Session::new(1);
            let step = session.receive(&request, Envelope::Http(&headers), &offer);
            prop_assert_eq!(matches!(step, Step::Call(_)), *argument == given, "{:?}", step);
        }
    }

    #[test]
    fn a_session_id_that_was_changed_is_not_read(
        name in any::<String>(),
        version in any::<String>(),
        random in any::<u128>(),
        at in any::<prop::sample::Index>(),
        by in 1_u8..=255,
    ) {
        let client = json!({"name": name, "version": version});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"sampling": {}}, "clientInfo": client});
        let mut session = Session::new(1);
        session.receive(&request("initialize", &params), Envelope::Stream, &offer());
        let id = session.id(random);
        prop_assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{}", id);
        let restored = Session::restore(SessionId::parse(&id).unwrap(), 1);
        prop_assert_eq!(restored.revision().as_str(), "2025-06-18");
        prop_assert_eq!(restored.id(random), id.clone());
        let mut changed = id.into_bytes();
        let at = at.index(changed.len());
        changed[at] ^= by;
        prop_assert_eq!(SessionId::parse(&String::from_utf8_lossy(&changed)), None);
    }
}

fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// The names on each page of `tools/list`.
fn pages(offer: &Offer) -> Vec<Vec<String>> {
    let (mut pages, mut params) = (Vec::new(), json!({}));
    loop {
        let mut session = Session::new(1);
        let text = request("tools/list", &params);
        let step = session.receive(&text, Envelope::Stream, offer);
        let Step::Reply(reply) = step else { panic!("{step:?}") };
        let response: Value = serde_json::from_str(&reply.text).unwrap();
        let tools = response["result"]["tools"].as_array().unwrap();
        pages.push(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect());
        match response["result"].get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return pages,
        }
    }
}

struct Given(Vec<(&'static str, Vec<u8>)>);

impl Headers for Given {
    fn header(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| &**value)
    }
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

fn headers() -> impl Strategy<Value = Given> {
    let names = vec!["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-a"];
    let value = prop_oneof![
        3 => prop::sample::select(vec!["2026-07-28", "2025-11-25", "tools/call", "tools/list", "tool", "=?base64?dG9vbA==?="])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<Vec<u8>>(),
    ];
    prop::collection::vec((prop::sample::select(names), value), 0..5).prop_map(Given)
}

/// Text of all kinds: at random, and messages with something wrong in them.
fn text() -> impl Strategy<Value = String> {
    let message = || event().prop_map(|event| event.text().unwrap_or_default());
    let piece = prop::sample::select(vec![
        "", "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u00e9", "\\ud800", "0", "-", "1e9999", "null",
        "\u{0}", "é", " ", "\n",
    ]);
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), piece);
    let edited = (message(), prop::collection::vec(edit, 0..4)).prop_map(|(mut text, edits)| {
        for (from, to, piece) in edits {
            let bounds: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let from = from.index(bounds.len());
            let to = (from + to.index(4)).min(bounds.len() - 1);
            text.replace_range(bounds[from]..bounds[to], piece);
        }
        text
    });
    prop_oneof![1 => any::<String>(), 1 => "[\\[\\]{}\",:0-9a-z\\\\ ]{0,40}", 6 => edited, 1 => message()]
}

fn argument() -> impl Strategy<Value = String> {
    let sentinel = "=\\?base64\\?[A-Za-z0-9+/=]{0,8}(\\?=)?";
    prop_oneof![any::<String>(), "[ -~]{0,12}", "[ \t]{0,2}[a-z]{0,3}[ \t]{0,2}", sentinel]
}

/// What a client makes of an argument (MCP 2026-07-28, Streamable HTTP, "Value Encoding").
fn in_header(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && text == text.trim_matches([' ', '\t'])
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", data_encoding::BASE64.encode(text.as_bytes()))
    }
}
