use super::{Binding, Seal, StateKeys, StatePolicy};

/// What must hold whatever comes in: nothing panics, nothing foreign opens, and what is sealed opens as it was.
///
/// The input is a token as it is; and, up to the first byte 0, the arguments of a call whose state is the rest.
#[doc(hidden)]
pub fn fuzz(input: &[u8]) {
    let keys = StateKeys::new([[7; 32], [8; 32]]).expect("two keys of 32 bytes");
    let options = StatePolicy { keys: Some(keys), limit: usize::MAX, ..StatePolicy::default() };
    let seal = Seal::new("fuzz", &options).expect("the options are right");

    let text = String::from_utf8_lossy(input);
    let split = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (arguments, state) = input.split_at(split);
    let arguments = String::from_utf8_lossy(arguments);
    let binding = Binding::new("tools/call", "fuzz", Some(&arguments)).principal(Some(&["client", "subject"]));
    assert!(seal.open(&binding, &text).is_err(), "nobody can forge a state");

    let Ok(token) = seal.seal(&binding, state) else { return };
    let opened = seal.open(&binding, &token).expect("what was sealed opens");
    assert!(opened.state == state, "and is what was sealed");
    assert!(seal.open(&binding, &format!("{token}{text}")).is_err() || text.is_empty(), "and nothing longer");
    assert!(seal.open(&Binding::new("tools/call", "fuzz", Some(&arguments)), &token).is_err(), "for nobody else");
}
