use std::{
    any::Any,
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use serde_json::value::RawValue;

use super::{Function, Output};
use crate::{
    BoxFuture,
    call::{ArgumentSet, BadArguments, Call, Members, Param, ReadParams, Texts, Unknown, read_arguments},
    error::Halt,
};

/// A function whose arguments have been read: all that is missing is the call.
pub struct Ready(Box<dyn FnOnce(Call) -> BoxFuture<'static, Result<Output, Halt>> + Send>);

impl Ready {
    pub(super) fn new(run: impl FnOnce(Call) -> BoxFuture<'static, Result<Output, Halt>> + Send + 'static) -> Self {
        Self(Box::new(run))
    }

    /// The author's `Deserialize` panicked. That is a failure of the call, so it goes off where the call runs.
    pub(super) fn panicked(panic: Panic) -> Self {
        Self::new(|_| Box::pin(async { resume_unwind(panic) }))
    }

    /// Calls the function.
    pub fn run(self, call: Call) -> BoxFuture<'static, Result<Output, Halt>> {
        (self.0)(call)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

/// Reads the arguments of one function.
pub trait Reader: Send + Sync {
    /// Reads arguments from a JSON object.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn read(&self, json: &str, unknown: Unknown) -> Result<Ready, BadArguments>;

    /// Reads arguments from a JSON object of strings; `None` if it is not one.
    fn read_strings(&self, json: &str, unknown: Unknown) -> Option<Result<Ready, BadArguments>> {
        let mut texts: Members<Cow<'_, str>> = serde_json::from_str(json).ok()?;
        texts.0.retain(|(name, _)| self.takes(name, unknown));
        if let Some(twice) = texts.twice() {
            return Some(Err(twice));
        }
        let texts: Texts<'_> = texts.0.iter().map(|(name, text)| (&**name, &**text)).collect();
        Some(self.read_texts(&texts, unknown))
    }

    /// Reads arguments that came as plain texts.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn read_texts(&self, texts: &Texts<'_>, unknown: Unknown) -> Result<Ready, BadArguments>;

    /// Whether an argument of that name is looked at.
    fn takes(&self, name: &str, unknown: Unknown) -> bool;

    /// What the author wrote about the parameters.
    fn params(&self) -> &'static [Param];
}

/// The reader of a [`Function`].
pub(super) struct FunctionReader<F: Function>(pub(super) Arc<F::Receiver>);

impl<F: Function> FunctionReader<F> {
    fn ready(&self, arguments: F::Set) -> Ready {
        let receiver = Arc::clone(&self.0);
        Ready::new(move |call| F::run(receiver, arguments, call))
    }
}

impl<F: Function> Reader for FunctionReader<F> {
    fn read(&self, json: &str, unknown: Unknown) -> Result<Ready, BadArguments> {
        // One pass if all is well. Only what is wrong is read a second time, to name everything that is.
        if let Ok(Ok((arguments, _))) = guarded(|| read_arguments::<F>(json)) {
            return Ok(self.ready(arguments));
        }
        let mut members: Members<&RawValue> = serde_json::from_str(json).map_err(|error| unread(&error))?;
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

    fn read_texts(&self, texts: &Texts<'_>, unknown: Unknown) -> Result<Ready, BadArguments> {
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
