use std::{future::ready, marker::PhantomData};

use futures_util::future::BoxFuture;

use super::{Instance, Node, Settled, Walk};
use crate::{
    argument::Argument,
    ask::{Ask, Outcome},
    call::Halt,
    error::CallError,
    form::{Elicit, Form},
    inject::{FromCall, Parameter, source},
    reply::IntoCallError,
};

/// A function whose value fills a parameter. `#[resolver]` implements it.
#[diagnostic::on_unimplemented(
    message = "`#[resolve(..)]` does not name a resolver",
    label = "the name is misspelled or not imported, or the function is not marked `#[resolver]`",
    note = "a resolver of the same `#[handlers]` block is named `Self::name`"
)]
pub trait Resolver: 'static {
    /// The type of its value.
    type Output: Send + Sync + 'static;

    /// Its place in the graph, with its types.
    #[doc(hidden)]
    fn instance() -> &'static Instance;

    /// Fills its own parameters, calls it, and settles what it asks.
    #[doc(hidden)]
    fn run<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<Self::Output>, Halt>>;

    /// Runs it for a parameter, unless it has run in this round.
    #[doc(hidden)]
    fn resolve(
        walk: &Walk<'_>,
        is_optional: bool,
        parameter: &'static str,
    ) -> impl Future<Output = Result<Settled<Self::Output>, Halt>> + Send
    where
        Self: Sized,
    {
        walk.resolve::<Self>(is_optional, parameter)
    }
}

/// What a [`Resolver`] can make.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a resolver, which is shared by everything that takes it",
    label = "not `Send` and `Sync`, or it borrows something",
    note = "use `Arc` for `Rc`, and `Mutex` or an atomic for `Cell` and `RefCell`"
)]
pub trait SharedValue: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> SharedValue for T {}

/// Asks for a `SharedValue` before the compiler checks the bounds of [`Resolver::Output`].
pub trait IsShared {
    /// It.
    type Value;
}

impl<T: SharedValue> IsShared for T {
    type Value = T;
}

/// What `#[resolve(..)]` means where it names a function without `#[resolver]`. It may have been written with types.
#[derive(Debug)]
pub struct Unmarked<A = (), B = (), C = (), D = ()>(PhantomData<(A, B, C, D)>);

impl<A, B, C, D> Unmarked<A, B, C, D> {
    /// It has no node: that it is not a [`Resolver`] is the error that the author sees.
    #[doc(hidden)]
    pub const fn __node() -> &'static Node {
        panic!("not a resolver")
    }
}

/// How a parameter of a resolver, pipe or completion function is filled where no resolver fills it, given its [`source`].
pub trait ResolverParameter<const SOURCE: u8>: Parameter<SOURCE> {
    /// Makes the parameter of that name.
    fn take(walk: &Walk<'_>, name: &'static str) -> impl Future<Output = Result<Self, CallError>> + Send;
}

impl<T: FromCall> ResolverParameter<{ source::INJECTED }> for T {
    fn take(walk: &Walk<'_>, name: &'static str) -> impl Future<Output = Result<T, CallError>> + Send {
        T::from_call(walk.call(), name)
    }
}

impl<T: Argument + Clone> ResolverParameter<{ source::ARGUMENT }> for T {
    fn take(walk: &Walk<'_>, name: &'static str) -> impl Future<Output = Result<T, CallError>> + Send {
        ready(Ok(walk.argument::<T>(name).clone()))
    }
}

/// Which of the four a return type is. A number, because constant generics take no enum.
pub mod shape {
    /// `T`.
    pub const VALUE: u8 = 0;
    /// `Ask<T>`.
    pub const ASK: u8 = 1;
    /// `Result<T, E>`.
    pub const RESULT: u8 = 2;
    /// `Result<Ask<T>, E>`.
    pub const RESULT_OF_ASK: u8 = 3;

    /// Whether a function that returns this may ask.
    pub const fn asks(shape: u8) -> bool {
        shape == ASK || shape == RESULT_OF_ASK
    }
}

/// Shows what `T` is: `Shape::<T>::OF + Shape::<T>::ASK_IN_RESULT`. It sees through aliases, but needs a concrete type.
///
/// The inherent constants win over those of [`AnyShape`] where their types fit.
#[derive(Debug)]
pub struct Shape<T>(PhantomData<T>);

impl<T> Shape<Ask<T>> {
    /// It is an `Ask`.
    pub const OF: u8 = shape::ASK;
}

impl<T, E> Shape<Result<T, E>> {
    /// It is a `Result`.
    pub const OF: u8 = shape::RESULT;
}

impl<T, E> Shape<Result<Ask<T>, E>> {
    /// It is a `Result` of an `Ask`.
    pub const ASK_IN_RESULT: u8 = shape::RESULT_OF_ASK - shape::RESULT;
}

impl<T: Elicit> Shape<Ask<T>> {
    /// The form that it asks the user to fill in.
    pub const FORM: Option<fn() -> Form> = Some(T::form);
}

impl<T: Elicit, E> Shape<Result<Ask<T>, E>> {
    /// The form that it asks the user to fill in.
    pub const FORM: Option<fn() -> Form> = Some(T::form);
}

/// The answers of [`Shape`] for all other types.
pub trait AnyShape {
    /// It is neither an `Ask` nor a `Result`.
    const OF: u8 = shape::VALUE;
    /// It is not a `Result` of an `Ask`.
    const ASK_IN_RESULT: u8 = 0;
    /// Its type does not show which form it is, if any.
    const FORM: Option<fn() -> Form> = None;
}

impl<T> AnyShape for Shape<T> {}

/// What a resolver returns, given its [`shape`].
pub trait Returned<const SHAPE: u8> {
    /// What its consumers get.
    type Value;
}

/// The same, where it can fail only with an error that clients may see. Only the resolver itself needs that.
pub trait IntoAsk<const SHAPE: u8>: Returned<SHAPE> {
    /// Exists where it can.
    type Asked;

    /// The value, or the question for it.
    ///
    /// # Errors
    ///
    /// The resolver's own.
    fn into_ask(self) -> Result<Ask<Self::Value>, CallError>;
}

impl<T> Returned<{ shape::VALUE }> for T {
    type Value = T;
}

impl<T> IntoAsk<{ shape::VALUE }> for T {
    type Asked = ();

    fn into_ask(self) -> Result<Ask<T>, CallError> {
        Ok(Ask::known(self))
    }
}

impl<T> Returned<{ shape::ASK }> for Ask<T> {
    type Value = T;
}

impl<T> IntoAsk<{ shape::ASK }> for Ask<T> {
    type Asked = ();

    fn into_ask(self) -> Result<Ask<T>, CallError> {
        Ok(self)
    }
}

impl<T, E> Returned<{ shape::RESULT }> for Result<T, E> {
    type Value = T;
}

impl<T, E: IntoCallError> IntoAsk<{ shape::RESULT }> for Result<T, E> {
    type Asked = ();

    fn into_ask(self) -> Result<Ask<T>, CallError> {
        self.map(Ask::known).map_err(IntoCallError::into_call_error)
    }
}

impl<T, E> Returned<{ shape::RESULT_OF_ASK }> for Result<Ask<T>, E> {
    type Value = T;
}

impl<T, E: IntoCallError> IntoAsk<{ shape::RESULT_OF_ASK }> for Result<Ask<T>, E> {
    type Asked = ();

    fn into_ask(self) -> Result<Ask<T>, CallError> {
        self.map_err(IntoCallError::into_call_error)
    }
}
