//! What a token looks like, and that it has one form only.

use super::*;

#[test]
fn s1_what_is_sealed_opens_as_it_was() {
    let seal = with_keys(&[ONE]);
    for state in [&b""[..], b"plain", "grüße".as_bytes(), &[0, 255, 128, 10], &[42; 40_000]] {
        let token = seal.seal(&call(), state).unwrap();
        assert_eq!(seal.open(&call(), &token).unwrap().state, state);
    }
}

#[test]
fn s2_the_form_and_the_length() {
    let seal = with_keys(&[ONE]);
    for named in [false, true] {
        let binding = call().principal(named.then(|| Principal::new("me")));
        for length in 0..10 {
            let token = seal.seal(&binding, &vec![0; length]).unwrap();
            assert!(token.starts_with("v1."));
            assert!(token[3..].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            assert_eq!(bytes(&token).len(), 4 + 24 + 113 + length + 16);
            assert_eq!(token.len(), token::length(token::ENVELOPE + length));
        }
    }
}

#[test]
fn s3_no_two_seals_are_alike() {
    let seal = with_keys(&[ONE]);
    let (one, other) = (seal.seal(&call(), b"same").unwrap(), seal.seal(&call(), b"same").unwrap());
    let (one_bytes, other_bytes) = (bytes(&one), bytes(&other));
    assert_eq!(one_bytes[..4], other_bytes[..4]);
    assert_ne!(one_bytes[4..28], other_bytes[4..28]);
    assert_ne!(one_bytes[28..], other_bytes[28..]);
    assert_ne!(seal.open(&call(), &one).unwrap().id, seal.open(&call(), &other).unwrap().id);
}

#[test]
fn s4_a_change_anywhere_is_refused() {
    let seal = with_keys(&[ONE]);
    let sealed = bytes(&seal.seal(&call(), b"state").unwrap());
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        let reason = refusal(seal.open(&call(), &text(&changed)));
        assert_eq!(reason, if at < 4 { StateRefusal::UnknownKey } else { StateRefusal::Broken }, "byte {at}");
    }
}

#[test]
fn s5_a_text_that_is_not_a_token_is_refused() {
    let seal = with_keys(&[ONE]);
    let token = seal.seal(&call(), b"").unwrap();
    for garbage in
        ["", "v1", "v1.", "v1.AAAA", &token[3..], "{\"answers\":{}}", "v1.ünïcödé", &token[..token.len() / 8]]
    {
        assert_eq!(refusal(seal.open(&call(), garbage)), StateRefusal::Malformed, "{garbage}");
    }
}

#[test]
fn s14_nothing_of_it_can_be_read() {
    let state = b"the answer that nobody else may read";
    let binding = call().principal(Some(Principal::new("somebody")));
    let token = with_keys(&[ONE]).seal(&binding, state).unwrap();
    let sealed = bytes(&token);
    for part in [&state[..], b"somebody", b"tools/call"] {
        assert!(!sealed.windows(part.len()).any(|window| window == part));
        assert!(!token.as_bytes().windows(part.len()).any(|window| window == part));
    }
}

#[test]
fn s15_every_other_last_character_is_refused() {
    let seal = with_keys(&[ONE]);
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for state in [&b""[..], b"1", b"12"] {
        let token = seal.seal(&call(), state).unwrap();
        let (rest, last) = token.split_at(token.len() - 1);
        for other in alphabet.chars().filter(|other| !last.starts_with(*other)) {
            assert!(seal.open(&call(), &format!("{rest}{other}")).is_err());
        }
    }
}

#[test]
fn s16_no_other_spelling_opens() {
    let seal = with_keys(&[ONE]);
    for state in [&b""[..], b"1", b"12"] {
        let token = seal.seal(&call(), state).unwrap();
        let middle = token.len() / 2;
        for junk in ["=", "==", "\n", " ", "\0", "A", "."] {
            let (front, back) = token.split_at(middle);
            for alias in [format!("{token}{junk}"), format!("{junk}{token}"), format!("{front}{junk}{back}")] {
                assert!(seal.open(&call(), &alias).is_err(), "{junk:?}");
            }
        }
        let standard = token.replace('-', "+").replace('_', "/");
        assert!(standard == token || seal.open(&call(), &standard).is_err());
        assert!(seal.open(&call(), &token.replacen("v1.", "V1.", 1)).is_err());
    }
}

#[test]
fn s17_another_version_is_refused() {
    let seal = with_keys(&[ONE]);
    let token = seal.seal(&call(), b"").unwrap();
    assert_eq!(refusal(seal.open(&call(), &token.replacen("v1.", "v2.", 1))), StateRefusal::Malformed);
}

#[test]
fn b25_b26_what_is_sealed_must_be_an_envelope() {
    let seal = with_keys(&[ONE]);
    let keys = StateKeys::new([ONE]).unwrap();
    let whole = {
        let token = seal.seal(&call().principal(Some(Principal::new("me"))), b"").unwrap();
        token::open(&keys, &token).unwrap()
    };
    let mut other_version = whole.clone();
    other_version[0] = 1;
    for payload in [&b""[..], b"{}", b"null", &whole[..whole.len() - 1], &other_version] {
        let token = token::seal(keys.first(), [9; 24], payload.len(), |out| out.extend_from_slice(payload));
        assert_eq!(refusal(seal.open(&call(), &token)), StateRefusal::Envelope);
    }
}

#[test]
fn a_state_that_nobody_can_send_back_is_not_sealed() {
    let seal = Seal::new("shop", &StatePolicy { limit: 1000, ..options(&[ONE]) }).unwrap();
    let longest = (0..1000).rev().find(|length| seal.seal(&call(), &vec![0; *length]).is_ok()).unwrap();
    let token = seal.seal(&call(), &vec![0; longest]).unwrap();
    assert!((997..=1000).contains(&token.len()), "{}", token.len());
    assert!(seal.open(&call(), &token).is_ok());
    let error = seal.seal(&call(), &vec![0; 2000]).unwrap_err();
    assert!(error.to_string().starts_with("the state of this call takes 2879 bytes, and the limit is 1000"), "{error}");

    let larger = with_keys(&[ONE]).seal(&call(), &vec![0; 2000]).unwrap();
    assert_eq!(refusal(seal.open(&call(), &larger)), StateRefusal::TooLong);
    let default = StatePolicy::default().limit;
    assert_eq!(default, 64 * 1024);
}
