use futures_util::future::BoxFuture;

use super::FromCall;
use crate::{
    call::{Call, CallEnd, Deferred, WorkFuture, WorkOutput},
    error::{CallError, Failed},
};

/// Cleanup when a call ends: return a connection, roll back a transaction.
///
/// For what `Drop` cannot do, because it waits for something or needs to know how the call ended.
///
/// ```
/// use rejoinder::{CallError, Scope, call::CallEnd};
/// # use std::sync::{Arc, Mutex};
/// # #[derive(Clone, Default)]
/// # struct Transaction(Arc<Mutex<Vec<&'static str>>>);
/// # impl Transaction {
/// #     async fn commit(&self) -> Result<(), CallError> { Ok(self.0.lock().expect("nobody panics").push("committed")) }
/// #     async fn roll_back(&self) -> Result<(), CallError> { Ok(self.0.lock().expect("nobody panics").push("rolled back")) }
/// # }
///
/// /// The transaction of this call, for example in a resolver.
/// fn transaction(scope: Scope) -> Transaction {
///     let transaction = Transaction::default();
///     let ends = transaction.clone();
///     scope.defer(move |end| async move {
///         // A commit that fails fails the call.
///         if end.keeps_changes() { ends.commit().await } else { ends.roll_back().await }
///     });
///     transaction
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), CallError> {
/// // In a unit test the test ends it.
/// let scope = Scope::detached();
/// let transaction = transaction(scope.clone());
/// scope.end(CallEnd::Pending).await?;
/// assert_eq!(*transaction.0.lock().expect("nobody panics"), ["rolled back"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Scope(Call);

impl Scope {
    /// A scope without a call, for calling a function in a unit test.
    pub fn detached() -> Self {
        Self(Call::detached())
    }

    /// Runs a function when this round of the call ends, before the reply is sent. The function that was deferred last runs
    /// first.
    ///
    /// It gets [how the round ended](CallEnd). A round that ends with a question ends everything that ran in it, because the
    /// next round starts from the top. If the client has disconnected, the function runs in a spawned future.
    ///
    /// If the function of the call succeeded, and a deferred function returns an error, panics, or is dropped because it takes
    /// longer than `Server::grace_period`, the call fails: the client reads the error, and deferred functions that have not run
    /// yet get [`CallEnd::Failed`]. After any other end the failure is only logged.
    ///
    /// A function that is deferred after the end of the round, by a spawned future that outlives it, runs at once, in a future of its own.
    pub fn defer<F, R>(&self, run: impl FnOnce(CallEnd) -> F + Send + 'static)
    where
        F: WorkFuture<R> + Send + 'static,
        R: WorkOutput<Value = ()>,
    {
        let run = move |end| -> BoxFuture<'static, Result<(), CallError>> {
            let run = run(end);
            Box::pin(async move { run.await.into_result() })
        };
        self.0.defer(Deferred { run: Box::new(run), can_fail: R::CAN_FAIL });
    }

    /// Runs the deferred functions. The framework does this at the end of a round; a unit test calls it for a
    /// [detached](Scope::detached) scope.
    ///
    /// # Errors
    ///
    /// The error that the call would end with: that of the first deferred function that fails after a success.
    pub async fn end(&self, ending: CallEnd) -> Result<(), CallError> {
        let Some(teardown) = self.0.teardown(ending, Default::default) else { return Ok(()) };
        teardown.await.map_err(|failed| match failed {
            Failed::Error(error) => error,
            Failed::Panicked => CallError::internal("a deferred function panicked"),
        })
    }
}

impl FromCall for Scope {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self(call.clone()))
    }
}
