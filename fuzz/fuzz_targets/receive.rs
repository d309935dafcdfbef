//! Any text, in any envelope, in a session of any revision: no panic, and what comes of it is JSON-RPC.
#![no_main]

use arbitrary::Arbitrary;
use jumpseat_proto::{
    Annotations, CallResult, Envelope, Headers, Id, Implementation, Offer, Session, Step, Tool,
};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    handshake: Option<&'a str>,
    version: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    texts: Vec<Text<'a>>,
}

/// A message, with more or less of it as it should be.
#[derive(Arbitrary, Debug)]
enum Text<'a> {
    Raw(&'a str),
    Request { id: &'a str, method: &'a str, params: &'a str },
    Call { id: u8, params: &'a str },
    Modern { id: u8, method: &'a str, params: &'a str },
    Batch(Vec<&'a str>),
}

impl Text<'_> {
    fn write(&self) -> String {
        match self {
            Self::Raw(text) => (*text).to_owned(),
            Self::Request { id, method, params } => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
            }
            Self::Call { id, params } => {
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"tool",{params}}}}}"#
                )
            }
            Self::Modern { id, method, params } => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
            ),
            Self::Batch(texts) => format!("[{}]", texts.join(",")),
        }
    }
}

impl Headers for Input<'_> {
    fn header(&self, name: &str) -> Option<&[u8]> {
        match name {
            "mcp-protocol-version" => self.version,
            "mcp-method" => self.method,
            "mcp-name" => self.name,
            _ => None,
        }
    }
}

fn offer() -> Offer {
    let mut offer = Offer::new(&Implementation::default(), None);
    let schema = json!({"type": "object"});
    offer.tools.insert(Tool::new("tool", None, "", &schema, None, Annotations::default()).unwrap());
    offer
}

/// Reads a response, or an array of them.
fn check(text: &str) {
    let response: Result<&RawValue, _> = serde_json::from_str(text);
    assert!(response.is_ok(), "{text}");
    // Text in it may be that of the client, with escapes that stand for no character.
    let Ok(response) = serde_json::from_str::<Value>(text) else { return };
    match response {
        Value::Array(responses) => responses.iter().for_each(check_one),
        response => check_one(&response),
    }
}

fn check_one(response: &Value) {
    assert_eq!(response["jsonrpc"], "2.0");
    assert!(response.get("id").is_some());
    assert!(response["result"].is_object() != response["error"]["message"].is_string());
}

fn follow(step: Step, calls: &mut Vec<Id>) {
    match step {
        Step::Nothing | Step::Cancel(_, None) => {}
        Step::Reply(reply) | Step::Cancel(_, Some(reply)) => check(&reply.text),
        Step::Call(call) => {
            assert!(
                call.arguments.starts_with('{') && serde_json::from_str::<&RawValue>(call.arguments).is_ok()
            );
            calls.push(call.id);
        }
        Step::Listen(listen) => assert!(serde_json::from_str::<&RawValue>(&listen.acknowledgement).is_ok()),
        Step::Batch(steps) => steps.into_iter().for_each(|step| follow(step, calls)),
    }
}

fn play(input: &Input, envelope: Envelope, offer: &Offer) {
    let mut session = Session::new(3);
    if let Some(version) = input.handshake {
        let params = json!({"protocolVersion": version});
        let initialize =
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
        follow(session.receive(&initialize, Envelope::Stream, offer), &mut Vec::new());
    }
    let mut calls = Vec::new();
    for text in &input.texts {
        follow(session.receive(&text.write(), envelope, offer), &mut calls);
        assert!(session.in_flight() <= 3);
    }
    for text in session.tools_list_changed(true) {
        assert!(serde_json::from_str::<&RawValue>(&text).is_ok());
    }
    for id in calls {
        if let Some(reply) = session.finish(&id, &Ok(CallResult::text("done")), offer) {
            check(&reply.text);
        }
    }
    session.end_subscriptions(offer).iter().for_each(|text| check(text));
    assert_eq!(session.in_flight(), 0);
}

fuzz_target!(|input: Input| {
    let offer = offer();
    play(&input, Envelope::Stream, &offer);
    play(&input, Envelope::Http(&input), &offer);
});
