//! The door: every operation, from every transport and in both eras, passes through [`Engine::start`].
//!
//! What must hold for every call is written here, once and in this order: the caller, the middleware, the item, the state,
//! the arguments, the run. Other code of the author (a `Deserialize`, a resolver, the function) runs only in the last two.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};

use tokio_util::task::TaskTracker;

use super::{
    CacheHints, ChangeFilter, Contents, Listener, Operation, Page, Refusal, Running, Target, TargetKind,
    engine::Engine,
    gates::View,
    middleware::{OperationRequest, Wrapped},
    registry::Candidate,
};
use crate::{
    argument::ArgumentErrors,
    auth::{BudgetFull, Held, Principal},
    call::{Call, CallRecord, InputResponses, Outbox, Utf8Bytes},
    error::Panicked,
    item::ItemFunction,
    reply::FunctionRun,
    request::{CallerSource, RequestInfo},
    rounds::{SessionCarrier, SessionClient, StatelessCarrier, TaskCarrier, seal::StateRefusal},
    tasks::{TaskOptions, TaskSnapshot},
};

/// How the questions of a call travel, and what came back with this request.
pub(crate) enum Exchange {
    /// With the reply, and back with a retry.
    Stateless {
        /// The `requestState`.
        state: Option<Utf8Bytes>,
        /// The `inputResponses`.
        answers: Option<InputResponses>,
        /// Whether the headers repeat arguments.
        repeats_arguments: bool,
    },
    /// Over a live session.
    Session(Arc<dyn SessionClient>),
    /// They park a task, whose run this is.
    Task(Box<(TaskCarrier, CallRecord)>),
}

impl Exchange {
    /// About how many bytes of memory it takes.
    fn size(&self) -> usize {
        let Self::Stateless { state, answers, .. } = self else { return 0 };
        let answers = answers.iter().flatten().map(|(key, answer)| key.len() + answer.get().len());
        state.as_ref().map_or(0, |state| state.len()) + answers.sum::<usize>()
    }
}

/// An operation that has passed the door.
pub(crate) enum Started {
    /// The client wants to know what the server is.
    Discovered,
    /// A page of a list.
    Listed(Page),
    /// A call, or a completion.
    Running(Box<Running>),
    /// A subscription to changes, with its filter until the client knows it.
    Listening(Box<(Listener, Option<ChangeFilter>)>),
    /// A task, as it is now.
    Task(Box<TaskSnapshot>),
    /// What the client wants of a task is done.
    Acknowledged,
    /// Any of these, with middleware around it.
    Wrapped(Box<Wrapped>),
    /// Any of these, when it is known: gates decide about a list, a call or a completion first, and a task is read.
    Later(BoxFuture<'static, Result<Started, Refusal>>),
}

/// A request at the door, and its call when that has begun. Gates run in the call.
pub(super) struct Entrant {
    request: Option<RequestInfo>,
    /// Where its call puts what it emits; with middleware it is there before the call.
    outbox: Option<Arc<Outbox>>,
    pub(super) running: Option<Box<Running>>,
}

impl Entrant {
    /// The call, with a place among those that may run at once. Nothing of its function runs yet.
    pub(super) fn begin(&mut self, engine: &Engine) -> Result<&mut Running, Refusal> {
        let place = |request: &RequestInfo| engine.activity.budgets.calls.take(request.principal.as_ref(), 1);
        self.begin_in(engine, place, &engine.activity.calls)
    }

    /// The same for a run of a task: how many run at once is not up to the caller.
    fn begin_run(&mut self, engine: &Engine) -> Result<&mut Running, Refusal> {
        self.begin_in(engine, |_| Ok(Held::default()), &engine.activity.tasks.runs)
    }

    fn begin_in(
        &mut self,
        engine: &Engine,
        place: impl FnOnce(&RequestInfo) -> Result<Held, BudgetFull>,
        counted: &TaskTracker,
    ) -> Result<&mut Running, Refusal> {
        if let Some(request) = self.request.take() {
            let slot = (counted.token(), place(&request)?);
            let outbox = self.outbox.take().unwrap_or_default();
            let call = Call::new(request, Arc::clone(&engine.offer.dependencies), outbox);
            self.running = Some(Running::new(call, slot));
        }
        Ok(self.running.as_mut().expect("it had a request, or has begun"))
    }
}

impl Engine {
    /// Starts an operation. A check for every call is a line here.
    pub(crate) fn start(
        self: &Arc<Self>,
        operation: Operation,
        mut request: RequestInfo,
        exchange: Exchange,
    ) -> Result<Started, Refusal> {
        if self.is_stopping() {
            return Err(Refusal::Stopping);
        }
        let is_run = matches!(exchange, Exchange::Task(_));
        // 1. The caller, and the room for what it sent, which is held until the operation is over. The caller of a task was
        // known when it was made.
        if !is_run {
            self.identify(&mut request)?;
            let bytes = operation.size() + request.size() + exchange.size();
            let held = self.activity.budgets.bytes.take(request.principal.as_ref(), bytes)?;
            request.held = held.is_counted().then(|| Arc::new(held));
        }
        // 2. The middleware, around everything below.
        if !self.settings.options.middleware.0.is_empty() {
            let dependencies = Arc::clone(&self.offer.dependencies);
            let is_retry = is_run || matches!(&exchange, Exchange::Stateless { state: Some(_), .. });
            let request = OperationRequest { info: request, operation, dependencies, is_retry, is_run };
            return Ok(Started::Wrapped(Box::new(Wrapped::new(self, request, exchange))));
        }
        self.pass(operation, request, exchange, None)
    }

