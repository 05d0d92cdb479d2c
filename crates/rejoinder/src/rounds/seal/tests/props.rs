//! What holds for any state, any call and any change.

use proptest::prelude::*;

use super::*;

/// Method, target, arguments, principal, audience.
fn any_call() -> impl Strategy<Value = (&'static str, String, String, Option<String>, String)> {
    let arguments = prop::collection::btree_map("[a-z]{1,5}", any::<i32>(), 0..4)
        .prop_map(|arguments| serde_json::to_string(&arguments).unwrap());
    let method = prop::sample::select(vec!["tools/call", "prompts/get", "resources/read"]);
    let principal = prop::option::of(".{0,8}");
    (method, ".{0,20}", arguments, principal, ".{1,10}")
}

fn with<R>(call: &(&'static str, String, String, Option<String>, String), run: impl FnOnce(&Seal, &Binding) -> R) -> R {
    let (method, target, arguments, principal, audience) = call;
    let options = StatePolicy { audience: Some(audience.clone()), ..options(&[ONE]) };
    let binding = Binding::new(method, target, Some(arguments)).principal(principal.as_ref().map(Principal::new));
    run(&Seal::new("shop", &options).unwrap(), &binding)
}

proptest! {
    #[test]
    fn what_is_sealed_opens_in_another_server_with_the_key(call in any_call(), state: Vec<u8>) {
        let token = with(&call, |seal, binding| seal.seal(binding, &state).unwrap());
        let opened = with(&call, |seal, binding| seal.open(binding, &token).unwrap());
        prop_assert_eq!(opened.state, state);
    }

    #[test]
    fn a_state_opens_for_its_own_call_only(mut call in any_call(), other in any_call(), field in 0..5, state: Vec<u8>) {
        let token = with(&call, |seal, binding| seal.seal(binding, &state).unwrap());
        let before = call.clone();
        match field {
            0 => call.0 = other.0,
            1 => call.1 = other.1,
            2 => call.2 = other.2,
            3 => call.3 = other.3,
            _ => call.4 = other.4,
        }
        let opens = with(&call, |seal, binding| seal.open(binding, &token).is_ok());
        prop_assert_eq!(opens, call == before);
    }

    #[test]
    fn a_bit_flipped_anywhere_is_refused(state: Vec<u8>, at: prop::sample::Index, bit in 0..8_u8) {
        let seal = with_keys(&[ONE]);
        let token = seal.seal(&call(), &state).unwrap();
        let mut sealed = bytes(&token);
        let byte = at.index(sealed.len());
        sealed[byte] ^= 1_u8 << bit;
        prop_assert!(seal.open(&call(), &text(&sealed)).is_err());

        let mut written = token.into_bytes();
        let byte = at.index(written.len());
        written[byte] ^= 1_u8 << bit;
        if let Ok(written) = String::from_utf8(written) {
            prop_assert!(seal.open(&call(), &written).is_err());
        }
    }

    #[test]
    fn a_part_of_a_token_is_refused(state: Vec<u8>, at: prop::sample::Index) {
        let seal = with_keys(&[ONE]);
        let token = seal.seal(&call(), &state).unwrap();
        let (front, back) = token.split_at(at.index(token.len()));
        prop_assert!(seal.open(&call(), front).is_err());
        prop_assert!(front.is_empty() || seal.open(&call(), back).is_err());
        let sealed = bytes(&token);
        prop_assert!(seal.open(&call(), &text(&sealed[..at.index(sealed.len())])).is_err());
    }

    #[test]
    fn more_than_a_token_is_refused(state: Vec<u8>, more in prop::collection::vec(any::<u8>(), 1..20), text_more in ".{1,9}") {
        let seal = with_keys(&[ONE]);
        let token = seal.seal(&call(), &state).unwrap();
        let token_more = format!("{token}{text_more}");
        prop_assert!(seal.open(&call(), &token_more).is_err());
        prop_assert!(seal.open(&call(), &text(&[bytes(&token), more].concat())).is_err());
    }

    #[test]
    fn nothing_that_was_not_sealed_opens(garbage: String, raw: Vec<u8>) {
        let seal = with_keys(&[ONE]);
        prop_assert!(seal.open(&call(), &garbage).is_err());
        prop_assert!(seal.open(&call(), &text(&raw)).is_err());
    }
}
