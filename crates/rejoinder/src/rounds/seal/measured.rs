use super::{Binding, Seal, StateKeys, StatePolicy};

/// The seal by itself, for whoever measures what it costs.
#[doc(hidden)]
#[derive(Debug)]
pub struct MeasuredSeal(Seal);

impl MeasuredSeal {
    /// With a key of its own.
    #[expect(clippy::new_without_default, reason = "not a value with a default, but a door")]
    pub fn new() -> Self {
        let keys = StateKeys::new([[7; 32]]).expect("a key of 32 bytes");
        let options = StatePolicy { keys: Some(keys), ..StatePolicy::default() };
        Self(Seal::new("measured", &options).expect("the options are right"))
    }

    /// Seals a state as the reply of a round does, and opens it as the next one does; how long it was.
    ///
    /// Each of the two finds out by itself which call the state is for, as each is another request.
    pub fn there_and_back(&self, state: &[u8]) -> usize {
        let binding = || Binding::new("tools/call", "remove", Some(r#"{"path":"photos/2019"}"#));
        let token = self.0.seal(&binding(), state).expect("it is small enough");
        self.0.open(&binding(), &token).expect("what was sealed opens").state.len()
    }
}