    /// The door behind the middleware.
    pub(super) fn pass(
        self: &Arc<Self>,
        operation: Operation,
        request: RequestInfo,
        exchange: Exchange,
        outbox: Option<Arc<Outbox>>,
    ) -> Result<Started, Refusal> {
        // 3. The item. Where gates decide about it, the rest comes later; what they hide does not exist.
        let view = View::new(self.registry(), &operation);
        let mut entrant = Entrant { request: Some(request), outbox, running: None };
        if view.is_gated() && !matches!(exchange, Exchange::Task(_)) {
            return Ok(Started::Later(Box::pin(Arc::clone(self).gated(view, operation, entrant, exchange))));
        }
        self.enter(view, operation, &mut entrant, exchange)
    }

    /// Starts an operation on what there is for its caller.
    pub(super) fn enter(
        self: &Arc<Self>,
        mut view: View,
        operation: Operation,
        entrant: &mut Entrant,
        exchange: Exchange,
    ) -> Result<Started, Refusal> {
        match operation {
            Operation::Discover => return Ok(Started::Discovered),
            Operation::List(list, cursor) => {
                let page = view.page(list, cursor.as_deref(), self.settings.options.page_size);
                return page.map(Started::Listed).ok_or(Refusal::UnknownCursor);
            }
            Operation::Listen(filter) if !filter.tasks.is_empty() => {
                let request = declaring(entrant.request.take().unwrap_or_default())?;
                return Ok(Started::Later(Box::pin(Arc::clone(self).listen_to_tasks(filter, request))));
            }
            Operation::Task(id, operation) => {
                let request = declaring(entrant.request.take().unwrap_or_default())?;
                return Ok(Started::Later(Box::pin(Arc::clone(self).task(id, operation, request))));
            }
            Operation::Listen(filter) => {
                let listener = self.listen(filter.clone(), entrant.request.take().unwrap_or_default())?;
                return Ok(Started::Listening(Box::new((listener, Some(filter)))));
            }
            Operation::Complete(argument) => {
                self.start_completion(view.visible().pop(), argument, entrant.begin(self)?)?;
            }
            Operation::Call(target) => {
                let is_run = matches!(exchange, Exchange::Task(_));
                let found = if is_run { view.found() } else { view.visible() };
                if found.is_empty() {
                    return Err(view.unknown(target, self));
                }
                let running = if is_run { entrant.begin_run(self)? } else { entrant.begin(self)? };
                self.start_call(target, found, exchange, running)?;
            }
        }
        Ok(Started::Running(entrant.running.take().expect("it has begun")))
    }

    /// Starts a call of what was found, whose gates are open. A check that needs the item is a line here.
    pub(super) fn start_call(
        self: &Arc<Self>,
        target: Target,
        found: Vec<Candidate>,
        exchange: Exchange,
        running: &mut Running,
    ) -> Result<(), Refusal> {
        let request = running.call().request();
        if !matches!(exchange, Exchange::Task(_)) {
            check_scopes(found.iter().flat_map(|candidate| &candidate.entry.item.function().scopes), request)?;
            check_param_headers(&found, &target, request, &exchange)?;
        }
        let task = task_of(&found, request, &exchange)?;
        // 4. The state: what earlier rounds of the call recorded.
        let (is_retry, spend) = self.open(&target, task, exchange, running.call())?;
        // 5. The arguments, and 6. the function.
        running.start(CallSource { engine: Arc::clone(self), found, target, is_retry }, spend)
    }

    /// Identifies the caller, once. `Server::principal` overrides the other sources.
    pub(crate) fn identify(&self, request: &mut RequestInfo) -> Result<(), Refusal> {
        let source = std::mem::replace(&mut request.caller_source, CallerSource::Known);
        match source {
            CallerSource::Http => {
                let http = request.http.as_deref();
                request.principal = http.and_then(|(_, extensions)| extensions.get::<Principal>()).cloned();
            }
            CallerSource::Stdio => request.principal.clone_from(&self.settings.options.stdio_principal),
            CallerSource::Known => {}
        }
        if let (true, Some(who)) = (source != CallerSource::Known, &self.settings.options.principal.0) {
            let caller = Panicked::catch(|| who(request));
            request.principal = caller.map_err(|Panicked| Refusal::Panicked("Server::principal"))?;
        }
        // A connection may outlive the credentials that it was opened with.
        if request.principal.as_ref().is_some_and(Principal::is_expired) {
            return Err(Refusal::Expired);
        }
        Ok(())
    }

