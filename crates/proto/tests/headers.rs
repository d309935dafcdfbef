//! The headers of a modern request against its body: every case, with plain function calls. The server's tests
//! send the same requests, and look at the HTTP status too.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod header_cases;

use header_cases::{Case, ID, TOOL, cases, input_schema};
use jumpseat_proto::{Annotations, Envelope, Headers, Implementation, Offer, Session, Step, Tool};
use serde_json::Value;

struct Given<'a>(&'a Case);

impl Headers for Given<'_> {
    fn header(&self, name: &str) -> Option<&[u8]> {
        let named = self.0.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_bytes())
    }
}

fn offer() -> Offer {
    let mut offer = Offer::new(&Implementation::default(), None);
    let tool = Tool::new(TOOL, None, "", &input_schema(), None, Annotations::default());
    offer.tools.insert(tool.unwrap());
    offer
}

/// What a request gets, in a session of its own: the code of its error, or `None`.
fn code(case: &Case, envelope: Envelope) -> Option<i64> {
    let mut session = Session::new(1);
    match session.receive(&case.body, envelope, &offer()) {
        Step::Call(call) => {
            assert_eq!((call.id.as_json(), call.tool.name()), ("7", TOOL));
            None
        }
        Step::Reply(reply) => {
            let response: Value = serde_json::from_str(&reply.text).unwrap();
            assert_eq!(response["id"], ID, "{}: {}", case.name, reply.text);
            assert_eq!(session.in_flight(), 0);
            response["error"]["code"].as_i64()
        }
        step => panic!("{}: {step:?}", case.name),
    }
}

#[test]
fn headers_that_do_not_say_what_the_body_says_are_refused() {
    for case in cases() {
        let code = code(&case, Envelope::Http(&Given(&case)));
        assert_eq!(code, case.code, "{}: {:?} {}", case.name, case.headers, case.body);
    }
}

#[test]
fn on_a_stream_there_are_no_headers_to_check() {
    let mismatches = cases().into_iter().filter(|case| case.code == Some(-32020));
    for case in mismatches {
        let code = code(&case, Envelope::Stream);
        // What is left is wrong with the body.
        assert!(matches!(code, None | Some(-32022 | -32601 | -32602)), "{}: {code:?}", case.name);
    }
}
