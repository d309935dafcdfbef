//! A tool whose calls wait until the test lets them go, so that a test knows what runs when.

use std::sync::Arc;
use std::time::Duration;

use jumpseat::{Arguments, Context, Server, Tool};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, TryAcquireError};

use super::soon;

/// The three kinds of handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Inline,
    Blocking,
    Async,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Inline, Self::Blocking, Self::Async];

    pub fn name(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Blocking => "blocking",
            Self::Async => "async",
        }
    }
}

/// The calls of one such tool. When it is dropped, all of them go on.
pub struct Held {
    begun: UnboundedReceiver<Context>,
    ended: UnboundedReceiver<()>,
    gate: Arc<Semaphore>,
}

/// Says that a handler has returned, or was dropped.
struct Ended(UnboundedSender<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        // The test may be over.
        _ = self.0.send(());
    }
}

impl Held {
    /// Registers a tool that waits, and then answers its argument `text`.
    pub fn add(server: &Server, tool: Tool<Arguments, String>, kind: Kind) -> Self {
        let (contexts, begun) = unbounded_channel();
        let (ends, ended) = unbounded_channel();
        let gate = Arc::new(Semaphore::new(0));
        let held = Self { begun, ended, gate: gate.clone() };
        let enter = move |context: Context| {
            // The test may be over.
            _ = contexts.send(context);
            Ended(ends.clone())
        };
        match kind {
            Kind::Inline => server.add_inline_tool(tool, move |arguments, context| {
                let _ended = enter(context);
                pass(&gate);
                Ok(answer(&arguments))
            }),
            Kind::Blocking => server.add_blocking_tool(tool, move |arguments, context| {
                let _ended = enter(context);
                pass(&gate);
                Ok(answer(&arguments))
            }),
            Kind::Async => server.add_tool(tool, move |arguments, context| {
                let (ended, gate) = (enter(context), gate.clone());
                async move {
                    let _ended = ended;
                    if let Ok(permit) = gate.acquire().await {
                        permit.forget();
                    }
                    Ok(answer(&arguments))
                }
            }),
        }
        .unwrap();
        held
    }

    /// [`Held::add`] of a tool that has nothing but a name.
    pub fn named(server: &Server, name: &str, kind: Kind) -> Self {
        Self::add(server, Tool::text(name, "Waits"), kind)
    }

    /// Waits until the next call has begun.
    pub async fn begun(&mut self) -> Context {
        soon(self.begun.recv()).await.unwrap()
    }

    /// Whether another call has begun by now.
    pub fn has_begun(&mut self) -> bool {
        self.begun.try_recv().is_ok()
    }

    /// Waits until the handler of one more call has returned, or was dropped.
    pub async fn ended(&mut self) {
        soon(self.ended.recv()).await.unwrap();
    }

    /// Lets one call go on.
    pub fn release(&self) {
        self.gate.add_permits(1);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gate.close();
    }
}

/// Holds the thread until a call may go on.
fn pass(gate: &Semaphore) {
    loop {
        match gate.try_acquire() {
            Ok(permit) => return permit.forget(),
            Err(TryAcquireError::Closed) => return,
            Err(TryAcquireError::NoPermits) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn answer(arguments: &Arguments) -> String {
    arguments.str("text").unwrap_or_default()
}