    /// Opens the state of the request for its call. An invalid state is refused even if the item never asks. Returns whether
    /// the round continues a call, and what marks a state that can be used once as used.
    fn open(
        &self,
        target: &Target,
        task: Option<(&ItemFunction, TaskOptions)>,
        exchange: Exchange,
        call: &Call,
    ) -> Result<(bool, Option<Spending>), Refusal> {
        let rules = Arc::clone(&self.settings.record_rules);
        let principal = call.request().principal.clone();
        let (state, answers) = match exchange {
            Exchange::Session(client) => {
                let (share, bytes) = (self.activity.budgets.questions.clone(), self.activity.budgets.bytes.clone());
                let carrier = SessionCarrier { client, share, bytes, caller: principal };
                call.carry(Box::new(carrier), rules, None);
                return Ok((false, None));
            }
            Exchange::Task(run) => {
                let (carrier, record) = *run;
                call.carry(Box::new(carrier), Arc::clone(&self.activity.tasks.record_rules), Some(record));
                return Ok((true, None));
            }
            Exchange::Stateless { state, answers, .. } => (state, answers),
        };
        let method = target.kind.method();
        let (name, arguments) = (target.name.clone(), target.arguments.clone());
        let mut carrier =
            StatelessCarrier::new(Arc::clone(&self.settings.seal), method, name, arguments, principal.clone());
        let opened = state.map(|state| carrier.open(&state)).transpose().map_err(|_| Refusal::InvalidState)?;
        let is_retry = opened.is_some() || answers.is_some();
        let recorded = opened.as_ref().map(|opened| CallRecord::read(&opened.state).ok_or(StateRefusal::Record));
        let recorded = recorded.transpose().map_err(|reason| {
            self.settings.seal.log_refusal(reason, method);
            Refusal::InvalidState
        })?;
        let record = is_retry.then(|| {
            let mut record = recorded.unwrap_or_default();
            record.begin_round(answers.unwrap_or_default());
            record
        });
        match task {
            Some((function, options)) => {
                let birth =
                    self.birth(target, call.request(), (&function.headers(), options), (carrier, opened.as_ref()));
                call.carry(Box::new(birth), rules, record);
            }
            None => call.carry(Box::new(carrier), rules, record),
        }
        let spend = opened.filter(|_| self.settings.seal.is_single_use()).map(|opened| -> Spending {
            let seal = Arc::clone(&self.settings.seal);
            Box::pin(async move {
                let spending = AssertUnwindSafe(seal.spend(method, &opened, principal.as_ref())).catch_unwind();
                let spent = spending.await.map_err(Panicked::from);
                let spent = spent.map_err(|Panicked| Refusal::Panicked("the replay store"))?;
                spent.map_err(|reason| match reason {
                    StateRefusal::CallerLimit(full) => full.into(),
                    _ => Refusal::InvalidState,
                })
            })
        });
        Ok((is_retry, spend))
    }
}

/// How a call runs as a task, if it does. A client without tasks gets a plain call, unless the tool runs as a task only.
fn task_of<'a>(
    found: &'a [Candidate],
    request: &RequestInfo,
    exchange: &Exchange,
) -> Result<Option<(&'a ItemFunction, TaskOptions)>, Refusal> {
    let function = found.first().map(|candidate| candidate.entry.item.function());
    let Some((function, options)) = function.and_then(|function| Some((function, function.task?))) else {
        return Ok(None);
    };
    match exchange {
        Exchange::Stateless { .. } if request.capabilities.tasks => Ok(Some((function, options))),
        Exchange::Stateless { .. } | Exchange::Session(_) if options.is_required => Err(Refusal::NeedsTasks),
        _ => Ok(None),
    }
}

/// The request, if it declares tasks.
fn declaring(request: RequestInfo) -> Result<RequestInfo, Refusal> {
    if request.capabilities.tasks { Ok(request) } else { Err(Refusal::NeedsTasks) }
}

/// Checks that the caller may do what the item is for. Where several templates match a URI, it must be allowed all of them.
pub(super) fn check_scopes<'a>(
    needed: impl Iterator<Item = &'a String> + Clone,
    request: &RequestInfo,
) -> Result<(), Refusal> {
    let has = |scope: &String| request.principal.as_ref().is_some_and(|caller| caller.has_scope(scope));
    if needed.clone().all(has) { Ok(()) } else { Err(Refusal::InsufficientScope(needed.cloned().collect())) }
}

