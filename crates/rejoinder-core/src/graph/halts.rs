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
    /// Looks at a resolver's outcome. What a parameter takes of it is said after that, so that the compiler knows both
    /// types and compares them.
    pub fn of<'h, 'a, T>(&'h mut self, settled: &'a Settled<T>) -> Taking<'h, 'a, T> {
        Taking { halts: self, settled }
    }

    fn add(&mut self, halt: Halt) {
        if self.0.as_ref().is_none_or(|worst| halt.outranks(worst)) {
            self.0 = Some(halt);
        }
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

/// A resolver's outcome on its way into a parameter.
#[derive(Debug)]
pub struct Taking<'h, 'a, T> {
    halts: &'h mut Halts,
    settled: &'a Settled<T>,
}

impl<'a, T> Taking<'_, 'a, T> {
    /// Fills the parameter of that name; `None` if the resolver stopped.
    ///
    /// The one place where the parameter's type meets the resolver's, so that a mistake is told once.
    pub fn take<P: FromOutcome<'a, T>>(self, parameter: &'static str) -> Option<P> {
        let Self { halts, settled } = self;
        let outcome = settled.outcome().map_err(Halt::clone);
        outcome.and_then(|outcome| P::from_outcome(outcome, parameter)).map_err(|halt| halts.add(halt)).ok()
    }
}
