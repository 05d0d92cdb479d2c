use std::{fmt, ops::Deref, sync::Arc};

use super::{FromCall, Need};
use crate::{call::Call, error::CallError};

/// A service that was provided once, when the server was built, and is shared by all calls.
///
/// It may be a `dyn Trait`, provided as an `Arc` of one: `Dep<dyn Store>`, which a unit test makes with `Dep::from(arc)`.
///
/// ```
/// use rejoinder::Dep;
///
/// struct Files { root: String }
///
/// async fn list(files: Dep<Files>) -> String {
///     files.root.clone()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // In a unit test the function is called as it is.
/// let files = Dep::new(Files { root: "data".into() });
/// assert_eq!(list(files).await, "data");
/// # }
/// ```
///
/// The methods of a `dyn Trait` cannot be `async fn`; let them return a [`BoxFuture`](crate::BoxFuture):
///
/// ```
/// use std::sync::Arc;
///
/// use rejoinder::{BoxFuture, prelude::*, testing::Client};
/// use serde_json::json;
///
/// trait Store: Send + Sync {
///     fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<u32>>;
/// }
///
/// struct InMemory;
///
/// impl Store for InMemory {
///     fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<u32>> {
///         Box::pin(async move { (name == "tea").then_some(3) })
///     }
/// }
///
/// /// Look up a price.
/// #[tool]
/// async fn price(item: String, store: Dep<dyn Store>) -> String {
///     store.find(&item).await.map_or("unknown".to_owned(), |price| price.to_string())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let server = Server::new("shop", "1.0.0").provide_arc::<dyn Store>(Arc::new(InMemory)).tools(tools![price]);
/// assert_eq!(Client::new(server).call_tool("price", json!({ "item": "tea" })).await?.text(), "3");
/// # Ok(())
/// # }
/// ```
///
/// `Option<Dep<T>>` is for an optional service: `None` if none was provided, which is not an error.
///
/// ```
/// use rejoinder::Dep;
///
/// struct Mailer;
///
/// async fn close(ticket: u64, mailer: Option<Dep<Mailer>>) -> String {
///     let by = if mailer.is_some() { "with a mail" } else { "without a mail" };
///     format!("{ticket} closed {by}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(close(7, None).await, "7 closed without a mail");
/// assert_eq!(close(7, Some(Dep::new(Mailer))).await, "7 closed with a mail");
/// # }
/// ```
pub struct Dep<T: ?Sized>(Arc<T>);

impl<T> Dep<T> {
    /// Wraps a value, for calling a tool's function in a unit test.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> Dep<T> {
    /// The shared value itself.
    pub fn into_inner(self) -> Arc<T> {
        self.0
    }
}

impl<T: ?Sized> From<Arc<T>> for Dep<T> {
    fn from(value: Arc<T>) -> Self {
        Self(value)
    }
}

impl<T: ?Sized> Clone for Dep<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Dep<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Dep<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dep").field(&&self.0).finish()
    }
}

/// What a [`Dep`] can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a service, because calls on several threads share it",
    label = "the type of a service must be `Send` and `Sync`",
    note = "for a trait, write `trait Store: Send + Sync`; in a struct, use `Arc` for `Rc` and `Mutex` for `RefCell`"
)]
pub trait SharedService: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync + 'static> SharedService for T {}

impl<T: ?Sized + SharedService> FromCall for Dep<T> {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, parameter: &'static str) -> Result<Self, CallError> {
        call.dependency::<T>().map(Self).ok_or_else(|| {
            // Only a tool that was added at run time past `build()` gets here.
            CallError::internal(format!(
                "parameter `{parameter}` needs a `{}`, and none was provided: call `Server::provide` with one",
                std::any::type_name::<T>()
            ))
        })
    }

    fn need() -> Option<Need> {
        Some(Need::of::<T>())
    }
}

/// An optional service: `None` if it was not provided.
impl<T: ?Sized + SharedService> FromCall for Option<Dep<T>> {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(call.dependency::<T>().map(Dep))
    }
}
