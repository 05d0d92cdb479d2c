//! Which items a caller sees: an item behind a closed gate is like one that does not exist.

// Where gates take part, a list, a call and a completion are a future: it runs the gates in a call of their own, which
// becomes the call of the function if they are open, so that both share what resolvers made and deferred. An unknown name
// takes the same way, so that neither the answer nor the time shows whether there is something behind a gate.

use std::{
    any::TypeId,
    collections::BTreeSet,
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, CatchUnwind},
};
use tokio::time::sleep;

use super::{
    CompleteArgument, Exchange, List, Operation, Page, Refusal, Running, Started, Target, TargetKind,
    door::Entrant,
    engine::Engine,
    registry::{Candidate, Registry},
    shortened,
};
use crate::{
    auth::Held,
    call::{Call, CallEnd, Halt},
    error::{CallError, Panicked},
    graph::Gate,
    request::RequestInfo,
};

/// How long gates may take together, unless [`Server::timeout`](crate::Server::timeout) says otherwise.
const GATE_TIMEOUT: Duration = Duration::from_secs(5);

/// Which gates are open for a caller. There are few, so that a tree is faster than a hash.
#[derive(Debug, Default)]
pub(super) struct OpenGates(BTreeSet<TypeId>);

impl OpenGates {
    pub(super) fn contains(&self, gate: &Gate) -> bool {
        self.0.contains(&gate.type_id())
    }

    /// Whether all of these are open.
    pub(super) fn all(&self, gates: &[Gate]) -> bool {
        gates.iter().all(|gate| self.contains(gate))
    }
}

/// What one operation sees: what the server offered when it came, and which gates are open for its caller. Nothing of it is
/// read twice, so an item that changes meanwhile is never called without its gate.
pub(super) struct View {
    registry: Arc<Registry>,
    /// The items that the operation is about, if any.
    kind: Option<TargetKind>,
    /// Those that it names, whether or not they are there for the caller.
    found: Vec<Candidate>,
    open: OpenGates,
}

impl View {
    /// What an operation sees before any gate is open.
    pub(super) fn new(registry: Arc<Registry>, operation: &Operation) -> Self {
        let (kind, found) = match operation {
            Operation::Discover | Operation::Listen(_) | Operation::Task(..) => (None, Vec::new()),
            Operation::List(list, _) => (Some(list.kind()), Vec::new()),
            Operation::Call(target) => (Some(target.kind), registry.find(target.kind, &target.name)),
            Operation::Complete(CompleteArgument { kind, name, .. }) => {
                (Some(*kind), registry.get(*kind, name).map(Candidate::from).into_iter().collect())
            }
        };
        Self { registry, kind, found, open: OpenGates::default() }
    }

    /// Whether gates decide about the operation, or could have if its item existed or were another one.
    pub(super) fn is_gated(&self) -> bool {
        self.kind.is_some_and(|kind| !self.registry.gates(kind).is_empty())
    }

    /// Whether what the operation names is there for the caller.
    fn shows_any(&self) -> bool {
        self.found.iter().any(|found| self.open.all(found.entry.gates()))
    }

    /// What the operation names, as far as it is there for the caller.
    pub(super) fn visible(&mut self) -> Vec<Candidate> {
        let mut found = std::mem::take(&mut self.found);
        found.retain(|found| self.open.all(found.entry.gates()));
        found
    }

    /// What the operation names, whatever its gates say: they have decided before.
    pub(super) fn found(&mut self) -> Vec<Candidate> {
        std::mem::take(&mut self.found)
    }

    /// A page of a list; `None` if there is no such cursor.
    pub(super) fn page(&self, list: List, cursor: Option<&str>, page_size: usize) -> Option<Page> {
        self.registry.page(list, cursor, &self.open, page_size)
    }

    /// The refusal for an item that does not exist. Its suggestion names only items that are there for the caller.
    pub(super) fn unknown(&self, Target { kind, name, .. }: Target, engine: &Engine) -> Refusal {
        // For what is hidden and for what is unknown, so that the time says nothing.
        if self.is_gated()
            && let Some(times) = engine.activity.refusals.due(kind.noun().into())
        {
            // A URI may contain secrets.
            let name = (kind != TargetKind::Resource).then(|| shortened(&name));
            tracing::info!(name, times, "refused a call: there is no such {} for this caller", kind.noun());
        }
        let similar = self.registry.similar(kind, &name, &self.open);
        Refusal::Unknown { kind, name, similar }
    }

