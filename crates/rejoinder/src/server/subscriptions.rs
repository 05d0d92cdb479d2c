//! Who listens for changes. A channel would queue a change as often as it happens; a slow listener gets it once.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker, ready},
    time::{Duration, SystemTime},
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::time::{Interval, interval};

use super::{Callback, Engine, Refusal, Started, TargetKind, registry::LONGEST_URI};
use crate::{
    auth::{Held, Principal},
    error::lock,
    request::RequestInfo,
    tasks::{TaskId, TaskSnapshot, TaskState},
};

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    List(TargetKind),
    /// The contents of a resource.
    Updated(String),
    /// Something of a task that its owner can see.
    Task(TaskId),
}

/// What a listener hears.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Change(Change),
    /// A task, as it was at this time.
    Task(Box<TaskSnapshot>, SystemTime),
}

/// The changes that a listener wants to hear about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangeFilter {
    /// Changes of the list of each [`TargetKind`].
    pub(crate) lists: [bool; 3],
    /// The URIs of resources; [`ChangeFilter::add_resource`] limits them.
    pub(crate) updated: BTreeSet<String>,
    /// The length of all these URIs.
    pub(crate) updated_bytes: usize,
    /// The ids of tasks; [`ChangeFilter::add_task`] limits them.
    pub(crate) tasks: BTreeSet<TaskId>,
}

const MOST_TASKS: usize = 1_000;

/// How often a listener looks at tasks that other processes run.
const LOOK: Duration = Duration::from_secs(2);

const MOST_RESOURCES: usize = 10_000;
const MOST_BYTES: usize = 1024 * 1024;

/// What a URI takes besides its own bytes.
const URI_OVERHEAD: usize = 64;

impl ChangeFilter {
    /// Adds updates of a resource; the error says why there are too many.
    pub(crate) fn add_resource(&mut self, uri: String) -> Result<(), String> {
        if uri.len() > LONGEST_URI {
            return Err(format!("a URI is too long (limit {LONGEST_URI} bytes)"));
        }
        if self.updated.contains(&uri) {
            return Ok(());
        }
        if self.updated.len() >= MOST_RESOURCES || self.updated_bytes + uri.len() > MOST_BYTES {
            return Err(format!(
                "too many resources (limit {MOST_RESOURCES} resources, or {MOST_BYTES} bytes of URIs)"
            ));
        }
        self.updated_bytes += uri.len();
        self.updated.insert(uri);
        Ok(())
    }

    /// Adds changes of a task; the error says why there are too many.
    pub(crate) fn add_task(&mut self, id: TaskId) -> Result<(), String> {
        if self.tasks.insert(id) && self.tasks.len() > MOST_TASKS {
            return Err(format!("too many tasks (limit {MOST_TASKS})"));
        }
        Ok(())
    }

    /// Removes updates of a resource; whether there were any.
    fn remove_resource(&mut self, uri: &str) -> bool {
        let is_removed = self.updated.remove(uri);
        self.updated_bytes -= if is_removed { uri.len() } else { 0 };
        is_removed
    }

    /// About how much memory it takes.
    fn size(&self) -> usize {
        self.updated_bytes + (self.updated.len() + self.tasks.len()) * URI_OVERHEAD
    }

    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::List(kind) => self.lists[*kind as usize],
            Change::Updated(uri) => self.updated.contains(uri),
            Change::Task(id) => self.tasks.contains(id),
        }
    }
}

/// All listeners.
#[derive(Debug, Default, Clone)]
pub(crate) struct Hub(Arc<Mutex<Listeners>>);

#[derive(Debug, Default)]
struct Listeners {
    next_id: u64,
    closed: bool,
    by_id: HashMap<u64, Waiting>,
}

impl Listeners {
    fn waiting(&mut self, id: u64) -> &mut Waiting {
        self.by_id.get_mut(&id).expect("only dropping a listener removes it")
    }
}

#[derive(Debug)]
struct Waiting {
    /// The request that listens, whose caller gates decide about.
    request: RequestInfo,
    filter: ChangeFilter,
    /// The room that the filter takes, and the request of a session.
    held: Held,
    changes: BTreeSet<Change>,
    waker: Option<Waker>,
    /// Of one that came with `subscriptions/listen`, not with a session.
    slot: Held,
}

