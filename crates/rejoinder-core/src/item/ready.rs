use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde_json::value::RawValue;

use super::{Function, Kind, members::Members};
use crate::{
    BoxFuture,
    call::{ArgumentSet, BadArgument, BadArguments, Call, Param, ReadParams, Texts, read_arguments},
    error::ToolError,
};

/// A function whose arguments have been read: all that is missing is the call.
pub struct Ready<O>(Box<dyn FnOnce(Call) -> BoxFuture<'static, Result<O, ToolError>> + Send>);

impl<O> Ready<O> {
    pub(super) fn new(run: impl FnOnce(Call) -> BoxFuture<'static, Result<O, ToolError>> + Send + 'static) -> Self {
        Self(Box::new(run))
    }

    /// Calls the function.
    pub fn run(self, call: Call) -> BoxFuture<'static, Result<O, ToolError>> {
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
    fn explain(&self, json: &RawValue) -> Result<Ready<O>, BadArguments>;

    /// Reads arguments that came as plain texts.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn read_texts(&self, texts: &Texts<'_>) -> Result<Ready<O>, BadArguments>;

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

    fn explain(&self, json: &RawValue) -> Result<Ready<<F::Kind as Kind>::Output>, BadArguments> {
        let Members { members, twice } = Members::read(json)?;
        let read = guarded(|| F::Set::explain(F::PARAMS, &members))?;
        match read {
            Ok(arguments) if twice.is_empty() => Ok(self.ready(arguments)),
            Ok(_) => Err(BadArguments(twice)),
            Err(BadArguments(mut bad)) => {
                bad.splice(0..0, twice);
                Err(BadArguments(bad))
            }
        }
    }

    fn read_texts(&self, texts: &Texts<'_>) -> Result<Ready<<F::Kind as Kind>::Output>, BadArguments> {
        guarded(|| F::Set::from_texts(F::PARAMS, texts))?.map(|arguments| self.ready(arguments))
    }

    fn params(&self) -> &'static [Param] {
        <F as ReadParams>::PARAMS
    }
}

/// Reads with the author's `Deserialize`, which may panic: that is this call's failure, not the server's.
fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, BadArguments> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| {
        tracing::error!("reading the arguments of a call panicked");
        let message = "the server failed while it read them".to_owned();
        BadArguments(vec![BadArgument { field: "arguments".to_owned(), message }])
    })
}
