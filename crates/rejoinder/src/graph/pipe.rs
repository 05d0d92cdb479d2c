//! Pipes: functions that an argument or a header passes through before it fills its parameter.
//!
//! They run when all arguments have been read and checked, and before the resolvers of the item. What several parameters
//! pass through runs concurrently, and everything that is wrong is reported together.

use std::{any::Any, future::ready};

use super::{ItemNode, ResolverParameter, Walk, shape};
use crate::{
    argument::{ArgumentError, ArgumentErrors, ArgumentReader, FieldError, InputSchema, IntoFieldError, Param, Slot},
    call::Halt,
    error::CallError,
    inject::{PipeContext, PipeSource, source},
};

/// A function that makes one value of another. `#[pipe]` implements it.
#[diagnostic::on_unimplemented(
    message = "`#[pipe(..)]` does not name a pipe",
    label = "the name is misspelled or not imported, or the function is not marked `#[pipe]`",
    note = "a pipe of the same `#[handlers]` block is named `Self::name`"
)]
pub trait Pipe: 'static {
    /// The value that it takes.
    type In: Send + 'static;

    /// The value that it makes.
    type Out: Send + 'static;

    /// Its place in the graph.
    const NODE: &'static ItemNode<'static>;

    /// Fills its other parameters and calls it.
    fn run<'a>(walk: &'a Walk<'a>, value: Self::In) -> impl Future<Output = Result<Self::Out, Halt>> + Send + 'a;
}

/// A pipe, and those after it, each of which takes what the one before it makes: `(A, (B, C))`.
impl<A: Pipe, B: Pipe<In = A::Out>> Pipe for (A, B) {
    type In = A::In;
    type Out = B::Out;

    const NODE: &'static ItemNode<'static> = A::NODE;

    async fn run<'a>(walk: &'a Walk<'a>, value: A::In) -> Result<B::Out, Halt> {
        B::run(walk, A::run(walk, value).await?).await
    }
}

/// The argument or header that passes through a pipe.
#[derive(Debug, Clone, Copy)]
pub struct PipeField {
    name: &'static str,
    source: PipeSource,
}

impl PipeField {
    /// The argument of that name.
    pub const fn argument(name: &'static str) -> Self {
        Self { name, source: PipeSource::Argument }
    }

    /// The header of that name.
    pub const fn header(name: &'static str) -> Self {
        Self { name, source: PipeSource::Header }
    }

    /// The end of a round in which a pipe does not accept the value.
    fn refused(self, error: FieldError) -> Halt {
        let name = self.name;
        match (error.into_text(), self.source) {
            (Ok(reason), PipeSource::Argument) => {
                Halt::BadArguments(ArgumentErrors(vec![ArgumentError::new(name, reason)]))
            }
            // The model cannot correct a header.
            (Ok(reason), PipeSource::Header) => {
                CallError::new(format!("the header `{name}` is refused: {reason}")).into()
            }
            (Err(error), _) => error.into(),
        }
    }
}

impl ResolverParameter<{ source::PIPE_CONTEXT }> for PipeContext {
    fn take(walk: &Walk<'_>, _: &'static str) -> impl Future<Output = Result<Self, CallError>> + Send {
        let PipeField { name: field, source } = walk.field();
        ready(Ok(Self { field, source, call: walk.call().clone() }))
    }
}

/// What a pipe returns, given its [`shape`].
#[diagnostic::on_unimplemented(
    message = "a pipe cannot return `{Self}`",
    label = "not a value, or a `Result` of one",
    note = "a pipe does not ask: take the answer of a resolver that does, with `#[resolve(function)]`"
)]
pub trait PipeReturned<const SHAPE: u8> {
    /// The value that it makes.
    type Out;
}

/// The same, where it can fail only with an error that clients may see. Only the pipe itself needs that.
#[diagnostic::on_unimplemented(
    message = "a pipe cannot return `{Self}`",
    label = "not a value, or a `Result` of one",
    note = "a pipe does not ask: take the answer of a resolver that does, with `#[resolve(function)]`"
)]
pub trait IntoOut<const SHAPE: u8>: PipeReturned<SHAPE> {
    /// Exists where it can.
    type Made;

    /// The value, or why there is none.
    ///
    /// # Errors
    ///
    /// The pipe's own.
    fn into_out(self, walk: &Walk<'_>) -> Result<Self::Out, Halt>;
}

impl<T> PipeReturned<{ shape::VALUE }> for T {
    type Out = T;
}

impl<T> IntoOut<{ shape::VALUE }> for T {
    type Made = ();

    fn into_out(self, _: &Walk<'_>) -> Result<T, Halt> {
        Ok(self)
    }
}

impl<T, E> PipeReturned<{ shape::RESULT }> for Result<T, E> {
    type Out = T;
}

impl<T, E: IntoFieldError> IntoOut<{ shape::RESULT }> for Result<T, E> {
    type Made = ();