impl Hub {
    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        lock(&self.0)
    }

    /// Reports a change to each listener that wants it.
    pub(crate) fn notify(&self, change: &Change) {
        self.notify_some(change, |_| true);
    }

    /// Reports a change to each listener that wants it and whose request is meant.
    pub(super) fn notify_some(&self, change: &Change, is_meant: impl Fn(&RequestInfo) -> bool) {
        let mut listeners = self.listeners();
        let wants = |waiting: &&mut Waiting| waiting.filter.wants(change) && is_meant(&waiting.request);
        for waiting in listeners.by_id.values_mut().filter(wants) {
            waiting.changes.insert(change.clone());
            if let Some(waker) = waiting.waker.take() {
                waker.wake();
            }
        }
    }

    /// How many listen.
    #[cfg(test)]
    pub(crate) fn subscribers(&self) -> usize {
        self.listeners().by_id.len()
    }

    /// Ends every subscription, also those that begin later.
    pub(crate) fn close(&self) {
        let mut listeners = self.listeners();
        listeners.closed = true;
        listeners.by_id.values_mut().filter_map(|waiting| waiting.waker.take()).for_each(Waker::wake);
    }
}

impl Engine {
    /// Listens for a session, which has its own limit.
    pub(crate) fn subscribe(self: &Arc<Self>, filter: ChangeFilter) -> Listener {
        let held = self.activity.budgets.bytes.hold(None);
        self.add_listener(RequestInfo::default(), (filter, held), Held::default())
    }

    /// Listens for a request, unless too many others listen or the filters are too large together.
    pub(super) fn listen(self: &Arc<Self>, filter: ChangeFilter, request: RequestInfo) -> Result<Listener, Refusal> {
        let caller = request.principal.as_ref();
        let slot = self.activity.budgets.subscriptions.take(caller, 1)?;
        let mut held = self.activity.budgets.bytes.hold(caller);
        held.grow(filter.size())?;
        Ok(self.add_listener(request.compacted(), (filter, held), slot))
    }

    fn add_listener(
        self: &Arc<Self>,
        request: RequestInfo,
        (filter, held): (ChangeFilter, Held),
        slot: Held,
    ) -> Listener {
        let mut listeners = self.offer.hub.listeners();
        let id = listeners.next_id;
        listeners.next_id += 1;
        listeners.by_id.insert(id, Waiting { request, filter, held, changes: BTreeSet::new(), waker: None, slot });
        let followed = Mutex::default();
        Listener { engine: Arc::clone(self), id, deciding: Mutex::default(), followed }
    }

    /// Listens for a request to those tasks that are its caller's. It hears of each as it is now, and then of changes.
    pub(super) async fn listen_to_tasks(
        self: Arc<Self>,
        mut filter: ChangeFilter,
        request: RequestInfo,
    ) -> Result<Started, Refusal> {
        filter.tasks = self.own_tasks(filter.tasks, request.principal.as_ref()).await?;
        let listener = self.listen(filter.clone(), request)?;
        if self.tasks_outlive_process() {
            lock(&listener.followed).looks = Some(interval(LOOK));
        }
        listener.look_at_tasks();
        Ok(Started::Listening(Box::new((listener, Some(filter)))))
    }

    /// Reports a change of a task to those that listen to it.
    pub(crate) fn task_changed(&self, id: TaskId) {
        self.offer.hub.notify(&Change::Task(id));
    }
}

/// One that listens, until it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    engine: Arc<Engine>,
    id: u64,
    /// What the listener hears of a change, while gates decide about it or a task is read.
    deciding: Mutex<Callback<Option<Decision>>>,
    followed: Mutex<Followed>,
}

/// What a listener hears of a change, if anything.
type Decision = BoxFuture<'static, Option<Heard>>;

/// The tasks that a listener has heard of.
#[derive(Debug, Default)]
struct Followed {
    /// When each changed, how many questions it had open, and whether it had ended.
    seen: BTreeMap<TaskId, (SystemTime, usize, bool)>,
    looks: Option<Interval>,
}

