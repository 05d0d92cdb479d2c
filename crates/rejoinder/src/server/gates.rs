//! Which items a caller sees: an item behind a closed gate is like one that does not exist.

// Where gates take part, a list, a call and a completion are a future: it runs the gates in a call of their own, which
// becomes the call of the function if they are open, so that both share what resolvers made and deferred. An unknown name
// takes the same way, so that neither the answer nor the time shows whether there is something behind a gate.

use std::{
    any::TypeId,
    collections::{BTreeMap, btree_map},
    panic::AssertUnwindSafe,
    sync::Arc,
};

use futures_util::{FutureExt, future::join_all};
use tokio::time::timeout;

use super::{
    CompleteArgument, Exchange, Operation, Refusal, Running, Started, Target, TargetKind,
    door::shortened,
    engine::Engine,
    registry::{Candidate, Registry},
};
use crate::{
    BoxFuture,
    auth::Held,
    call::{Call, CallEnd, RequestInfo},
    error::{CallError, Halt, Panicked},
    graph::Gate,
};

/// Which gates are open for a caller. There are few, so that a tree is faster than a hash.
#[derive(Debug, Default)]
pub(super) struct OpenGates(BTreeMap<TypeId, bool>);

impl OpenGates {
    pub(super) fn contains(&self, gate: &Gate) -> bool {
        self.0.get(&gate.type_id()) == Some(&true)
    }

    /// Whether all of these are open.
    pub(super) fn all(&self, gates: &[Gate]) -> bool {
        gates.iter().all(|gate| self.contains(gate))
    }
}

impl Engine {
    /// Whether gates decide about an operation, or could have if its item existed or were another one.
    pub(super) fn is_gated(&self, operation: &Operation) -> bool {
        let registry = self.registry();
        match operation {
            Operation::Discover | Operation::Listen(_) => false,
            Operation::List(list, _) => !registry.gates(list.kind()).is_empty(),
            Operation::Call(Target { kind, .. }) | Operation::Complete(CompleteArgument { kind, .. }) => {
                !registry.gates(*kind).is_empty()
            }
        }
    }

    /// Runs the gates of an operation, and then the rest of it.
    pub(super) async fn gated(
        self: Arc<Self>,
        operation: Operation,
        request: RequestInfo,
        exchange: Exchange,
    ) -> Result<Started, Refusal> {
        // First, so that a server that is busy refuses what is hidden and what is unknown in the same way.
        // Dropping it runs what the gates deferred.
        let mut running = self.begin(request)?;
        let call = running.call().clone();
        call.outbox().mute(true);
        let started = self.start_gated(operation, exchange, &call, &mut running).await;
        match started {
            Ok(Some(listed)) => {
                running.close(CallEnd::Succeeded).await;
                Ok(listed)
            }
            Ok(None) => {
                call.outbox().mute(false);
                Ok(Started::Running(running))
            }
            Err(refusal) => {
                running.close(CallEnd::Failed).await;
                Err(refusal)
            }
        }
    }

    /// Decides whether a request that listens hears about a resource; `None` if every one does.
    pub(super) fn screen(self: &Arc<Self>, uri: &str, request: RequestInfo) -> Option<BoxFuture<'static, bool>> {
        let found = self.registry().find(TargetKind::Resource, uri);
        if found.is_empty() || found.iter().any(|candidate| candidate.entry.gates().is_empty()) {
            return None;
        }
        let engine = Arc::clone(self);
        Some(Box::pin(async move {
            let call = Call::new(request, Arc::clone(&engine.dependencies));
            let running = Running::new(call.clone(), (engine.calls.token(), Held::default()));
            call.outbox().mute(true);
            let mut gates = Deciding::new(&engine, &call);
            let visible = gates.visible(TargetKind::Resource, found).await;
            running.close(CallEnd::Succeeded).await;
            !visible.is_empty()
        }))
    }

    /// Starts an operation, if its gates are open; `None` if it runs.
    async fn start_gated(
        self: &Arc<Self>,
        operation: Operation,
        exchange: Exchange,
        call: &Call,
        running: &mut Running,
    ) -> Result<Option<Started>, Refusal> {
        let mut gates = Deciding::new(self, call);
        match operation {
            Operation::List(list, cursor) => {
                gates.decide_all(list.kind()).await;
                self.list(list, cursor.as_deref(), &gates.open).map(Some)
            }
            Operation::Complete(argument) => {
                let found = gates.registry.get(argument.kind, &argument.name).map(Candidate::from);
                let found = gates.visible(argument.kind, found.into_iter().collect()).await.pop();
                self.start_completion(found.map(|found| found.entry), argument, running).map(|()| None)
            }
            Operation::Call(target) => {
                let found = gates.registry.find(target.kind, &target.name);
                let found = gates.visible(target.kind, found).await;
                if found.is_empty() {
                    // For what is hidden and for what is unknown, so that the time says nothing. A URI may contain secrets.
                    let name = (target.kind != TargetKind::Resource).then(|| shortened(&target.name));
                    tracing::info!(name, "refused a call: there is no such {} for this caller", target.kind.noun());
                    return Err(self.unknown(&target, &gates.open));
                }
                self.start_call(target, found, exchange, running).map(|()| None)
            }
            Operation::Discover | Operation::Listen(_) => unreachable!("no gate decides about these"),
        }
    }
}

