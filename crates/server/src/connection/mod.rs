//! Where protocol and tools meet: a message goes to the session, what follows from it is run, and its
//! outcome goes back through the session to the outbox. It knows no HTTP and no frames.
//!
//! A step of the session and the note of the call that it begins are under one lock, so that a cancellation
//! always finds its call. Handlers run outside of that lock.

mod hub;
mod outbox;
mod sessions;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll, Waker};
use std::time::Duration;

use jumpseat_proto::{
    Call, Envelope, ErrorCode, ErrorObject, Id, Listen, Outcome, Reply, Revision, Session, Step,
};

pub(crate) use hub::{Hub, Kind, Seat};
pub(crate) use outbox::{End, Outgoing, Receiver, Sender, outbox};
pub(crate) use sessions::Sessions;

use crate::listener::Entered;
use crate::server::Shared;
use crate::tools::{CallState, Caller, CatchUnwind, Running, Snapshot, Started, Transport, result};

/// One client's session, and the calls that run for it.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    transport: Transport,
    state: Mutex<State>,
}

struct State {
    session: Session,
    calls: Vec<(Id, Arc<CallState>)>,
    /// The seats of subscriptions whose stream is the response to their POST.
    seats: Vec<Seat>,
}

/// What became of a message.
pub(crate) enum Received {
    /// It needs no answer.
    Nothing,
    /// The answer.
    Reply(Reply),
    /// The answer comes through the outbox.
    Pending {
        /// It is a subscription, which stays open.
        listening: bool,
        /// When the client closes the connection, it cancels what it asked for.
        cancel_on_close: bool,
    },
}

impl Connection {
    /// A connection that did no handshake yet.
    pub(crate) fn new(shared: Arc<Shared>, transport: Transport) -> Arc<Self> {
        let session = Session::new(shared.limits().max_in_flight);
        Self::with_session(shared, transport, session)
    }

