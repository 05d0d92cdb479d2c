use std::{any::TypeId, sync::Arc};

use crate::{call::Call, error::CallError};

/// A type that a call can supply: what a parameter may be besides the model's argument.
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
///     fn from_call(call: &Call, _parameter: &'static str) -> Result<Self, CallError> {
///         call.header("x-tenant")
///             .map(|name| Tenant(name.to_owned()))
///             .ok_or_else(|| CallError::new("this server answers only behind its gateway"))
///     }
/// }
/// ```
///
/// What was answered in one round counts in the next whatever its headers and extensions say by then, unless
/// `Server::principal` has made them part of who calls: where an answer is for one tenant only, do that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "nothing supplies this type",
    note = "take `Dep<T>` or `Context`, or implement `FromCall` for it"
)]
pub trait FromCall: Sized + Send {
    /// Makes the value for the parameter of that name.
    ///
    /// # Errors
    ///
    /// When the call cannot supply it. The error ends the call before the function runs.
    fn from_call(call: &Call, parameter: &'static str) -> Result<Self, CallError>;

    /// What must have been provided for this to work; the server checks it when it is built.
    fn need() -> Option<Need> {
        None
    }
}

/// Something that a parameter needs to have been provided when the server was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Need {
    /// The provided type.
    pub id: TypeId,
    /// Its name, for the message.
    pub name: &'static str,
    /// An `Arc` of it, which is another type: who provided that meant something else.
    pub shared: TypeId,
    /// The resolver whose parameter it is, if it is not the item's own.
    pub resolver: Option<&'static str>,
}

impl Need {
    /// The need for a provided `T`.
    pub fn of<T: ?Sized + 'static>() -> Self {
        let (id, shared) = (TypeId::of::<T>(), TypeId::of::<Arc<T>>());
        Self { id, name: std::any::type_name::<T>(), shared, resolver: None }
    }
}
