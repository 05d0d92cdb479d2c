use std::{
    fmt,
    sync::{Arc, Mutex},
    thread::{self, ThreadId},
};

use super::{FromCall, Need};
use crate::{
    call::Call,
    error::{CallError, lock},
};

/// A value of this call: fresh for each call, and shared by everything that runs for it.
///
/// It begins as `T::default()`. The resolvers and the body that take a `State<T>` of the same `T` share it, and no other
/// call sees it. A round that ends in a question ends its state: the next round starts from the top, with a fresh one.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// #[derive(Default)]
/// struct AuditTrail(Vec<String>);
///
/// #[resolver]
/// fn price(item: &str, audit: State<AuditTrail>) -> u32 {
///     audit.with(|audit| audit.0.push(format!("looked up {item}")));
///     3
/// }
///
/// #[tool]
/// async fn buy(item: String, #[resolve(price)] price: &u32, audit: State<AuditTrail>) -> String {
///     audit.with(|audit| audit.0.push(format!("bought {item} for {price}")));
///     audit.with(|audit| audit.0.join(", "))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![buy]));
/// for _ in 0..2 {
///     let reply = client.call_tool("buy", json!({ "item": "tea" })).await?;
///     assert_eq!(reply.text(), "looked up tea, bought tea for 3");
/// }
/// # Ok(())
/// # }
/// ```
///
/// A state that cannot begin as a default comes from a resolver that returns `State::new(value)`: take it with
/// `#[resolve(function)] audit: State<AuditTrail>`. A value that lasts longer than a call is a
/// [`SessionState`](super::SessionState).
pub struct State<T>(pub(super) Arc<StateCell<T>>);

/// The value, and the thread that uses it.
#[derive(Debug, Default)]
pub(super) struct StateCell<T> {
    value: Mutex<T>,
    held_by: Mutex<Option<ThreadId>>,
}

/// The value is in use until this is dropped.
struct InUse<'a>(&'a Mutex<Option<ThreadId>>);

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}

impl<T> State<T> {
    /// Wraps a value: in a resolver, or to call a function in a unit test.
    ///
    /// ```
    /// use rejoinder::State;
    ///
    /// async fn count(seen: State<Vec<&'static str>>) -> usize {
    ///     seen.with(|seen| {
    ///         seen.push("this");
    ///         seen.len()
    ///     })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let seen = State::new(vec!["that"]);
    /// assert_eq!(count(seen.clone()).await, 2);
    /// assert_eq!(seen.get(), ["that", "this"]);
    /// # }
    /// ```
    pub fn new(value: T) -> Self {
        Self(Arc::new(StateCell { value: Mutex::new(value), held_by: Mutex::default() }))
    }

    /// Reads or changes the value. Nobody else sees it meanwhile.
    ///
    /// A closure, and not a guard: it cannot be held across an `.await`.
    ///
    /// # Panics
    ///
    /// If the closure uses the same state: it would wait for itself.
    pub fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R {
        let this_thread = Some(thread::current().id());
        assert!(
            *lock(&self.0.held_by) != this_thread,
            "a closure of `State::with` uses the same state: read what you need from its argument, or end the closure first"
        );
        let mut value = lock(&self.0.value);
        *lock(&self.0.held_by) = this_thread;
        let _in_use = InUse(&self.0.held_by);
        access(&mut value)
    }

    /// A copy of the value.
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(|value| value.clone())
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        // The old one is dropped when the lock is released.
        let _before = self.with(|current| std::mem::replace(current, value));
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for State<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.0.value).finish()
    }
}

instead!(
    StateGuard for State<T>,
    "the value of a `State` is used in a closure: `state.with(|value| ..)`",
    "`with` locks the value while the closure runs": lock read write borrow borrow_mut update push
);

/// What a [`State`] or a [`SessionState`](super::SessionState) can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot begin as the state of a call or a session",
    label = "`State` makes this type with `Default` for each call, and `SessionState` for each session",
    note = "derive `Default` for it; for a call, you can also return `State::new(value)` from a resolver and take it with `#[resolve(function)]`",
    note = "it must be `Send`: use `Arc` for `Rc`; a value that all calls share is a `Dep<T>`"
)]
pub trait CallState: Default + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Default + Send + 'static> CallState for T {}

impl<T: CallState> FromCall for State<T> {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self(call.shared::<StateCell<T>, _>()))
    }

    /// Nothing provides it: a server in which one function alone takes it warns about it.
    fn need() -> Option<Need> {
        Some(Need { is_state: true, ..Need::of::<T>() })
    }
}
