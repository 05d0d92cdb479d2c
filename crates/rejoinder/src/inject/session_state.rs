use super::{
    FromCall, Need, State,
    state::{CallState, StateCell},
};
use crate::{call::Call, error::CallError};

/// A value of this session: it begins as `T::default()`, and is dropped when the session ends.
///
/// All calls of a session share it, and everything that runs for them, gates included. So it is the place for a login that ends
/// with the session. A session ends when its client ends it or closes its connection, when it was idle for too long, or when
/// there are too many.
///
/// Clients of 2026-07-28 have no session: a call that takes a `SessionState` fails, and `Option<SessionState<T>>` is `None`.
/// The same holds for a server [without session memory](crate::http::Config::without_session_memory).
///
/// ```
/// use rejoinder::{call::Era, prelude::*, testing::Client};
/// use serde_json::json;
///
/// #[derive(Default)]
/// struct Basket(Vec<String>);
///
/// #[tool]
/// async fn put(item: String, basket: SessionState<Basket>) -> u64 {
///     basket.with(|basket| {
///         basket.0.push(item);
///         basket.0.len() as u64
///     })
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![put]));
/// let session = client.clone().era(Era::Session);
/// session.call_tool("put", json!({ "item": "tea" })).await?;
/// assert_eq!(session.call_tool("put", json!({ "item": "milk" })).await?.text(), "2");
/// let reply = client.call_tool("put", json!({ "item": "tea" })).await?;
/// assert!(reply.text().starts_with("this client has no session"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SessionState<T>(State<T>);

impl<T> SessionState<T> {
    /// Wraps a value, to call a function in a unit test.
    pub fn new(value: T) -> Self {
        Self(State::new(value))
    }

    /// Reads or changes the value, as [`State::with`] does.
    pub fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(access)
    }

    /// A copy of the value.
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.0.get()
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        self.0.set(value);
    }
}

instead!(
    SessionStateGuard for SessionState<T>,
    "the value of a `SessionState` is used in a closure: `state.with(|value| ..)`",
    "`with` locks the value while the closure runs": lock read write borrow borrow_mut update push
);

impl<T> Clone for SessionState<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: CallState> FromCall for SessionState<T> {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, parameter: &'static str) -> Result<Self, CallError> {
        let found = Option::<Self>::from_call(call, parameter).await?;
        found.ok_or_else(|| CallError::no_session(parameter))
    }

    /// Nothing provides it: a server without sessions warns about it.
    fn need() -> Option<Need> {
        Some(Need::of::<SessionState<()>>())
    }
}

/// `None` if there is no session.
impl<T: CallState> FromCall for Option<SessionState<T>> {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        let values = call.request().session_values.as_ref();
        Ok(values.map(|values| SessionState(State(values.get::<StateCell<T>, _>()))))
    }
}
