use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use serde_json::value::RawValue;

use super::{Function, Kind};
use crate::{
    BoxFuture,
    call::{ArgumentSet, BadArguments, Call, Members, Param, ReadParams, Texts, Unknown, read_arguments},
    error::CallError,
};

/// A function whose arguments have been read: all that is missing is the call.
pub struct Ready<O>(Box<dyn FnOnce(Call) -> BoxFuture<'static, Result<O, CallError>> + Send>);

impl<O> Ready<O> {
    pub(super) fn new(run: impl FnOnce(Call) -> BoxFuture<'static, Result<O, CallError>> + Send + 'static) -> Self {
        Self(Box::new(run))
    }

    /// The author's `Deserialize` panicked. That is a failure of the call, so it goes off where the call runs.
    pub(super) fn panicked(panic: Panic) -> Self {
        Self::new(|_| Box::pin(async { resume_unwind(panic) }))
    }

    /// Calls the function.
    pub fn run(self, call: Call) -> BoxFuture<'static, Result<O, CallError>> {
        (self.0)(call)
    }
}

impl<O> fmt::Debug for Ready<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

/// Reads the arguments of one function.
pub trait Reader<O>: Send + Sync {
    /// Reads them from the front of `json`, in one pass, and tells how many bytes they took;
    /// `None` if anything at all is wrong.
    fn read(&self, json: &str) -> Option<(Ready<O>, usize)>;

    /// Reads arguments that [`Reader::read`] refused, a whole JSON object, to say what is wrong.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn explain(&self, json: &RawValue, unknown: Unknown) -> Result<Ready<O>, BadArguments>;

    /// Reads arguments that came as plain texts.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn read_texts(&self, texts: &Texts<'_>, unknown: Unknown) -> Result<Ready<O>, BadArguments>;

    /// Whether an argument of that name is looked at.
    fn takes(&self, name: &str, unknown: Unknown) -> bool;

    /// What the author wrote about the parameters.
    fn params(&self) -> &'static [Param];
}

/// The reader of a [`Function`].
pub(super) struct FunctionReader<F: Function>(pub(super) Arc<F::Receiver>);

impl<F: Function> FunctionReader<F> {
    fn ready(&self, arguments: F::Set) -> Ready<<F::Kind as Kind>::Output> {
        let receiver = Arc::clone(&self.0);
        Ready::new(move |call| F::run(receiver, arguments, call))
    }
}

impl<F: Function> Reader<<F::Kind as Kind>::Output> for FunctionReader<F> {
    fn read(&self, json: &str) -> Option<(Ready<<F::Kind as Kind>::Output>, usize)> {
        let (arguments, length) = guarded(|| read_arguments::<F>(json)).ok()?.ok()?;
        Some((self.ready(arguments), length))
    }

    fn explain(&self, json: &RawValue, unknown: Unknown) -> Result<Ready<<F::Kind as Kind>::Output>, BadArguments> {
        let mut members: Members<&RawValue> = serde_json::from_str(json.get()).map_err(|error| unread(&error))?;
        members.0.retain(|(name, _)| self.takes(name, unknown));
        let twice = members.twice();
        let read = match guarded(|| F::Set::explain(F::PARAMS, &members.0.into_iter().collect())) {
            Ok(read) => read,
            Err(panic) => return Ok(Ready::panicked(panic)),
        };
        match (read, twice) {
            (Ok(arguments), None) => Ok(self.ready(arguments)),
            (Ok(_), Some(twice)) => Err(twice),
            (Err(BadArguments(mut bad)), twice) => {
                bad.splice(0..0, twice.unwrap_or_default().0);
                Err(BadArguments(bad))
            }
        }
    }

    fn read_texts(
        &self,
        texts: &Texts<'_>,
        unknown: Unknown,
    ) -> Result<Ready<<F::Kind as Kind>::Output>, BadArguments> {
        let texts = texts.only(|name| self.takes(name, unknown));
        match guarded(|| F::Set::from_texts(F::PARAMS, &texts)) {
            Ok(read) => read.map(|arguments| self.ready(arguments)),
            Err(panic) => Ok(Ready::panicked(panic)),
        }
    }

    fn takes(&self, name: &str, unknown: Unknown) -> bool {
        let mut params = F::PARAMS.iter().enumerate();
        unknown == Unknown::Refused || params.any(|(index, param)| param.name == name && F::Set::is_argument(index))
    }

    fn params(&self) -> &'static [Param] {
        <F as ReadParams>::PARAMS
    }
}

type Panic = Box<dyn Any + Send>;

/// Reads with the author's `Deserialize`, which may panic: that is this call's failure, not the server's.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(read))
}

/// The arguments as a whole cannot be read.
pub(super) fn unread(error: &serde_json::Error) -> BadArguments {
    let mut bad = BadArguments::default();
    bad.push("arguments", error.to_string());
    bad
}
