use super::{FromCall, TaskOutput};
use crate::{
    call::{Call, CallEnd},
    error::CallError,
};

/// Cleanup when a call ends: return a connection, roll back a transaction.
///
/// For what `Drop` cannot do, because it waits for something or needs to know how the call ended.
///
/// ```
/// use rejoinder::{CallEnd, Scope};
/// # use std::sync::{Arc, Mutex};
/// # #[derive(Clone, Default)]
/// # struct Transaction(Arc<Mutex<Vec<&'static str>>>);
/// # impl Transaction {
/// #     async fn commit(&self) { self.0.lock().expect("nobody panics").push("committed") }
/// #     async fn roll_back(&self) { self.0.lock().expect("nobody panics").push("rolled back") }
/// # }
///
/// /// The transaction of this call, for example in a resolver.
/// fn transaction(scope: Scope) -> Transaction {
///     let transaction = Transaction::default();
///     let ends = transaction.clone();
///     scope.defer(move |ending| async move {
///         if ending.is_success() { ends.commit().await } else { ends.roll_back().await }
///     });
///     transaction
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // In a unit test the test ends it.
/// let scope = Scope::detached();
/// let transaction = transaction(scope.clone());
/// scope.end(CallEnd::Pending).await;
/// assert_eq!(*transaction.0.lock().expect("nobody panics"), ["rolled back"]);
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
    /// next round starts from the top. If the client has disconnected, the function runs in its own task. An error is
    /// logged, and does not change the reply. A function that takes longer than `Server::grace_period` is dropped.
    ///
    /// A function that is deferred after the end of the round, by a task that outlives it, runs at once, in its own task.
    pub fn defer<F, R>(&self, run: impl FnOnce(CallEnd) -> F + Send + 'static)
    where
        F: Future<Output = R> + Send + 'static,
        R: TaskOutput<Value = ()>,
    {
        self.0.defer(Box::new(move |ending| {
            let run = run(ending);
            Box::pin(async move { run.await.into_result() })
        }));
    }

    /// Runs the deferred functions. The framework does this at the end of a round; a unit test calls it for a
    /// [detached](Scope::detached) scope.
    pub async fn end(&self, ending: CallEnd) {
        if let Some(teardown) = self.0.teardown(ending, || None) {
            teardown.await;
        }
    }
}

impl FromCall for Scope {
    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self(call.clone()))
    }
}
