//! Every transcript, played with plain function calls: as on a WebSocket, and as in POSTs. The server's tests
//! play the same files over real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod transcript;

use std::path::Path;

use jumpseat_proto::{
    Annotations, Call, CallResult, Envelope, Headers, Id, Implementation, Offer, Reply, Session, Step, Tool,
};
use transcript::{MAX_IN_FLIGHT, Transcript, headers, matches, tools, transcripts};

struct Given(Vec<(&'static str, String)>);

impl Headers for Given {
    fn header(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }
}

/// An app with the tools of the transcripts, and the sessions of one client.
struct App {
    revision: String,
    offer: Offer,
    sessions: Vec<Session>,
    /// Calls of `wait`, by session. A cancelled one stays: its end must be nothing to anybody.
    waiting: Vec<(usize, Id)>,
    /// Messages come in HTTP requests.
    posts: bool,
    /// Every message has a session of its own, because there was no handshake.
    alone: bool,
    out: Vec<String>,
}

impl App {
    fn new(transcript: &Transcript, revision: &str, posts: bool) -> Self {
        let name = Implementation {
            name: "test.app".into(),
            title: Some("Test app".into()),
            version: "1.2.3".into(),
        };
        let mut offer = Offer::new(&name, None);
        let more = (0..transcript.more_tools).map(|number| {
            Tool::new(
                &format!("many_{number:03}"),
                None,
                "",
                &tools::extra().input,
                None,
                Annotations::default(),
            )
        });
        for tool in more.map(Result::unwrap).chain(tools::all().iter().map(tool)) {
            offer.tools.insert(tool);
        }
        let sessions = if posts { vec![] } else { vec![Session::new(MAX_IN_FLIGHT)] };
        let (revision, alone) = (revision.to_owned(), posts);
        let mut app = Self { revision, offer, sessions, waiting: Vec::new(), posts, alone, out: Vec::new() };
        for message in Transcript::handshake(&app.revision).into_iter().flatten() {
            app.receive(&message);
        }
        app
    }

    /// Takes a message, and gives what is sent for it.
    fn receive(&mut self, text: &str) -> Vec<String> {
        if self.alone {
            self.sessions.push(Session::new(MAX_IN_FLIGHT));
        }
        let (session, headers) = (self.sessions.len() - 1, Given(headers(&self.revision, text)));
        let envelope = if self.posts { Envelope::Http(&headers) } else { Envelope::Stream };
        let step = self.sessions[session].receive(text, envelope, &self.offer);
        self.follow(session, step);
        std::mem::take(&mut self.out)
    }

    fn follow(&mut self, session: usize, step: Step) {
        match step {
            Step::Nothing | Step::Cancel(_, None) => {}
            Step::Reply(reply) | Step::Cancel(_, Some(reply)) => self.send(reply),
            Step::Listen(listen) => self.out.push(listen.acknowledgement),
            Step::Call(call) => self.run(session, &call),
            Step::Batch(steps) => self.batch(session, steps),
        }
    }

    /// A call that is cancelled in the batch that it came in is not run.
    fn batch(&mut self, session: usize, steps: Vec<Step>) {
        let mut calls: Vec<Call> = Vec::new();
        for step in steps {
            match step {
                Step::Call(call) => calls.push(call),
                Step::Cancel(id, reply) => {
                    calls.retain(|call| call.id != id);
                    self.out.extend(reply.map(|reply| reply.text));
                }
                step => self.follow(session, step),
            }
        }
        for call in &calls {
            self.run(session, call);
        }
    }

    fn send(&mut self, reply: Reply) {
        // From here on the client names its session.
        self.alone &= !reply.initialized;
        self.out.push(reply.text);
    }

    fn run(&mut self, session: usize, call: &Call) {
        let steps = match call.tool.name() {
            "report" => &tools::STEPS[..],
            "wait" => &[tools::WAITING],
            _ => &[],
        };
        if let Some(reporter) = &call.progress {
            let texts =
                steps.iter().map(|(progress, total, text)| reporter.notification(*progress, *total, *text));
            self.out.extend(texts);
        }
        match call.tool.name() {
            "wait" => return self.waiting.push((session, call.id.clone())),
            "change" => self.change(),
            _ => {}
        }
        self.finish(session, &call.id, tools::answer(call.tool.name(), call.arguments));
        if call.tool.name() == "release" {
            for (session, id) in std::mem::take(&mut self.waiting) {
                self.finish(session, &id, tools::answer("wait", "{}"));
            }
        }
    }

    fn change(&mut self) {
        if !self.offer.tools.remove("extra") {
            self.offer.tools.insert(tool(&tools::extra()));
        }
        // Without a session, a POST has no stream for what nobody asked for.
        let unasked = !self.alone;
        let news = self.sessions.iter().flat_map(|session| session.tools_list_changed(unasked));
        self.out.extend(news);
    }

    fn finish(&mut self, session: usize, id: &Id, result: CallResult) {
        let reply = self.sessions[session].finish(id, &Ok(result), &self.offer);
        self.out.extend(reply.map(|reply| reply.text));
    }
}

fn tool(d: &tools::Described) -> Tool {
    let annotations = Annotations { read_only_hint: d.read_only.then_some(true), ..Annotations::default() };
    Tool::new(d.name, d.title, d.description, &d.input, d.output.as_ref(), annotations).unwrap()
}

/// Plays a transcript to a session, or in POSTs.
fn check(transcript: &Transcript, revision: &str, posts: bool) {
    let mut app = App::new(transcript, revision, posts);
    for exchange in &transcript.exchanges {
        let sent = app.receive(&exchange.sent);
        let expected: Vec<_> = exchange.expected.iter().map(|expected| &*expected.text).collect();
        let same = sent.len() == expected.len() && sent.iter().zip(&expected).all(|(a, e)| matches(e, a));
        let place = transcript.at(exchange, revision);
        assert!(same, "{place}\nexpected:\n{}\ncame:\n{}", expected.join("\n"), sent.join("\n"));
    }
}

fn check_all(transport: &str, posts: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let all = transcripts(&folder);
    for transcript in all.iter().filter(|transcript| transcript.transports.iter().any(|t| t == transport)) {
        transcript.revisions.iter().for_each(|revision| check(transcript, revision, posts));
    }
}

#[test]
fn every_transcript_holds_on_a_stream_of_messages() {
    check_all("websocket", false);
}

#[test]
fn every_transcript_holds_in_posts() {
    check_all("post", true);
}
