use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use super::{Callee, Function, Output};
use crate::{
    BoxFuture,
    call::{ArgumentErrors, Call, Param, SentArguments, UnknownArguments, read_arguments},
    error::Halt,
    graph::Keys,
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
    /// Reads arguments.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    fn read(&self, sent: &SentArguments<'_>, unknown: UnknownArguments) -> Result<Ready, ArgumentErrors>;

    /// What the author wrote about the parameters.
    fn params(&self) -> &'static [Param];
}

/// The reader of a [`Function`].
pub(super) struct FunctionReader<F: Function>(Arc<Callee<F::Receiver>>);

impl<F: Function> FunctionReader<F> {
    pub(super) fn new(receiver: Arc<F::Receiver>) -> Self {
        Self(Arc::new(Callee { receiver, keys: Keys::of(F::node().edges) }))
    }

    fn ready(&self, arguments: F::Set) -> Ready {
        let callee = Arc::clone(&self.0);
        Ready::new(move |call| F::run(callee, arguments, call))
    }
}

impl<F: Function> Reader for FunctionReader<F> {
    fn read(&self, sent: &SentArguments<'_>, unknown: UnknownArguments) -> Result<Ready, ArgumentErrors> {
        match guarded(|| read_arguments::<F>(sent, unknown)) {
            Ok(read) => read.map(|arguments| self.ready(arguments)),
            Err(panic) => Ok(Ready::panicked(panic)),
        }
    }

    fn params(&self) -> &'static [Param] {
        F::PARAMS
    }
}

type Panic = Box<dyn Any + Send>;

/// Reads with the author's `Deserialize`, which may panic: that is this call's failure, not the server's.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(read))
}
