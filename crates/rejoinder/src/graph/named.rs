//! What `#[resolve(..)]` names, decided in constant evaluation: a mistake is told once, in our words, and everything else
//! that is written for the parameter then speaks of [`Mistaken`], which fits everywhere.

use std::marker::PhantomData;

use super::{FitsIn, Instance, Node, Resolver, Told, Walk, node_id};
use crate::{BoxFuture, ask::Outcome, error::Halt};

/// What a path in `#[resolve(..)]` names. A number, because constant generics take no enum.
pub mod naming {
    /// A resolver.
    pub const SOUND: u8 = 0;
    /// A resolver with a mistake in it, which was told.
    pub const TOLD: u8 = 1;
    /// A generic resolver, without its types.
    pub const UNGIVEN: u8 = 2;
    /// A generic resolver, with types for which it is none.
    pub const UNMET: u8 = 3;
    /// Something else.
    pub const OTHER: u8 = 4;

    /// What is named, by what [`Naming`](super::Naming) says of it.
    pub const fn of(resolver: bool, told: bool, generic: bool, ungiven: bool) -> u8 {
        match (resolver, told, generic, ungiven) {
            (_, true, ..) => TOLD,
            (.., true) => UNGIVEN,
            (true, ..) => SOUND,
            (_, _, true, _) => UNMET,
            _ => OTHER,
        }
    }
}

/// Tells what `T` is: `Naming::<T>::RESOLVER`, `TOLD`, `GENERIC` and `UNGIVEN`. Works on concrete types only.
#[derive(Debug)]
pub struct Naming<T>(PhantomData<T>);

impl<T: Resolver> Naming<T> {
    /// It is a resolver.
    pub const RESOLVER: bool = true;
}

impl<T: Told> Naming<T> {
    /// Whether there is a mistake in it.
    pub const TOLD: bool = T::TOLD;
}

impl<T: GenericOver> Naming<T> {
    /// It has type or constant parameters.
    pub const GENERIC: bool = true;
}

impl<T: GenericOver<First = Ungiven>> Naming<T> {
    /// Its types were not given.
    pub const UNGIVEN: bool = true;
}

/// The other answer of [`Naming::RESOLVER`].
pub trait NotResolver {
    /// It is no resolver.
    const RESOLVER: bool = false;
}

/// The other answer of [`Naming::TOLD`].
pub trait NotTold {
    /// No mistake in it is known.
    const TOLD: bool = false;
}

/// The other answer of [`Naming::GENERIC`].
pub trait NotGeneric {
    /// It has no parameters.
    const GENERIC: bool = false;
}

/// The other answer of [`Naming::UNGIVEN`].
pub trait NotUngiven {
    /// It has its types, or needs none.
    const UNGIVEN: bool = false;
}

impl<T> NotResolver for Naming<T> {}
impl<T> NotTold for Naming<T> {}
impl<T> NotGeneric for Naming<T> {}
impl<T> NotUngiven for Naming<T> {}

/// A generic resolver.
pub trait GenericOver {
    /// Its first type, if it is generic over types alone.
    type First;
}

/// The type of a generic resolver where none is written.
#[derive(Debug)]
pub struct Ungiven;

/// What a path names that names no type: a function that nobody marked. It may have been written with types. As a function it
/// is what a path names that names no function.
#[derive(Debug)]
pub struct Unmarked<A = (), B = (), C = (), D = ()>(pub PhantomData<(A, B, C, D)>);

/// Where a name is imported, and what it means there.
pub trait Place {
    /// What it means.
    type Type;
}

/// What is looked at in place of what was named, given its [`naming`].
pub trait Sound<const NAMING: u8> {
    /// Itself, if it is a resolver.
    type Type;
}

impl<T> Sound<{ naming::SOUND }> for T {
    type Type = T;
}

/// A parameter, given the [`naming`] of its resolver.
///
/// Where the name is mistaken, what the resolver makes does not count, so that this is told only once.
pub trait Taken<const NAMING: u8>: Sized {
    /// What is taken from the resolver's outcome.
    type Type;

    /// The parameter.
    fn from_taken(taken: Self::Type) -> Self;
}

impl<P> Taken<{ naming::SOUND }> for P {
    type Type = P;

    fn from_taken(taken: P) -> P {
        taken
    }
}

macro_rules! mistaken {
    ($($naming:ident)*) => { $(
        impl<T> Sound<{ naming::$naming }> for T {
            type Type = Mistaken;
        }

        impl<P> Taken<{ naming::$naming }> for P {
            type Type = ();

            fn from_taken((): ()) -> P {
                unreachable!("a function with a mistaken parameter does not compile")
            }
        }
    )* };
}

mistaken!(TOLD UNGIVEN UNMET OTHER);

/// Stands for what is no resolver, in a program that does not compile.
#[derive(Debug)]
pub struct Mistaken;

impl Mistaken {
    #[doc(hidden)]
    pub const fn __node() -> &'static Node {
        static NODE: Node = Node {
            id: node_id(module_path!(), "mistaken", ""),
            name: "mistaken",
            key: None,
            module: module_path!(),
            has_plain_name: false,
            at: "",
            arguments: &[],
            below: &[],
            returns: "",
            asks: false,
        };
        &NODE
    }
}

impl Resolver for Mistaken {
    type Output = ();

    const CACHED: bool = true;

    fn instance() -> &'static Instance {
        unreachable!("a function with a mistaken parameter does not compile")
    }

    fn run<'a>(_: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<()>, Halt>> {
        unreachable!("a function with a mistaken parameter does not compile")
    }

    fn beside<F>(_: F) -> impl Sized {}
}

impl<A> FitsIn<A> for Mistaken {}
