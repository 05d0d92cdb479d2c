//! Whether what a resolver makes can be kept for all that take it, wherever they run: told once, where it is returned.

use std::{
    future::{self, Future},
    marker::PhantomData,
};

use crate::{ask::Ask, error::CallError};

/// Tells whether a `T` can be shared: `Sharing::<T>::SHARED`. Works on concrete types only.
#[derive(Debug)]
pub struct Sharing<T>(PhantomData<T>);

impl<T: Send + Sync + 'static> Sharing<T> {
    /// It can.
    pub const SHARED: bool = true;
}

/// The other answer of [`Sharing::SHARED`].
pub trait NotShared {
    /// It cannot.
    const SHARED: bool = false;
}

impl<T> NotShared for Sharing<T> {}

/// What a resolver may make.
#[diagnostic::on_unimplemented(
    message = "the value of a resolver is shared by everything that takes it: `{Self}` must be `Send` and `Sync`",
    label = "cannot be shared between threads",
    note = "hold what changes in a `Mutex` or an atomic, and count references with `Arc`"
)]
pub trait Shared {
    /// Cannot be said of what cannot be shared.
    const SHARED: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Shared for T {}

/// What counts as made by a resolver, given whether that is [`Shared`].
pub trait Made<const SHARED: bool>: Sized {
    /// Itself, if it is.
    type Type: Send + Sync + 'static;

    /// What the resolver returned, as that.
    ///
    /// # Errors
    ///
    /// The resolver's own.
    fn made(returned: Result<Ask<Self>, CallError>) -> Result<Ask<Self::Type>, CallError>;
}

impl<T: Send + Sync + 'static> Made<true> for T {
    type Type = T;

    fn made(returned: Result<Ask<T>, CallError>) -> Result<Ask<T>, CallError> {
        returned
    }
}

impl<T> Made<false> for T {
    type Type = ();

    fn made(_: Result<Ask<T>, CallError>) -> Result<Ask<()>, CallError> {
        unreachable!("a resolver whose value cannot be shared does not compile")
    }
}

/// The future of a function that takes resolvers' values, given whether all of them are sound.
///
/// Where one is not, a parameter may be what no future can hold that moves between threads, and that need not be told.
pub trait Awaited<const SOUND: bool>: Future + Sized {
    /// Itself, if they are.
    type Future: Future<Output = Self::Output>;

    /// The same, as that.
    fn awaited(self) -> Self::Future;
}

impl<F: Future> Awaited<true> for F {
    type Future = F;

    fn awaited(self) -> F {
        self
    }
}

impl<F: Future> Awaited<false> for F {
    type Future = future::Pending<F::Output>;

    fn awaited(self) -> Self::Future {
        future::pending()
    }
}
