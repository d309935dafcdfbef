//! Session ids: any text is read or refused, and what is read is written again as an id that is read alike.
#![no_main]

use arbitrary::Arbitrary;
use jumpseat_proto::{Envelope, Implementation, Offer, Session, SessionId};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    text: &'a str,
    name: &'a str,
    version: &'a str,
    random: u128,
    /// Where an id of ours is changed, and to what.
    change: Option<(u8, u8)>,
}

fn check(text: &str) {
    let Some(id) = SessionId::parse(text) else { return };
    let session = Session::restore(id, 1);
    let again = session.id(7);
    assert!(again.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{again}");
    let restored = Session::restore(SessionId::parse(&again).expect("an id of ours is read"), 1);
    assert_eq!((restored.revision(), restored.id(7)), (session.revision(), again));
}

fuzz_target!(|input: Input| {
    check(input.text);

    let client = json!({"name": input.name, "version": input.version});
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
    let mut session = Session::new(1);
    session.receive(&initialize, Envelope::Stream, &Offer::new(&Implementation::default(), None));
    let id = session.id(input.random);
    assert!(SessionId::parse(&id).is_some());
    check(&id);

    if let Some((at, by)) = input.change.filter(|(_, by)| *by != 0) {
        let mut changed = id.clone().into_bytes();
        let at = usize::from(at) % changed.len();
        changed[at] ^= by;
        if let Ok(changed) = String::from_utf8(changed) {
            assert_eq!(SessionId::parse(&changed), None, "{changed}");
        }
    }
});