impl Followed {
    /// Whether this is the first that the listener hears of the task as it is now.
    fn is_news(&mut self, task: &TaskSnapshot) -> bool {
        let (open, has_ended) = match &task.state {
            TaskState::Open(questions) => (questions.len(), false),
            TaskState::Ended(_) => (0, true),
        };
        let now = (task.updated, open, has_ended);
        self.seen.insert(task.id, now) != Some(now)
    }
}

impl Listener {
    /// Sets who listens.
    pub(crate) fn listen_as(&self, request: RequestInfo) {
        let mut held = self.engine.activity.budgets.bytes.hold(request.principal.as_ref());
        let request = request.compacted();
        let mut listeners = self.engine.offer.hub.listeners();
        let waiting = listeners.waiting(self.id);
        // Without room, gates go on to decide about the earlier request.
        if held.grow(waiting.filter.size() + request.size()).is_err() {
            return;
        }
        waiting.held = held;
        let before = std::mem::replace(&mut waiting.request, request);
        // It may hold values of the author, whose `Drop` may notify listeners.
        drop((listeners, before));
    }

    /// Goes on with newer credentials of the same caller.
    pub(crate) fn renew(&self, caller: Principal) {
        let mut listeners = self.engine.offer.hub.listeners();
        let before = listeners.waiting(self.id).request.principal.replace(caller);
        drop((listeners, before));
    }

    /// Has the listener hear of each of its tasks, unless it has heard of it as it is now, or of its end.
    fn look_at_tasks(&self) {
        let has_ended = |id: &TaskId| lock(&self.followed).seen.get(id).is_some_and(|(.., has_ended)| *has_ended);
        let listeners = &mut *self.engine.offer.hub.listeners();
        let Waiting { filter, changes, .. } = listeners.waiting(self.id);
        changes.extend(filter.tasks.iter().filter(|id| !has_ended(id)).copied().map(Change::Task));
    }

    /// The next change that the listener may hear about; `None` when the server ends the subscription.
    pub(crate) fn poll_change(&self, cx: &Context<'_>) -> Poll<Option<Heard>> {
        let Callback(deciding) = &mut *lock(&self.deciding);
        let cx = &mut Context::from_waker(cx.waker());
        while lock(&self.followed).looks.as_mut().is_some_and(|looks| looks.poll_tick(cx).is_ready()) {
            self.look_at_tasks();
        }
        loop {
            if let Some(decision) = deciding {
                let heard = ready!(decision.as_mut().poll(cx));
                *deciding = None;
                match heard {
                    Some(Heard::Task(task, _)) if !lock(&self.followed).is_news(&task) => {}
                    Some(heard) => return Poll::Ready(Some(heard)),
                    None => {}
                }
            }
            let Some((change, request)) = ready!(self.poll_any(cx)) else { return Poll::Ready(None) };
            let decision: Option<Decision> = match &change {
                Change::Updated(uri) => self.engine.screen(uri, request).map(|screened| -> Decision {
                    let change = change.clone();
                    Box::pin(screened.map(|is_heard| is_heard.then_some(Heard::Change(change))))
                }),
                Change::Task(id) => {
                    let (engine, id) = (Arc::clone(&self.engine), *id);
                    // One that cannot be read now is read again when it changes.
                    Some(Box::pin(async move {
                        let task = engine.read_task(&id, request.principal.as_ref()).await.ok()?;
                        Some(Heard::Task(Box::new(task), engine.tasks_now()))
                    }))
                }
                Change::List(_) => None,
            };
            let Some(decision) = decision else { return Poll::Ready(Some(Heard::Change(change))) };
            *deciding = Some(decision);
        }
    }