    /// Runs the gates, all at once. What is open waits for its own gates only. What is hidden waits for all gates of its kind, as
    /// what is unknown does, so that the time does not tell them apart.
    async fn decide(&mut self, call: &Call, engine: &Engine) {
        let Some(kind) = self.kind else { return };
        let limit = engine.settings.options.timeout.unwrap_or(GATE_TIMEOUT);
        let registry = Arc::clone(&self.registry);
        let (own, others): (Vec<_>, Vec<_>) = registry.gates(kind).iter().partition(|gate| self.is_own(gate));
        let mut own = Undecided::new(&own, call);
        let (mut rest, mut time_is_up) = (None, None);
        let timed_out = poll_fn(|cx| {
            if own.poll(cx, self, (kind, engine)) && self.shows_any() {
                return Poll::Ready(false);
            }
            let rest = rest.get_or_insert_with(|| Undecided::new(&others, call));
            if rest.poll(cx, self, (kind, engine)) && own.0.is_empty() {
                return Poll::Ready(false);
            }
            // Most gates decide at once and need no timer.
            time_is_up.get_or_insert_with(|| Box::pin(sleep(limit))).as_mut().poll(cx).map(|()| true)
        });
        let timed_out = timed_out.await;
        for (gate, running) in own.0.into_iter().chain(rest.into_iter().flat_map(|rest| rest.0)) {
            if timed_out {
                self.decided((kind, engine), gate, Ok(Err(Halt::TimedOut(limit))));
            }
            // It holds values of the author, whose `Drop` may panic; the panic's own message is in the log.
            let _ = Panicked::catch(|| drop(running));
        }
    }

    /// Whether a gate is one of what the operation names.
    fn is_own(&self, gate: &Gate) -> bool {
        let mut own = self.found.iter().flat_map(|found| found.entry.gates());
        own.any(|own| own.type_id() == gate.type_id())
    }

    /// Opens a gate, if that is what it decided.
    fn decided(
        &mut self,
        (kind, engine): (TargetKind, &Engine),
        gate: &Gate,
        decided: Result<Result<bool, Halt>, Panicked>,
    ) {
        let reason = match decided {
            Ok(Ok(true)) => {
                self.open.0.insert(gate.type_id());
                return;
            }
            Ok(Ok(false)) => return,
            // Its text is the author's code, too.
            Ok(Err(halt)) => match halt.into_error().map(CallError::into_text) {
                Some(Ok(error)) => error.to_string(),
                Some(Err(Panicked)) => "its error panicked".to_owned(),
                None => "it asks".to_owned(),
            },
            Err(Panicked) => "it panicked".to_owned(),
        };
        let Some(times) = engine.activity.refusals.due(gate.shown()) else { return };
        let mut behind = self.registry.behind(kind, gate);
        let shown: Vec<&str> = behind.by_ref().take(5).collect();
        let more = behind.count();
        let (gate, shown) = (gate.shown(), shown.join("`, `"));
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        tracing::warn!(reason, times, "the gate `{gate}` failed, so it hides the {} `{shown}`{more}", kind.noun());
    }
}

/// Gates that have not decided yet.
struct Undecided<'a>(Vec<(&'a Gate, RunningGate<'a>)>);

type RunningGate<'a> = CatchUnwind<AssertUnwindSafe<BoxFuture<'a, Result<bool, Halt>>>>;

impl<'a> Undecided<'a> {
    fn new(gates: &[&'a Gate], call: &'a Call) -> Self {
        let run = |gate: &&'a Gate| (*gate, AssertUnwindSafe(gate.decide(call).boxed()).catch_unwind());
        Self(gates.iter().map(run).collect())
    }

    /// Notes what they decide; `true` when all have.
    fn poll(&mut self, cx: &mut Context<'_>, view: &mut View, at: (TargetKind, &Engine)) -> bool {
        self.0.retain_mut(|(gate, running)| match running.poll_unpin(cx) {
            Poll::Ready(decided) => {
                view.decided(at, gate, decided.map_err(Panicked::from));
                false
            }
            Poll::Pending => true,
        });
        self.0.is_empty()
    }
}

impl Engine {
    /// Runs the gates of an operation, and then the rest of it.
    pub(super) async fn gated(
        self: Arc<Self>,
        mut view: View,
        operation: Operation,
        mut entrant: Entrant,
        exchange: Exchange,
    ) -> Result<Started, Refusal> {
        // First, so that a server that is busy refuses what is hidden and what is unknown in the same way.
        // Dropping it runs what the gates deferred.
        let call = entrant.begin(&self)?.call().clone();
        call.outbox().mute(true);
        view.decide(&call, &self).await;
        let entered = self.enter(view, operation, &mut entrant, exchange);
        let end = if entered.is_ok() { CallEnd::Succeeded } else { CallEnd::Failed };
        if let Some(running) = entrant.running {
            // It is not a call that runs now.
            running.close(end).await;
        } else {
            call.outbox().mute(false);
        }
        entered
    }

    /// Decides whether a request that listens hears about a resource; `None` if every one does.
    pub(super) fn screen(self: &Arc<Self>, uri: &str, request: RequestInfo) -> Option<BoxFuture<'static, bool>> {
        let (registry, kind) = (self.registry(), TargetKind::Resource);
        let found = registry.find(kind, uri);
        if found.is_empty() || found.iter().any(|candidate| candidate.entry.gates().is_empty()) {
            return None;
        }
        let engine = Arc::clone(self);
        let mut view = View { registry, kind: Some(kind), found, open: OpenGates::default() };
        Some(Box::pin(async move {
            let call = Call::new(request, Arc::clone(&engine.offer.dependencies), Arc::default());
            let running = Running::new(call.clone(), (engine.activity.calls.token(), Held::default()));
            call.outbox().mute(true);
            view.decide(&call, &engine).await;
            running.close(CallEnd::Succeeded).await;
            view.shows_any()
        }))
    }
}