/// The gates that have decided about one request.
struct Deciding<'a> {
    engine: &'a Engine,
    registry: Arc<Registry>,
    call: &'a Call,
    open: OpenGates,
}

impl<'a> Deciding<'a> {
    fn new(engine: &'a Engine, call: &'a Call) -> Self {
        Self { engine, registry: engine.registry(), call, open: OpenGates::default() }
    }

    /// Those that are there for the caller. If none is, all gates run, as they do where there is nothing of that name.
    async fn visible(&mut self, kind: TargetKind, found: Vec<Candidate>) -> Vec<Candidate> {
        let gates: Vec<Gate> = found.iter().flat_map(|found| found.entry.gates()).copied().collect();
        self.decide(kind, &gates).await;
        let visible: Vec<_> = found.into_iter().filter(|found| self.open.all(found.entry.gates())).collect();
        if visible.is_empty() {
            self.decide_all(kind).await;
        }
        visible
    }

    async fn decide_all(&mut self, kind: TargetKind) {
        let registry = Arc::clone(&self.registry);
        self.decide(kind, registry.gates(kind)).await;
    }

    /// Runs those of these gates that have not run, concurrently.
    async fn decide(&mut self, kind: TargetKind, gates: &[Gate]) {
        let is_new = |gate: &&Gate| match self.open.0.entry(gate.type_id()) {
            btree_map::Entry::Vacant(verdict) => !*verdict.insert(false),
            btree_map::Entry::Occupied(_) => false,
        };
        let gates: Vec<&Gate> = gates.iter().filter(is_new).collect();
        let verdicts = join_all(gates.iter().map(|gate| self.run(gate))).await;
        for (gate, verdict) in gates.into_iter().zip(verdicts) {
            if let Err(reason) = &verdict {
                let mut behind = self.registry.behind(kind, gate);
                let shown: Vec<&str> = behind.by_ref().take(5).collect();
                let more = behind.count();
                let (gate, shown) = (gate.shown(), shown.join("`, `"));
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                tracing::warn!(reason, "the gate `{gate}` failed, so it hides the {} `{shown}`{more}", kind.noun());
            }
            self.open.0.insert(gate.type_id(), verdict == Ok(true));
        }
    }

    /// Runs a gate; an error is why it failed.
    async fn run(&self, gate: &Gate) -> Result<bool, String> {
        let running = AssertUnwindSafe(gate.decide(self.call)).catch_unwind();
        let decided = match self.engine.options.timeout {
            None => running.await,
            Some(limit) => match timeout(limit, running).await {
                Ok(decided) => decided,
                Err(_) => Ok(Err(Halt::TimedOut(limit))),
            },
        };
        match decided.map_err(Panicked::from) {
            Ok(Ok(is_open)) => Ok(is_open),
            // Its text is the author's code, too.
            Ok(Err(halt)) => match halt.into_error().map(CallError::into_text) {
                Some(Ok(error)) => Err(error.to_string()),
                Some(Err(Panicked)) => Err("its error panicked".to_owned()),
                None => Err("it asks".to_owned()),
            },
            Err(Panicked) => Err("it panicked".to_owned()),
        }
    }
}
