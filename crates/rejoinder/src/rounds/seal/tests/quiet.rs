//! What the log says.

use super::{log::Log, *};

/// Refusals of every kind that a client can cause.
fn refusals() -> Vec<(StateRefusal, String)> {
    const STATE: &[u8] = b"topsecret-state";
    let hands = Hands::new();
    let seal = with_clock(&hands);
    let mine = call().principal(Some(Principal::new("topsecret-subject")));
    let token = seal.seal(&mine, STATE).unwrap();
    let mut broken = bytes(&token);
    broken[60] ^= 1;
    let nobodys = seal.seal(&call(), STATE).unwrap();
    let elsewhere = Seal::new("elsewhere", &options(&[ONE])).unwrap().seal(&mine, STATE).unwrap();
    let foreign = with_keys(&[TWO]).seal(&mine, STATE).unwrap();
    let payload = token::seal(StateKeys::new([ONE]).unwrap().first(), [0; 24], 15, |out| out.extend_from_slice(STATE));
    let other_target = Binding::new("tools/call", "topsecret-target", None);
    let other_arguments = Binding::new("tools/call", "buy", Some(r#"{"item":"topsecret-item"}"#));
    let mut found: Vec<(StateRefusal, String)> = [
        (&mine, "topsecret".to_owned()),
        (&mine, text(&broken)),
        (&mine, nobodys),
        (&mine, elsewhere),
        (&mine, foreign),
        (&mine, payload),
        (&mine, "A".repeat(70_000)),
        (&call(), token.clone()),
        (&call().principal(Some(Principal::new("somebody else"))), token.clone()),
        (&other_target, token.clone()),
        (&other_arguments, token.clone()),
    ]
    .into_iter()
    .map(|(binding, token)| (seal.open(binding, &token).unwrap_err(), token))
    .collect();
    hands.forward(Duration::from_mins(11));
    found.push((seal.open(&mine, &token).unwrap_err(), token.clone()));
    hands.0.lock().unwrap().clone_from(&(SystemTime::now() - Duration::from_hours(1)));
    found.push((seal.open(&mine, &token).unwrap_err(), token));
    found
}

#[test]
fn a_l14_a_client_that_sends_bad_states_does_not_fill_the_log() {
    let seal = with_keys(&[ONE]);
    let log = Log::of(|| {
        for _ in 0..100 {
            assert!(seal.open(&call(), "made up").is_err());
        }
        assert!(seal.open(&call(), &with_keys(&[TWO]).seal(&call(), b"").unwrap()).is_err());
    });
    assert_eq!(log.lines().count(), 2, "each reason once: {log}");
}

#[test]
fn b27_the_log_has_the_reason_of_a_refusal_and_no_secret() {
    let mut all = Vec::new();
    let log = Log::of(|| all = refusals());
    let mut reasons: Vec<_> = all.iter().map(|(refused, _)| format!("{refused:?}")).collect();
    reasons.sort();
    reasons.dedup();
    assert_eq!(reasons.len(), 11, "one for all that is wrong with a caller, and one for each other: {reasons:?}");
    for (_, token) in &all {
        assert!(!log.contains(token.as_str()) || token.len() < 3, "a token is in the log");
        assert!(token.len() < 100 || !log.contains(&token[10..40]), "a part of a token is in the log");
    }
    assert_eq!(log.lines().filter(|line| line.contains("WARN") && line.contains("refused a requestState")).count(), 11);
    for secret in ["topsecret", "tea", "somebody", "first of two", "[116, 104, 101", "dGhlIGZpcnN0"] {
        assert!(!log.contains(secret), "{secret} is in the log:\n{log}");
    }
    assert!(log.contains("its seal is broken") && log.contains("it belongs to another caller"));
}

#[test]
fn the_log_says_where_keys_that_differ_come_from() {
    let token = with_keys(&[ONE]).seal(&call(), b"").unwrap();
    let log = Log::of(|| assert!(with_keys(&[TWO]).open(&call(), &token).is_err()));
    assert!(log.contains("set REJOINDER_STATE_KEYS to the same value in all processes"), "{log}");
}

#[test]
fn nothing_that_opens_is_logged() {
    let seal = with_keys(&[ONE]);
    let log = Log::of(|| {
        let token = seal.seal(&call(), b"state").unwrap();
        assert!(seal.open(&call(), &token).is_ok());
    });
    assert_eq!(log, "");
}

#[test]
fn debug_shows_no_secret() {
    let options = options(&[*b"abcdefghijklmnopqrstuvwxyz012345", TWO]);
    let seal = Seal::new("shop", &options).unwrap();
    let opened = seal.open(&call(), &seal.seal(&call(), b"abcdefgh").unwrap()).unwrap();
    let server = crate::Server::new("shop", "1").state(options.clone()).build().unwrap();
    let shown = format!("{:?} {options:?} {seal:?} {opened:?} {server:?}", options.keys);
    assert!(shown.contains("StateKeys(2)"));
    for secret in ["abcdefgh", "[97, 98", "[2, 2"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn only_a_random_key_is_warned_about() {
    let random = Seal::new("shop", &StatePolicy::default()).unwrap();
    let log = Log::of(|| random.warn_about_random_key());
    assert!(log.contains("WARN") && log.contains("set REJOINDER_STATE_KEYS"), "{log}");
    assert_eq!(Log::of(|| with_keys(&[ONE]).warn_about_random_key()), "");
    let log = Log::of(|| random.mention_random_key());
    assert!(log.contains("INFO") && log.contains("a random key of this process"), "{log}");
    assert_eq!(Log::of(|| with_keys(&[ONE]).mention_random_key()), "");
}

#[test]
fn a_random_key_is_warned_about_once_when_it_is_used() {
    let random = Seal::new("shop", &StatePolicy::default()).unwrap();
    let seal = |seal: &Seal| Log::of(|| drop(seal.seal(&call(), b"state").unwrap()));
    assert_eq!(seal(&random), "", "nobody has asked for it");
    assert_eq!(Log::of(|| random.warn_about_random_key_when_used()), "", "it is not used yet");
    assert!(seal(&random).contains("WARN"));
    assert_eq!(seal(&random), "", "once is enough");
    let shared = with_keys(&[ONE]);
    shared.warn_about_random_key_when_used();
    assert_eq!(seal(&shared), "");
}
