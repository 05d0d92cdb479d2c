use super::Settled;
use crate::{ask::Outcome, error::Halt};

/// What stopped the resolvers of one function: the worst of it counts.
///
/// A failure, or a decline where the value is needed, ends the call; so it beats a question that is still open,
/// which only ends the round.
#[derive(Debug, Default)]
pub struct Halts(Option<Halt>);

impl Halts {
    /// What a parameter takes of a resolver's outcome; `None` if that stopped it.
    ///
    /// `from` is its [`FromOutcome`](crate::ask::FromOutcome). It is named where the parameter is, and there alone the
    /// parameter's type meets the resolver's, so that a mistake is told once, and without a word of this function.
    pub fn take<'a, T, P>(
        &mut self,
        settled: &'a Settled<T>,
        from: impl FnOnce(&'a Outcome<T>) -> Result<P, Halt>,
    ) -> Option<P> {
        settled.outcome().map_err(Halt::clone).and_then(from).map_err(|halt| self.add(halt)).ok()
    }

    fn add(&mut self, halt: Halt) {
        if self.0.as_ref().is_none_or(|worst| halt.outranks(worst)) {
            self.0 = Some(halt);
        }
    }

    /// Passes on what stopped it.
    ///
    /// # Errors
    ///
    /// The worst of what stopped its own resolvers.
    pub fn pass(self) -> Result<(), Halt> {
        self.0.map_or(Ok(()), Err)
    }
}
