use super::Settled;
use crate::{
    ask::FromOutcome,
    call::Call,
    error::{Halt, ToolError},
};

/// What stopped the resolvers of one function: the worst of it counts.
///
/// A failure, or a decline where the value is needed, ends the call; so it beats a question that is still open,
/// which only ends the round.
#[derive(Debug, Default)]
pub struct Halts(Option<Halt>);

impl Halts {
    /// Fills a parameter from its resolver's outcome; `None` if that stopped.
    pub fn take<'a, P: FromOutcome<'a, T>, T: 'a>(
        &mut self,
        settled: &'a Settled<T>,
        parameter: &'static str,
    ) -> Option<P> {
        let halt = match settled {
            Ok(outcome) => match P::from_outcome(outcome, parameter) {
                Ok(value) => return Some(value),
                Err(halt) => halt,
            },
            Err(halt) => halt.clone(),
        };
        if self.0.as_ref().is_none_or(|worst| halt.outranks(worst)) {
            self.0 = Some(halt);
        }
        None
    }

    /// For a resolver: passes on what stopped it.
    ///
    /// # Errors
    ///
    /// The worst of what stopped its own resolvers.
    pub fn pass(self) -> Result<(), Halt> {
        self.0.map_or(Ok(()), Err)
    }

    /// For an item: ends the call, or waits for the next round.
    ///
    /// # Errors
    ///
    /// What the client is told.
    pub async fn end(self, call: &Call) -> Result<(), ToolError> {
        match self.0 {
            Some(halt) => call.halt(halt).await,
            None => Ok(()),
        }
    }
}
