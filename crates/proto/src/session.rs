//! One session: messages in, steps out; and the calls that are in flight, as plain data.
//!
//! A WebSocket has one session, a client over HTTP has one by its session id, and a request that belongs to
//! none brings one of its own.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

use crate::batch::{BatchKey, Batches};
use crate::call::{Call, Outcome, call};
use crate::client::{Client, Meta};
use crate::error::{ErrorCode, ErrorObject};
use crate::headers::{Envelope, check_method, check_version};
use crate::initialize::{discovered, initialized, negotiate, write_freshness};
use crate::json::string;
use crate::listen::{Filter, Listen, closure};
use crate::message::{Id, Incoming, Message, Params, incoming};
use crate::notification::tools_list_changed;
use crate::offer::Offer;
use crate::reply::Reply;
use crate::session_id::SessionId;
use crate::version::Revision;

/// What follows from a message.
#[derive(Debug)]
pub enum Step<'a> {
    /// Nothing: it was a notification or a response.
    Nothing,
    /// Send this.
    Reply(Reply),
    /// Run this.
    Call(Call<'a>),
    /// Send the acknowledgement, and keep the stream open.
    Listen(Listen),
    /// Stop what runs for this request. It gets no response; the reply, if any, is a batch that was waiting
    /// for nothing else.
    Cancel(Id, Option<Reply>),
    /// Do all of these.
    Batch(Vec<Step<'a>>),
}

/// The state of one session.
#[derive(Debug)]
pub struct Session {
    revision: Revision,
    client: Arc<Client>,
    /// Whether the last request was modern: such a client gets the notifications it asks for and no others.
    modern: bool,
    max_in_flight: usize,
    in_flight: Vec<InFlight>,
    batches: Batches,
}

#[derive(Debug)]
struct InFlight {
    id: Id,
    revision: Revision,
    batch: Option<BatchKey>,
    /// What it listens for, when it is a subscription and not a call.
    filter: Option<Filter>,
}

/// The methods that are served.
#[derive(Clone, Copy)]
enum Method {
    Initialize,
    Ping,
    Discover,
    ToolsList,
    ToolsCall,
    Listen,
}

impl Method {
    fn parse(name: &str, revision: Revision) -> Option<Self> {
        match (name, revision.is_modern()) {
            ("tools/list", _) => Some(Self::ToolsList),
            ("tools/call", _) => Some(Self::ToolsCall),
            ("initialize", false) => Some(Self::Initialize),
            ("ping", false) => Some(Self::Ping),
            ("server/discover", true) => Some(Self::Discover),
            ("subscriptions/listen", true) => Some(Self::Listen),
            _ => None,
        }
    }
}

/// One request, on its way through [`Session::request`].
struct Request<'a, 'e> {
    id: Id,
    method: Cow<'a, str>,
    params: Option<Params<'a>>,
    envelope: Envelope<'e>,
    batch: Option<BatchKey>,
}

impl Session {
    /// A session that did no handshake yet, in which at most `max_in_flight` requests run at once.
    pub fn new(max_in_flight: usize) -> Self {
        Self {
            revision: Revision::PLAIN,
            client: Arc::default(),
            modern: false,
            max_in_flight,
            in_flight: Vec::new(),
            batches: Batches::default(),
        }
    }

    /// The session that an id describes, as it was after its handshake.
    pub fn restore(id: SessionId, max_in_flight: usize) -> Self {
        let mut session = Self::new(max_in_flight);
        session.revision = id.revision;
        session.client = Arc::new(id.client);
        session
    }

    /// An id that describes this session. `random` makes it differ from that of every other session.
    pub fn id(&self, random: u128) -> String {
        SessionId::write(self.revision, &self.client, random)
    }

    /// The revision that the handshake agreed on; without a handshake, the one that plain requests have.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether the last request was modern: then the stream that it came on is its only tie to the client.
    pub fn is_modern(&self) -> bool {
        self.modern
    }

    /// How many requests have no response yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Takes one message, and says what follows from it. Every text is answered; none is an error here.
    pub fn receive<'a>(&mut self, text: &'a str, envelope: Envelope, offer: &Offer) -> Step<'a> {
        match incoming(text) {
            Ok(Incoming::One(text)) => self.message(text, envelope, offer, None),
            Ok(Incoming::Batch(messages)) => self.batch(&messages, envelope, offer),
            Err(error) => Step::Reply(Reply::error(None, self.revision, &error)),
        }
    }

    /// Takes the outcome of a call, and gives what to send for it: nothing when it was cancelled, or belongs
    /// to a batch that waits for others.
    pub fn finish(&mut self, id: &Id, outcome: &Outcome, offer: &Offer) -> Option<Reply> {
        let InFlight { id, revision, batch, .. } = self.take(id)?;
        let reply = match outcome {
            Ok(outcome) => Reply::result_with_meta(
                &id,
                revision,
                offer,
                outcome.size(),
                |result| outcome.write(result, revision),
                |_| {},
            ),
            Err(error) => Reply::error(Some(&id), revision, error),
        };
        let Some(batch) = batch else { return Some(reply) };
        self.batches.respond(batch, reply.text);
        self.batches.settle(batch)
    }

    /// What to send because the tools have changed. Subscriptions get it when they asked for it; `unasked`
    /// says that there is a stream for what nobody asked for.
    pub fn tools_list_changed(&self, unasked: bool) -> Vec<String> {
        let subscribed =
            self.in_flight.iter().filter_map(|request| request.filter?.tools_list_changed(&request.id));
        let unasked = (unasked && !self.modern).then(tools_list_changed);
        unasked.into_iter().chain(subscribed).collect()
    }

    /// Ends all subscriptions, and gives the responses that say so.
    pub fn end_subscriptions(&mut self, offer: &Offer) -> Vec<String> {
        let (subscriptions, calls): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.in_flight).into_iter().partition(|request| request.filter.is_some());
        self.in_flight = calls;
        subscriptions.iter().map(|request| closure(&request.id, request.revision, offer)).collect()
    }

    fn take(&mut self, id: &Id) -> Option<InFlight> {
        let index = self.in_flight.iter().position(|request| request.id == *id)?;
        Some(self.in_flight.swap_remove(index))
    }

    fn batch<'a>(&mut self, messages: &[&'a RawValue], envelope: Envelope, offer: &Offer) -> Step<'a> {
        let revision = if envelope.is_modern() { Revision::MODERN[0] } else { self.revision };
        let refused = if messages.is_empty() {
            Some("A batch has at least one message".to_owned())
        } else if !revision.has_batches() {
            Some(format!("MCP {revision} has no batches: send one message at a time"))
        } else {
            None
        };
        if let Some(reason) = refused {
            return Step::Reply(Reply::error(None, revision, &ErrorObject::invalid_request(reason)));
        }
        let key = self.batches.open();
        let mut steps = Vec::new();
        for message in messages {
            match self.message(message.get(), envelope, offer, Some(key)) {
                Step::Nothing => {}
                Step::Reply(reply) => self.batches.respond(key, reply.text),
                step => steps.push(step),
            }
        }
        steps.extend(self.batches.settle(key).map(Step::Reply));
        Step::Batch(steps)
    }

    fn message<'a>(
        &mut self,
        text: &'a str,
        envelope: Envelope,
        offer: &Offer,
        batch: Option<BatchKey>,
    ) -> Step<'a> {
        match Message::parse(text) {
            Ok(Message::Request { id, method, params }) => {
                self.request(Request { id, method, params, envelope, batch }, offer)
            }
            Ok(Message::Notification { method, params }) => match check_known_version(&envelope) {
                Ok(()) => self.notified(&method, params),
                Err(error) => Step::Reply(Reply::error(None, self.revision, &error)),
            },
            Ok(Message::Response) => Step::Nothing,
            Err(error) => Step::Reply(Reply::error(None, self.revision, &error)),
        }
    }

    /// A malformed or unknown notification is passed over: there is nobody to tell.
    fn notified<'a>(&mut self, method: &str, params: Option<Params>) -> Step<'a> {
        if method != "notifications/cancelled" {
            return Step::Nothing;
        }
        let id = params.and_then(|params| Id::from_raw(params.request_id?));
        let Some(InFlight { id, batch, .. }) = id.and_then(|id| self.take(&id)) else { return Step::Nothing };
        Step::Cancel(id, batch.and_then(|batch| self.batches.settle(batch)))
    }

    fn request<'a>(&mut self, mut request: Request<'a, '_>, offer: &Offer) -> Step<'a> {
        if self.in_flight.iter().any(|other| other.id == request.id) {
            // The id would get two responses, so the error has none.
            let error =
                ErrorObject::invalid_request(format!("The id {} is that of a request in flight", request.id));
            return Step::Reply(Reply::error(None, self.revision, &error));
        }
        let params =
            request.params.take().ok_or_else(|| ErrorObject::invalid_params(r#""params" must be an object"#));
        let meta = Meta::parse(params.as_ref().ok().and_then(|params| params.meta));
        self.modern = meta.protocol_version.is_some() || request.envelope.is_modern();
        let revision = if self.modern { Revision::MODERN[0] } else { self.revision };
        let id = request.id.clone();
        let step = self
            .caller(&request, &meta)
            .and_then(|(revision, client)| self.dispatch(request, params, &meta, revision, client, offer));
        step.unwrap_or_else(|error| Step::Reply(Reply::error(Some(&id), revision, &error)))
    }

    /// The revision of a request, and who makes it.
    fn caller(&self, request: &Request, meta: &Meta) -> Result<(Revision, Arc<Client>), ErrorObject> {
        if !self.modern {
            check_known_version(&request.envelope)?;
            return Ok((self.revision, self.client.clone()));
        }
        if request.batch.is_some() {
            return Err(ErrorObject::invalid_request(
                "MCP 2026-07-28 has no batches: send one message at a time",
            ));
        }
        let (version, client) = meta.modern()?;
        check_version(&request.envelope, &version)?;
        let revision = Revision::parse(&version).filter(|revision| revision.is_modern());
        let revision = revision.ok_or_else(|| unsupported(&version, &Revision::MODERN))?;
        check_method(&request.envelope, &request.method)?;
        Ok((revision, Arc::new(client)))
    }

    /// Method first, then params.
    fn dispatch<'a>(
        &mut self,
        request: Request<'a, '_>,
        params: Result<Params<'a>, ErrorObject>,
        meta: &Meta,
        revision: Revision,
        client: Arc<Client>,
        offer: &Offer,
    ) -> Result<Step<'a>, ErrorObject> {
        let Request { id, method, envelope, batch, .. } = request;
        let known = Method::parse(&method, revision).ok_or_else(|| {
            ErrorObject::new(
                ErrorCode::MethodNotFound,
                format!("There is no method {method:?} in MCP {revision} on this server"),
            )
        })?;
        let params = params?;
        Ok(match known {
            Method::Initialize if batch.is_some() => {
                return Err(ErrorObject::invalid_request("initialize must not be part of a batch"));
            }
            Method::Initialize => {
                let (revision, client) = negotiate(&params)?;
                self.revision = revision;
                self.client = Arc::new(client);
                Step::Reply(initialized(&id, revision, offer))
            }
            Method::Ping => Step::Reply(Reply::result(&id, revision, offer, |_| {})),
            Method::Discover => Step::Reply(discovered(&id, revision, offer)),
            Method::ToolsList => {
                let after = params.cursor.map(position).transpose()?;
                Step::Reply(tools_list(&id, revision, after.as_deref(), offer))
            }
            Method::ToolsCall => {
                let call = call(id, &params, meta, envelope, (revision, client), offer)?;
                self.begin(&call.id, revision, batch, None)?;
                Step::Call(call)
            }
            Method::Listen => {
                let filter = Filter::parse(&params)?;
                self.begin(&id, revision, batch, Some(filter))?;
                Step::Listen(Listen { acknowledgement: filter.acknowledgement(&id), id })
            }
        })
    }

    /// Notes a request that is not answered at once.
    fn begin(
        &mut self,
        id: &Id,
        revision: Revision,
        batch: Option<BatchKey>,
        filter: Option<Filter>,
    ) -> Result<(), ErrorObject> {
        if self.in_flight.len() >= self.max_in_flight {
            let message = format!(
                "{} requests are in flight, which is the limit: wait for one of them, or cancel it",
                self.max_in_flight
            );
            return Err(ErrorObject::new(ErrorCode::Internal, message));
        }
        if let Some(batch) = batch {
            self.batches.expect_call(batch);
        }
        self.in_flight.push(InFlight { id: id.clone(), revision, batch, filter });
        Ok(())
    }
}