/// Checks the headers that repeat arguments.
fn check_param_headers(
    found: &[Candidate],
    target: &Target,
    request: &RequestInfo,
    exchange: &Exchange,
) -> Result<(), Refusal> {
    let (Exchange::Stateless { repeats_arguments: true, .. }, Some(headers)) = (exchange, request.headers()) else {
        return Ok(());
    };
    let mut mirrored = found.iter().flat_map(|candidate| &candidate.entry.param_headers);
    let sent = target.sent.as_ref().unwrap_or(&target.arguments);
    mirrored.try_for_each(|header| header.check(headers, sent.as_deref())).map_err(Refusal::HeaderMismatch)
}

/// Marks a state that can be used once as used.
pub(super) type Spending = BoxFuture<'static, Result<(), Refusal>>;

/// What a function and its arguments are read from.
#[derive(Debug)]
pub(super) struct CallSource {
    engine: Arc<Engine>,
    /// The first whose parameters can be read is called.
    found: Vec<Candidate>,
    pub(super) target: Target,
    is_retry: bool,
}

impl CallSource {
    /// The name of what is called, or its URI template, for the log: a URI may contain secrets.
    pub(super) fn item(&self) -> Option<&str> {
        self.found.first().map(|candidate| candidate.entry.item.name())
    }

    /// How long a round may take at most: which template is called is known when the arguments are read.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let of =
            |candidate: &Candidate| candidate.entry.item.function().timeout.or(self.engine.settings.options.timeout);
        self.found.iter().map(of).max()?
    }

    /// Logs that the time of a round was up before the replay store answered.
    pub(super) fn log_hanging_store(&self) {
        self.engine.settings.seal.log_refusal(StateRefusal::Store, self.target.kind.method());
    }

    /// Drops the arguments that were read, unless they are read again.
    pub(super) fn forget_arguments(&mut self) {
        if !self.found.iter().any(|candidate| candidate.entry.item.function().by_hand) {
            (self.target.arguments, self.target.sent) = (None, None);
        }
    }

    /// The function with its arguments, what the reply says about contents, and how long a round may take.
    pub(super) fn read(&self, call: &Call) -> Result<(FunctionRun, Option<Contents>, Option<Duration>), Refusal> {
        let (options, Target { kind, name, arguments, .. }) = (&self.engine.settings.options, &self.target);
        let arguments = arguments.as_deref().unwrap_or("{}");
        let mut broken = None;
        for candidate in &self.found {
            match candidate.read(arguments, options, call) {
                Some(Ok(run)) => {
                    let mut contents = candidate.entry.contents(&options.contents_hints);
                    if let Some(contents) = contents.as_mut().filter(|_| self.is_retry) {
                        // They may contain what the user answered: for this caller, and not to be kept.
                        contents.hints = CacheHints::CONTENTS;
                    }
                    let timeout = candidate.entry.item.function().timeout.or(options.timeout);
                    return Ok((run, contents, timeout));
                }
                // A value of another type means that the template does not have this URI.
                Some(Err(bad)) if *kind == TargetKind::Resource => {
                    broken = broken.or(Some(bad).filter(ArgumentErrors::only_break_rules));
                }
                Some(Err(bad)) => return Err(Refusal::BadArguments { kind: *kind, bad }),
                None => return Err(Refusal::NotArguments(*kind)),
            }
        }
        Err(match broken {
            Some(bad) => Refusal::BadArguments { kind: *kind, bad },
            None => Refusal::Unknown { kind: *kind, name: name.clone(), similar: None },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;
    use crate::prelude::*;

    #[resolver]
    fn is_closed() -> bool {
        false
    }

    #[tool(enabled = is_closed)]
    async fn vault() -> &'static str {
        "gold"
    }

    #[tokio::test]
    async fn what_is_added_behind_a_gate_while_it_is_called_does_not_run_without_the_gate() {
        let server = Server::new("bank", "1").tools([]).build().expect("a good server");
        let (engine, handle) = (Arc::clone(&server.0), server.handle());
        let is_over = AtomicBool::new(false);
        thread::scope(|threads| {
            threads.spawn(|| {
                for _ in 0..20_000 {
                    handle.add_tools(tools![vault]).expect("a good tool");
                    handle.remove_tool("vault");
                }
                is_over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {
                let name = Utf8Bytes::from("vault");
                let call = Operation::Call(Target { kind: TargetKind::Tool, name, arguments: None, sent: None });
                let exchange = Exchange::Stateless { state: None, answers: None, repeats_arguments: false };
                let started = engine.start(call, RequestInfo::default(), exchange);
                assert!(!matches!(started, Ok(Started::Running(_))), "no gate was asked");
            }
        });
    }
}