    pub(crate) fn with_session(shared: Arc<Shared>, transport: Transport, session: Session) -> Arc<Self> {
        let state = Mutex::new(State { session, calls: Vec::new(), seats: Vec::new() });
        Arc::new(Self { shared, transport, state })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn session_id(&self, random: u128) -> String {
        self.lock().session.id(random)
    }

    /// Notes that a message is being taken, before a handler can stop the server, until its reply is on its way.
    pub(crate) fn begin_work(&self) -> Entered {
        self.shared.in_flight().enter()
    }

    pub(crate) fn revision(&self) -> Revision {
        self.lock().session.revision()
    }

    /// Takes one message. What is not answered at once goes to `outbox`.
    pub(crate) fn receive(self: &Arc<Self>, text: &str, envelope: Envelope, outbox: &Sender) -> Received {
        self.shared.count_request();
        let tools = self.shared.tools().snapshot();
        let mut state = self.lock();
        let step = state.session.receive(text, envelope, tools.offer());
        let cancel_on_close = state.session.is_modern();
        let mut listening = false;
        let reply = match step {
            Step::Nothing => return Received::Nothing,
            Step::Reply(reply) => return Received::Reply(reply),
            Step::Call(call) => {
                let context = self.begin(&mut state, &call, outbox);
                drop(state);
                self.run(call, context, &tools)
            }
            Step::Cancel(id, reply) => {
                state.cancel(&id, reply);
                return Received::Nothing;
            }
            Step::Listen(listen) => {
                listening = true;
                self.listen(&mut state, listen, outbox);
                None
            }
            Step::Batch(steps) => {
                let (reply, pending) = self.batch(state, steps, outbox, &tools);
                if reply.is_none() && !pending {
                    return Received::Nothing;
                }
                reply
            }
        };
        match reply {
            Some(reply) if outbox.is_empty() => Received::Reply(reply),
            Some(reply) => {
                outbox.reply(reply);
                Received::Pending { listening, cancel_on_close }
            }
            None => Received::Pending { listening, cancel_on_close },
        }
    }

    /// Does what follows from a batch. Gives its reply when it is complete, and whether it began any calls.
    fn batch(
        self: &Arc<Self>,
        mut state: MutexGuard<State>,
        steps: Vec<Step>,
        outbox: &Sender,
        tools: &Snapshot,
    ) -> (Option<Reply>, bool) {
        let (mut begun, mut complete) = (Vec::new(), None);
        for step in steps {
            match step {
                Step::Call(call) => begun.push((self.begin(&mut state, &call, outbox), call)),
                Step::Cancel(id, reply) => {
                    begun.retain(|(_, call): &(_, Call)| call.id != id);
                    state.cancel(&id, reply);
                }
                Step::Reply(reply) => complete = Some(reply),
                // 2026-07-28, which has subscriptions, has no batches.
                Step::Listen(_) | Step::Nothing | Step::Batch(_) => {}
            }
        }
        drop(state);
        let pending = !begun.is_empty();
        for (context, call) in begun {
            complete = self.run(call, context, tools).or(complete);
        }
        (complete, pending)
    }

    fn begin(&self, state: &mut State, call: &Call, outbox: &Sender) -> Arc<CallState> {
        let caller = Caller {
            transport: self.transport,
            client: call.client.info.clone(),
            revision: call.revision.as_str(),
        };
        let context = Arc::new(CallState::new(caller, call.progress.clone(), outbox.clone()));
        state.calls.push((call.id.clone(), context.clone()));
        context
    }

    fn listen(self: &Arc<Self>, state: &mut State, listen: Listen, outbox: &Sender) {
        outbox.news(listen.acknowledgement.into());
        // A WebSocket sits in the hub already.
        if self.transport == Transport::Http {
            let seat = self.shared.hub().join(Kind::Subscription, outbox.clone(), Some(self.clone()));
            state.seats.push(seat);
        }
    }

    /// Runs a call. Gives the reply when it is done already.
    fn run(self: &Arc<Self>, call: Call, state: Arc<CallState>, tools: &Snapshot) -> Option<Reply> {
        let name = call.tool.name();
        let Some(entry) = tools.entry(name) else {
            let gone = ErrorObject::new(ErrorCode::Internal, format!("The tool {name:?} has no handler"));
            return self.finish(&call.id, &state, &Err(gone), tools);
        };
        let started = std::panic::catch_unwind(AssertUnwindSafe(|| entry.start(call.arguments, &state)));
        let mut running: Running = match started {
            Ok(Started::Done(handled)) => return self.finish(&call.id, &state, &Ok(result(handled)), tools),
            Ok(Started::Blocking(work)) => Box::pin(async move {
                let work = || std::panic::catch_unwind(AssertUnwindSafe(work));
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Box::new(error)))
            }),
            Ok(Started::Async(future)) => Box::pin(CatchUnwind(future)),
            Err(_) => return self.finish(&call.id, &state, &panicked(name), tools),
        };
        // Many async handlers are done at the first look, and need no task.
        let first_look = running.as_mut().poll(&mut task::Context::from_waker(Waker::noop()));
        if let Poll::Ready(done) = first_look {
            return self.finish(&call.id, &state, &outcome(name, done), tools);
        }
        let deadline = entry.deadline().unwrap_or(self.shared.limits().call_timeout);
        let (name, in_flight) = (name.to_owned(), self.shared.in_flight().enter());
        let connection = self.clone();
        tokio::spawn(async move {
            let _in_flight = in_flight;
            connection.run_on(&call.id, &name, &state, running, deadline).await;
        });
        None
    }

    /// Sees a call through to its outcome, its cancellation or its deadline.
    async fn run_on(&self, id: &Id, name: &str, state: &CallState, running: Running, deadline: Duration) {
        let outcome = tokio::select! {
            biased;
            () = state.cancelled() => return,
            done = running => outcome(name, done),
            () = tokio::time::sleep(deadline) => {
                state.stop();
                let message = format!("The tool {name:?} timed out after {} ms", deadline.as_millis());
                Err(ErrorObject::new(ErrorCode::Internal, message))
            }
        };
        let sender = state.sender();
        if let (Some(reply), Some(sender)) =
            (self.finish(id, state, &outcome, &self.shared.tools().snapshot()), sender)
        {
            sender.reply(reply);
        }
    }

    fn finish(&self, id: &Id, call: &CallState, outcome: &Outcome, tools: &Snapshot) -> Option<Reply> {
        let mut state = self.lock();
        // A cancelled call is not among them, and its id may be that of another request by now.
        let index = state.calls.iter().position(|(_, known)| std::ptr::eq(Arc::as_ptr(known), call))?;
        state.calls.swap_remove(index);
        // No more progress from here on. Not before the lock: a cancellation that comes first still needs the
        // sender, for the rest of the batch.
        drop(call.end());
        state.session.finish(id, outcome, tools.offer())
    }

    /// What to send on a stream because the tools have changed; `connection` is `None` for a stream that has
    /// no session behind it.
    fn tools_list_changed(connection: Option<&Self>, unasked: bool) -> Vec<String> {
        match connection {
            Some(connection) => connection.lock().session.tools_list_changed(unasked),
            None => Session::new(0).tools_list_changed(unasked),
        }
    }

    fn end_subscriptions(&self) -> Vec<String> {
        let tools = self.shared.tools().snapshot();
        self.lock().session.end_subscriptions(tools.offer())
    }

    /// The client is gone for good: cancels all that runs for it.
    pub(crate) fn close(&self) {
        let (calls, seats) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.calls), std::mem::take(&mut state.seats))
        };
        for (_, call) in &calls {
            drop(call.end());
            call.stop();
        }
        drop(seats);
    }
}

impl State {
    /// Stops a call. The `reply`, if any, is that of the batch that the call was the last of.
    fn cancel(&mut self, id: &Id, reply: Option<Reply>) {
        let Some(index) = self.calls.iter().position(|(other, _)| other == id) else { return };
        let (_, call) = self.calls.swap_remove(index);
        let sender = call.end();
        call.stop();
        if let (Some(reply), Some(sender)) = (reply, sender) {
            sender.reply(reply);
        }
    }
}

/// What came of a call at work.
fn outcome(tool: &str, done: <Running as Future>::Output) -> Outcome {
    done.map_or_else(|_| panicked(tool), |handled| Ok(result(handled)))
}

fn panicked(tool: &str) -> Outcome {
    let message = format!("The tool {tool:?} panicked: see the app's log");
    Err(ErrorObject::new(ErrorCode::Internal, message))
}