/// An `MCP-Protocol-Version` that the server does not know is refused (MCP 2025-06-18, transports, "Protocol
/// Version Header").
pub(crate) fn check_known_version(envelope: &Envelope) -> Result<(), ErrorObject> {
    match envelope.protocol_version().filter(|header| Revision::parse(header).is_none()) {
        Some(unknown) => Err(unsupported(unknown, &Revision::ALL)),
        None => Ok(()),
    }
}

fn unsupported(requested: &str, supported: &[Revision]) -> ErrorObject {
    let supported: Vec<_> = supported.iter().map(|revision| revision.as_str()).collect();
    ErrorObject {
        code: ErrorCode::UnsupportedProtocolVersion,
        message: format!("MCP {requested} is not supported; supported: {}", supported.join(", ")),
        data: Some(json!({"supported": supported, "requested": requested}).to_string()),
    }
}

fn tools_list(id: &Id, revision: Revision, after: Option<&str>, offer: &Offer) -> Reply {
    let (page, more) = offer.tools.page(after);
    Reply::result(id, revision, offer, |result| {
        let buffer = result.key("tools");
        buffer.push(b'[');
        for (index, tool) in page.iter().enumerate() {
            if index > 0 {
                buffer.push(b',');
            }
            buffer.extend_from_slice(tool.json(revision.has_any_structured_content()).as_bytes());
        }
        buffer.push(b']');
        if let Some(last) = page.last().filter(|_| more) {
            result.value("nextCursor", &cursor(last.name()));
        }
        if revision.is_modern() {
            write_freshness(result);
        }
    })
}

/// A cursor is the name of the last tool on the page, so that it stays true when tools come and go. The
/// mark in front tells a cursor from any other text.
fn cursor(name: &str) -> String {
    format!("after:{name}")
}

fn position(cursor: &RawValue) -> Result<String, ErrorObject> {
    let name = string(cursor).ok().and_then(|cursor| cursor.strip_prefix("after:").map(str::to_owned));
    name.ok_or_else(|| ErrorObject::invalid_params(r#""cursor" must be the "nextCursor" of an earlier page"#))
}
