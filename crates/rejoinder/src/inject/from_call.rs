use std::{any::TypeId, sync::Arc};

use crate::{call::Call, error::CallError};

/// A type that the server supplies for a parameter, instead of the model.
///
/// Implement it for what your functions need of every call:
///
/// ```
/// use rejoinder::{Call, CallError, FromCall};
///
/// /// The tenant that the gateway in front of us has put into a header.
/// struct Tenant(String);
///
/// impl FromCall for Tenant {
///     async fn from_call(call: &Call, _parameter: &'static str) -> Result<Self, CallError> {
///         call.header("x-tenant")
///             .map(|name| Tenant(name.to_owned()))
///             .ok_or_else(|| CallError::new("this server answers only behind its gateway"))
///     }
/// }
/// ```
///
/// Injected parameters are filled before any resolver runs and before the user is asked, so a `FromCall` can refuse a call
/// before anything happens. It may wait for something:
///
/// ```
/// use rejoinder::{Call, CallError, FromCall};
/// # struct Users;
/// # impl Users {
/// #     async fn find(&self, token: &str) -> Option<String> { (token == "1").then(|| "ada".to_owned()) }
/// # }
///
/// struct User(String);
///
/// impl FromCall for User {
///     async fn from_call(call: &Call, _parameter: &'static str) -> Result<Self, CallError> {
///         let users = call.dependency::<Users>().ok_or_else(|| CallError::internal("no `Users` were provided"))?;
///         let user = users.find(call.header("x-token").unwrap_or_default()).await;
///         user.map(User).ok_or_else(|| CallError::new("log in first"))
///     }
/// }
/// ```
///
/// An answer of one round counts in the next, also if that round has other headers and extensions. Where an answer is for
/// one tenant only, make the tenant part of the caller with `Server::principal`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "the server cannot supply this type",
    note = "take `Dep<T>` or `Context`, or implement `FromCall` for the type",
    note = "a pipe takes no arguments beside its value: what depends on several is made by a resolver",
    note = "for an argument whose type depends on a type parameter, write `#[arg]` before it and bound the type by `Argument`"
)]
pub trait FromCall: Sized + Send {
    /// Makes the value for the parameter of that name. Write it as an `async fn`.
    ///
    /// An error ends the call before the function, its resolvers and its questions.
    fn from_call(call: &Call, parameter: &'static str) -> impl Future<Output = Result<Self, CallError>> + Send;

    /// What must have been provided for this to work; the server checks it when it is built.
    fn need() -> Option<Need> {
        None
    }

    /// Whether it is for functions that make their rounds by hand.
    #[doc(hidden)]
    const BY_HAND: bool = false;

    /// Whether it is a type of rejoinder. What another type takes of the call is not known: it may be a state.
    #[doc(hidden)]
    const IS_OURS: bool = false;
}

/// Something that a parameter needs to have been provided when the server was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Need {
    /// The provided type.
    pub id: TypeId,
    /// Its name, for the message.
    pub name: &'static str,
    /// An `Arc` of it, which is another type, and often provided by mistake.
    pub shared: TypeId,
    /// Whether it is a `State`, which nothing provides.
    pub is_state: bool,
    /// The resolver or pipe whose parameter it is, if it is not the item's own: the word, and its name.
    pub of: Option<(&'static str, &'static str)>,
}

impl Need {
    /// The need for a provided `T`.
    pub fn of<T: ?Sized + 'static>() -> Self {
        let (id, shared) = (TypeId::of::<T>(), TypeId::of::<Arc<T>>());
        Self { id, name: std::any::type_name::<T>(), shared, is_state: false, of: None }
    }
}