    /// The next change, and the request that listens; `None` when the server ends the subscription.
    fn poll_any(&self, cx: &Context<'_>) -> Poll<Option<(Change, RequestInfo)>> {
        let mut listeners = self.engine.offer.hub.listeners();
        let closed = listeners.closed;
        let Some(waiting) = listeners.by_id.get_mut(&self.id) else { return Poll::Ready(None) };
        if waiting.request.principal.as_ref().is_some_and(Principal::is_expired) {
            waiting.changes.clear();
            // A session goes on: its next request may bring newer credentials.
            if waiting.slot.is_counted() {
                return Poll::Ready(None);
            }
        }
        match waiting.changes.pop_first() {
            Some(change) => Poll::Ready(Some((change, waiting.request.clone()))),
            None if closed => Poll::Ready(None),
            None => {
                waiting.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Adds updates of a resource; the error says why there are too many.
    pub(crate) fn add_resource(&self, uri: String) -> Result<(), String> {
        let listeners = &mut *self.engine.offer.hub.listeners();
        let Waiting { filter, held, .. } = listeners.waiting(self.id);
        let (before, most) = (filter.size(), uri.len() + URI_OVERHEAD);
        held.grow(most).map_err(|no_room| no_room.to_string())?;
        let added = filter.add_resource(uri);
        held.shrink(most - (filter.size() - before));
        added
    }

    /// Removes updates of a resource.
    pub(crate) fn remove_resource(&self, uri: &str) {
        let listeners = &mut *self.engine.offer.hub.listeners();
        let Waiting { filter, held, .. } = listeners.waiting(self.id);
        if filter.remove_resource(uri) {
            held.shrink(uri.len() + URI_OVERHEAD);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let removed = self.engine.offer.hub.listeners().by_id.remove(&self.id);
        // Not under the lock, as in `listen_as`.
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Server, auth::BudgetFull, server::Limits};

    fn engine() -> Arc<Engine> {
        let limits = Limits::new().memory(64 * 1024 * 1024);
        Server::new("changing", "1").limits(limits).build().expect("a good server").0
    }

    #[test]
    fn a3_m8_what_a_session_keeps_of_its_request_is_counted_or_not_kept() {
        let engine = engine();
        let request = || RequestInfo { client: Some(vec![b' '; 30_000].into()), ..RequestInfo::default() };
        let [first, second] = [(), ()].map(|()| engine.subscribe(ChangeFilter::default()));
        first.listen_as(request());
        assert!(engine.activity.budgets.bytes.used() > 20_000);
        let _rest = engine.activity.budgets.bytes.take(None, 64 * 1024 * 1024).expect("it counts as half");
        second.listen_as(request());
        let keeps = |listener: &Listener| engine.offer.hub.listeners().waiting(listener.id).request.client.is_some();
        assert!(keeps(&first) && !keeps(&second));
    }

    fn request_of(caller: &Principal) -> RequestInfo {
        RequestInfo { principal: Some(caller.clone()), ..RequestInfo::default() }
    }

    #[test]
    fn r3_l4_nobody_listens_with_credentials_that_have_expired() {
        let engine = engine();
        let cx = Context::from_waker(Waker::noop());
        let ada = Principal::new("ada");
        let expired = request_of(&ada.clone().with_expiry(SystemTime::UNIX_EPOCH));
        let filter = || ChangeFilter { lists: [true; 3], ..ChangeFilter::default() };
        let subscription = engine.listen(filter(), expired.clone()).expect("there is room");
        let session = engine.subscribe(filter());
        session.listen_as(expired);
        engine.offer.hub.notify(&Change::List(TargetKind::Tool));
        assert_eq!(subscription.poll_change(&cx), Poll::Ready(None), "it has ended");
        assert_eq!(session.poll_change(&cx), Poll::Pending, "it hears nothing");
        session.renew(ada);
        assert_eq!(session.poll_change(&cx), Poll::Pending, "nothing of before");
        engine.offer.hub.notify(&Change::List(TargetKind::Prompt));
        assert_eq!(session.poll_change(&cx), Poll::Ready(Some(Heard::Change(Change::List(TargetKind::Prompt)))));
    }

    #[test]
    fn the_uris_of_one_filter_are_limited_in_number_and_in_length() {
        let mut filter = ChangeFilter::default();
        for number in 0..MOST_RESOURCES {
            filter.add_resource(format!("a://{number}")).expect("not too many");
        }
        assert!(filter.add_resource("a://more".into()).is_err_and(|error| error.starts_with("too many resources")));
        filter.add_resource("a://1".into()).expect("it is there already");
        filter.remove_resource("a://1");
        filter.add_resource("a://more".into()).expect("there is room again");

        let mut filter = ChangeFilter::default();
        let long = |number: usize| format!("{number:0>LONGEST_URI$}");
        for number in 0..MOST_BYTES / LONGEST_URI {
            filter.add_resource(long(number)).expect("they fit");
        }
        assert!(filter.add_resource("a".into()).is_err());
        filter.remove_resource(&long(0));
        filter.remove_resource("never there");
        filter.add_resource(long(0)).expect("there is room again");
        assert!(filter.add_resource("a".into()).is_err());
        let long = ChangeFilter::default().add_resource("x".repeat(LONGEST_URI + 1));
        assert_eq!(long, Err("a URI is too long (limit 8192 bytes)".to_owned()));
    }

    #[test]
    fn a_m8_all_filters_together_are_limited() {
        let engine = engine();
        let mut filter = ChangeFilter::default();
        for number in 0..MOST_BYTES / LONGEST_URI {
            filter.add_resource(format!("{number:0>LONGEST_URI$}")).expect("they fit");
        }
        let listen = || engine.listen(filter.clone(), RequestInfo::default()).ok();
        let mut listeners: Vec<_> = std::iter::from_fn(listen).collect();
        let most = 64;
        assert!((most / 2..=most).contains(&listeners.len()), "{}", listeners.len());
        let session = engine.subscribe(ChangeFilter::default());
        let long = |number: usize| format!("{number:0>LONGEST_URI$}");
        let more = (0..).map_while(|number| session.add_resource(long(number)).ok()).count();
        assert!(session.add_resource(long(more)).is_err_and(|full| full.contains("(limit 67108864)")));
        session.remove_resource(&long(0));
        session.add_resource(long(0)).expect("there is room again");
        listeners.pop();
        assert!(listen().is_some(), "one has left");
        drop((listeners, session));
        assert!(engine.offer.hub.listeners().by_id.is_empty());
    }

    #[test]
    fn a_m8_the_filters_of_one_caller_leave_room_for_others() {
        let engine = engine();
        let long = |number: usize| format!("{number:0>LONGEST_URI$}");
        let mut filter = ChangeFilter::default();
        for number in 0..MOST_BYTES / LONGEST_URI {
            filter.add_resource(long(number)).expect("they fit");
        }
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        let listen = |caller| engine.listen(filter.clone(), request_of(caller));
        let listeners: Vec<_> = std::iter::from_fn(|| listen(&ada).ok()).collect();
        let most = 16;
        assert!((most / 2..=most).contains(&listeners.len()), "{}", listeners.len());
        assert!(matches!(listen(&ada), Err(Refusal::Full(BudgetFull { share_of: Some(_), .. }))));
        // Sessions count, too, and nobody else's do.
        let [adas, bobs] = [&ada, &bob].map(|caller| {
            let session = engine.subscribe(ChangeFilter::default());
            session.listen_as(request_of(caller));
            session
        });
        let more = (0..).map_while(|number| adas.add_resource(long(number)).ok()).count();
        let full = adas.add_resource(long(more)).expect_err("full");
        let limit = "held bytes of this caller (limit 16777216)";
        assert_eq!(full, format!("too many {limit}, try again later"));
        bobs.add_resource(long(0)).expect("bob has room");
        assert!(listen(&bob).is_ok());
        drop(listeners);
        adas.add_resource(long(more)).expect("there is room again");
    }

    #[test]
    fn a_listener_that_is_dropped_is_forgotten() {
        let engine = engine();
        let filter = || ChangeFilter { lists: [true; 3], ..ChangeFilter::default() };
        let stays = engine.subscribe(filter());
        for _ in 0..1000 {
            let left = engine.subscribe(filter());
            engine.offer.hub.notify(&Change::List(TargetKind::Tool));
            drop(left);
        }
        assert_eq!(engine.offer.hub.subscribers(), 1);
        // However often it changed, there is one change to report.
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(stays.poll_change(&cx), Poll::Ready(Some(Heard::Change(Change::List(TargetKind::Tool)))));
        assert_eq!(stays.poll_change(&cx), Poll::Pending);
    }
}