    fn into_out(self, walk: &Walk<'_>) -> Result<T, Halt> {
        self.map_err(|error| walk.field().refused(error.into_field_error()))
    }
}

/// What the next pipe takes.
#[diagnostic::on_unimplemented(
    message = "this pipe takes a `{In}`, but the one before it makes a `{Self}`",
    label = "takes a `{In}`",
    note = "each pipe takes what the one before it makes"
)]
pub trait PipesInto<In> {
    /// It.
    type Value;
}

#[diagnostic::do_not_recommend]
impl<T> PipesInto<T> for T {
    type Value = T;
}

/// A parameter that the last of its pipes makes an `Out` for: an `Out`, or an `Option` of it.
///
/// An `Option` is `None`, and passes through no pipe, where nothing was sent.
#[diagnostic::on_unimplemented(
    message = "the parameter is a `{Self}`, but its last pipe makes a `{Out}`",
    label = "take a `{Out}`, or an `Option` of it if it may be left out",
    note = "a pipe returns the value that it was given, or what it makes of it; one that only checks returns `Result<_, FieldError>`"
)]
pub trait Piped<Out>: Sized {
    /// What is sent, where the first pipe takes an `In`.
    type Sent<In>;

    /// What the first pipe gets; or the parameter itself, where nothing was sent.
    fn open<In>(sent: Self::Sent<In>) -> Result<In, Self>;

    /// Makes the parameter.
    fn close(out: Out) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T> Piped<T> for T {
    type Sent<In> = In;

    fn open<In>(sent: In) -> Result<In, T> {
        Ok(sent)
    }

    fn close(out: T) -> T {
        out
    }
}

#[diagnostic::do_not_recommend]
impl<T> Piped<T> for Option<T> {
    type Sent<In> = Option<In>;

    fn open<In>(sent: Option<In>) -> Result<In, Self> {
        sent.ok_or(None)
    }

    fn close(out: T) -> Self {
        Some(out)
    }
}

/// The place of a value that passes through pipes: what was sent, and later what the pipes made of it.
#[derive(Debug)]
pub enum PipedSlot<Sent, T> {
    /// As it was sent.
    Sent(Sent),
    /// It is passing through its pipes, or did not get through.
    Taken,
    /// As the pipes made it.
    Piped(T),
}

impl<Sent, T> PipedSlot<Sent, T> {
    /// Lets what was sent pass through its pipes. Returns why it did not get through.
    ///
    /// # Errors
    ///
    /// What ends the call although other values are still on their way.
    ///
    /// # Panics
    ///
    /// If it was called before.
    pub async fn pass<P: Pipe>(&mut self, walk: &Walk<'_>, field: PipeField) -> Result<Option<Halt>, Halt>
    where
        T: Piped<P::Out, Sent<P::In> = Sent>,
    {
        let Self::Sent(sent) = std::mem::replace(self, Self::Taken) else {
            unreachable!("a value passes through its pipes once")
        };
        let value = match T::open::<P::In>(sent) {
            Ok(value) => P::run(&walk.of_field(field), value).await.map(T::close),
            Err(absent) => Ok(absent),
        };
        match value {
            Ok(value) => *self = Self::Piped(value),
            Err(halt @ (Halt::Pending | Halt::BadArguments(_))) => return Ok(Some(halt)),
            Err(halt) => return Err(halt),
        }
        Ok(None)
    }

    /// Takes what the pipes made.
    ///
    /// # Panics
    ///
    /// If they have not made it.
    pub fn into_value(self) -> T {
        match self {
            Self::Piped(value) => value,
            Self::Sent(_) | Self::Taken => unreachable!("the function runs when all values got through"),
        }
    }
}

impl<Sent: Slot, T: Any + Send + Sync> Slot for PipedSlot<Sent, T> {
    fn read(param: &Param, reader: &mut ArgumentReader<'_>) -> Option<Self> {
        Sent::read(param, reader).map(Self::Sent)
    }

    fn value(&self) -> Option<&(dyn Any + Send + Sync)> {
        match self {
            Self::Piped(value) => Some(value),
            Self::Sent(_) | Self::Taken => None,
        }
    }

    fn describe(param: &Param, schema: &mut InputSchema) {
        Sent::describe(param, schema);
    }
}

/// Whether the function can run, if these values did not get through their pipes.
///
/// # Errors
///
/// Everything that was refused, or [`Halt::Pending`] while a question is open.
pub fn finish_pipes(stops: impl IntoIterator<Item = Option<Halt>>) -> Result<(), Halt> {
    let (mut refused, mut is_pending) = (ArgumentErrors::default(), false);
    for stop in stops.into_iter().flatten() {
        match stop {
            Halt::BadArguments(errors) => errors.0.into_iter().for_each(|error| refused.push(error)),
            _ => is_pending = true,
        }
    }
    match is_pending {
        _ if !refused.0.is_empty() => Err(Halt::BadArguments(refused)),
        true => Err(Halt::Pending),
        false => Ok(()),
    }
}
