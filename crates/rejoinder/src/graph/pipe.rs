//! Pipes: functions that an argument or a header passes through before it fills its parameter.
//!
//! They run when all arguments have been read and checked, and before the resolvers of the item. What several parameters
//! pass through runs concurrently, and everything that is wrong is reported together.

use std::any::Any;

use super::{ItemNode, Walk, shape};
use crate::{
    call::{ArgumentError, ArgumentErrors, Call, FieldError, IntoFieldError, Param, SentArguments, Slot},
    error::{CallError, Halt},
    inject::{FromCall, Need, PipeContext, PipeSource, source},
    schema::{ArgumentCheck, InputSchema},
};

/// A function that makes one value of another. `#[pipe]` implements it.
#[diagnostic::on_unimplemented(
    message = "`#[pipe(..)]` does not name a pipe",
    label = "the name is misspelled or not imported, or the function is not marked `#[pipe]`"
)]
pub trait Pipe: 'static {
    /// The value that it takes.
    type In: Send + 'static;

    /// The value that it makes.
    type Out: Send + 'static;

    /// Its place in the graph.
    const NODE: &'static ItemNode<'static>;

    /// Fills its other parameters and calls it.
    fn run<'a>(
        walk: &'a Walk<'a>,
        field: PipeField,
        value: Self::In,
    ) -> impl Future<Output = Result<Self::Out, PipeStop>> + Send + 'a;
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
}

/// Why a value does not get through its pipes.
#[derive(Debug)]
pub enum PipeStop {
    /// It is not accepted, for this reason.
    Refused(String),
    /// The round ends.
    Halt(Halt),
}

impl From<Halt> for PipeStop {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<CallError> for PipeStop {
    fn from(error: CallError) -> Self {
        Self::Halt(error.into())
    }
}

impl From<FieldError> for PipeStop {
    fn from(error: FieldError) -> Self {
        match error.into_text() {
            Ok(text) => Self::Refused(text),
            Err(error) => error.into(),
        }
    }
}

/// How a pipe's other parameters are filled where no resolver fills them, given their [`source`].
#[diagnostic::on_unimplemented(
    message = "a pipe cannot take a `{Self}` beside its value",
    label = "the server cannot supply this type",
    note = "the first parameter is the value; the others are a `Dep<T>`, a `Context`, a `PipeContext` or another type that \
            implements `FromCall`, a `#[header]`, or what a resolver makes (`#[resolve(function)]`)"
)]
pub trait PipeParameter<const SOURCE: u8>: Sized {
    /// Whether it is `Rounds`.
    const BY_HAND: bool = false;

    /// Makes it.
    fn supply(
        call: &Call,
        field: PipeField,
        name: &'static str,
    ) -> impl Future<Output = Result<Self, CallError>> + Send;

    /// What it needs to have been provided.
    fn need() -> Option<Need> {
        None
    }
}

impl<T: FromCall> PipeParameter<{ source::INJECTED }> for T {
    const BY_HAND: bool = T::BY_HAND;

    fn supply(call: &Call, _: PipeField, name: &'static str) -> impl Future<Output = Result<T, CallError>> + Send {
        T::from_call(call, name)
    }

    fn need() -> Option<Need> {
        T::need()
    }
}

impl PipeParameter<{ source::PIPE_CONTEXT }> for PipeContext {
    async fn supply(call: &Call, field: PipeField, _: &'static str) -> Result<Self, CallError> {
        let PipeField { name, source } = field;
        Ok(Self { field: name, source, call: call.clone() })
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

    /// The value, or why there is none.
    ///
    /// # Errors
    ///
    /// The pipe's own.
    fn into_out(self) -> Result<Self::Out, PipeStop>;
}

impl<T> PipeReturned<{ shape::VALUE }> for T {
    type Out = T;

    fn into_out(self) -> Result<T, PipeStop> {
        Ok(self)
    }
}

impl<T, E: IntoFieldError> PipeReturned<{ shape::RESULT }> for Result<T, E> {
    type Out = T;

    fn into_out(self) -> Result<T, PipeStop> {
        self.map_err(|error| error.into_field_error().into())
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

    /// The same value.
    fn pass(self) -> In;
}

#[diagnostic::do_not_recommend]
impl<T> PipesInto<T> for T {
    type Value = T;

    fn pass(self) -> T {
        self
    }
}

/// A parameter that the last of its pipes makes an `Out` for: an `Out`, or an `Option` of it.
///
/// An `Option` is `None`, and passes through no pipe, where nothing was sent.
#[diagnostic::on_unimplemented(
    message = "the parameter is a `{Self}`, but its last pipe makes a `{Out}`",
    label = "take a `{Out}`, or an `Option` of it if it may be left out"
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
    /// Takes what was sent.
    ///
    /// # Panics
    ///
    /// If it was taken before.
    pub fn take(&mut self) -> Sent {
        match std::mem::replace(self, Self::Taken) {
            Self::Sent(sent) => sent,
            Self::Taken | Self::Piped(_) => unreachable!("a value passes through its pipes once"),
        }
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
    const IS_ARGUMENT: bool = true;

    fn read(
        param: &Param,
        checks: &mut &[ArgumentCheck],
        sent: &SentArguments<'_>,
        errors: &mut ArgumentErrors,
    ) -> Option<Self> {
        Sent::read(param, checks, sent, errors).map(Self::Sent)
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

/// Lets a value pass through its pipes.
///
/// # Errors
///
/// What ends the call although other values are still on their way.
pub async fn piped<T>(pipes: impl Future<Output = Result<T, PipeStop>> + Send) -> Result<Result<T, PipeStop>, Halt> {
    match pipes.await {
        Err(PipeStop::Halt(halt)) if !matches!(halt, Halt::Pending) => Err(halt),
        end => Ok(end),
    }
}

/// What came out of all pipes of a call.
#[derive(Debug, Default)]
pub struct PipeResults {
    refused: ArgumentErrors,
    header: Option<CallError>,
    is_pending: bool,
}

impl PipeResults {
    /// Puts a value into its place, or notes why there is none.
    pub fn put<Sent, T>(&mut self, slot: &mut PipedSlot<Sent, T>, field: PipeField, end: Result<T, PipeStop>) {
        let PipeField { name, source } = field;
        match (end, source) {
            (Ok(value), _) => *slot = PipedSlot::Piped(value),
            (Err(PipeStop::Refused(reason)), PipeSource::Argument) => {
                self.refused.push(ArgumentError::new(name, reason));
            }
            // The model cannot correct a header.
            (Err(PipeStop::Refused(reason)), PipeSource::Header) => {
                self.header.get_or_insert_with(|| CallError::new(format!("the header `{name}` is refused: {reason}")));
            }
            (Err(PipeStop::Halt(_)), _) => self.is_pending = true,
        }
    }

    /// Whether the function can run.
    ///
    /// # Errors
    ///
    /// Everything that was refused, or [`Halt::Pending`] while a question is open.
    pub fn finish(self) -> Result<(), Halt> {
        match self {
            Self { header: Some(error), .. } => Err(error.into()),
            Self { refused, .. } if !refused.0.is_empty() => Err(Halt::BadArguments(refused)),
            Self { is_pending: true, .. } => Err(Halt::Pending),
            _ => Ok(()),
        }
    }
}
