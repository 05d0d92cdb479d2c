//! What a function asks its client, and the steps that it takes once.

use serde::{Serialize, de::DeserializeOwned};

use super::Context;
use crate::{
    ask::{Ask, Outcome},
    error::CallError,
};

impl Context {
    /// Asks the client and returns the answer; `?` ends the call if the user declines or cancels.
    ///
    /// Clients of 2026-07-28 and later get the question with the reply, and answer it with a retry of the request,
    /// which any replica can serve. So an ask without an answer **never returns**: the function is dropped where it
    /// waits and runs again from the top in the next round, with the answers. Put work that must not happen twice into
    /// [`Context::once`]. Questions that are awaited together (`join!`) are sent in one round. On a session the
    /// function simply waits.
    ///
    /// The round ends where the function next waits for anything: in a `tokio::select!`, or within a
    /// `tokio::time::timeout`, the question goes out at once unless another branch is ready at that moment. A task that
    /// the function spawned may ask too; it is not dropped, and gets an error when its round is over.
    ///
    /// The key identifies the answer within the call. The same question under the same key has the same answer, so use a
    /// new key in each iteration of a loop. Another question under the same key ends the call with an error.
    ///
    /// ```
    /// use rejoinder::{Ask, CallError, Context};
    ///
    /// async fn rename(old: String, ctx: Context) -> Result<String, CallError> {
    ///     let new = ctx.ask("name", Ask::text(format!("What is {old} called from now on?"))).await?;
    ///     // The second question depends on the first answer, so it goes out in a round of its own.
    ///     let sure = ctx.ask("sure", Ask::confirm(format!("Call it {new}?"))).await?;
    ///     Ok(if sure { new } else { old })
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// // A unit test has no client to ask.
    /// assert!(rename("tea".into(), Context::detached()).await.is_err());
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the user declines or cancels, the client cannot be asked, or gives no usable answer.
    pub async fn ask<T>(&self, key: impl AsRef<str>, question: Ask<T>) -> Result<T, CallError> {
        let key = key.as_ref();
        match self.try_ask(key, question).await? {
            Outcome::Accepted(value) => Ok(value),
            Outcome::Declined => Err(CallError::declined(key)),
            Outcome::Cancelled => Err(CallError::cancelled(key)),
        }
    }

    /// [`Context::ask`] that shows what the user did instead of ending the call.
    ///
    /// ```
    /// use rejoinder::{Ask, Outcome, CallError, Context};
    ///
    /// async fn publish(ctx: Context) -> Result<String, CallError> {
    ///     let note = Ask::text("A note for the readers?").fallback("no note".to_owned());
    ///     Ok(match ctx.try_ask("note", note).await? {
    ///         Outcome::Accepted(note) => format!("published: {note}"),
    ///         Outcome::Declined => "published without a note".to_owned(),
    ///         Outcome::Cancelled => "kept as a draft".to_owned(),
    ///     })
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(publish(Context::detached()).await?, "published: no note");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the client cannot be asked, or gives no usable answer.
    pub async fn try_ask<T>(&self, key: impl AsRef<str>, question: Ask<T>) -> Result<Outcome<T>, CallError> {
        match question.settle(&self.call, key.as_ref()).await {
            Ok(outcome) => Ok(outcome),
            Err(halt) => self.call.halt(halt).await,
        }
    }

    /// Runs a step that must not run twice, and records its result for the rest of the call.
    ///
    /// A key identifies a step: use a new key in each iteration of a loop. To use one key twice in a run of the function is
    /// an error that ends the call; where two places mean the same step, use [`Context::once_shared`].
    ///
    /// The record belongs to the call: a client that sends one request twice, because it lost the reply, runs the step
    /// twice. Where that matters, make the step idempotent, or let states be used once
    /// ([`StatePolicy::single_use`](crate::state::StatePolicy::single_use)).
    ///
    /// The result is part of the call's sealed state, so keep it small. It is returned as later rounds read it: through JSON,
    /// in this round, too.
    ///
    /// A step belongs to the answers that the function used before it. If the text of one of their questions changes in a
    /// later round, the call ends with an error, because the step is not taken again.
    ///
    /// While a step runs, the round does not end. Concurrent steps that contain each other wait for each other and never end.
    /// A step nested inside itself is an error. A step that waits for a spawned future never ends if that future takes the
    /// same step or asks a question. A step that asks starts again from its beginning in the round that has the answer.
    ///
    /// ```
    /// use rejoinder::{Ask, CallError, Context};
    /// # async fn charge(item: &str) -> Result<u32, CallError> { Ok(item.len() as u32) }
    ///
    /// async fn order(item: String, ctx: Context) -> Result<String, CallError> {
    ///     // While the question below waits for its answer, this function runs again from the top.
    ///     let receipt: u32 = ctx.once("charge", || charge(&item)).await?;
    ///     let street = ctx.ask("street", Ask::text("Where to?").fallback("the shop".to_owned())).await?;
    ///     Ok(format!("{item} to {street}, receipt {receipt}"))
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(order("tea".into(), Context::detached()).await?, "tea to the shop, receipt 3");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The step's own error, which is not recorded; and if the step is nested inside itself. If the result cannot be
    /// recorded, because it is too large, nested too deeply, or cannot be written as JSON and read again, the call ends.
    pub async fn once<T, F>(&self, key: impl AsRef<str>, step: impl FnOnce() -> F) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, CallError>>,
    {
        self.call.step(key.as_ref(), false, step).await
    }

    /// [`Context::once`] that may be called several times under one key in one run: all callers get the result of one step.
    ///
    /// While the step runs, the other callers wait. It cannot ask: a question under one key has one answer anyway, so ask
    /// before it.
    ///
    /// ```
    /// use rejoinder::{CallError, Context};
    ///
    /// async fn order(items: Vec<String>, ctx: Context) -> Result<Vec<String>, CallError> {
    ///     let mut orders = Vec::new();
    ///     for item in items {
    ///         // One customer number for all items.
    ///         let customer: u32 = ctx.once_shared("customer", || async { Ok(7) }).await?;
    ///         orders.push(format!("{item} for {customer}"));
    ///     }
    ///     Ok(orders)
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(order(vec!["tea".into(), "cup".into()], Context::detached()).await?, ["tea for 7", "cup for 7"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::once`].
    pub async fn once_shared<T, F>(&self, key: impl AsRef<str>, step: impl FnOnce() -> F) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, CallError>>,
    {
        self.call.step(key.as_ref(), true, step).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;
    use crate::{
        call::{Call, Capabilities, RequestInfo},
        inject::FromCall,
        rounds::StatelessCarrier,
    };

    #[test]
    fn a_round_cannot_end_before_the_mistake_of_a_step_is_noted() {
        let capabilities = Capabilities { forms: true, ..Capabilities::default() };
        let info = RequestInfo { capabilities, ..RequestInfo::default() };
        let carrier = Box::new(StatelessCarrier::for_tests());
        let call = Call::new(info, Arc::default());
        call.carry(carrier, 1024, None);
        let ctx = Context::from_call(&call, "ctx")
            .now_or_never()
            .expect("nothing is awaited")
            .expect("a context of any call");
        assert!(ctx.ask("sure", Ask::confirm("Sure?")).now_or_never().is_none());
        assert!(call.can_end(), "the question waits for another round");
        assert!(ctx.once("share", || async { Ok(f64::NAN) }).now_or_never().is_none());
        assert!(call.mistake().is_some());
    }
}
