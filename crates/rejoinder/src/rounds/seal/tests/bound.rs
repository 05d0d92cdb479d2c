//! What a state is bound to: time, request, server and caller.

use super::{super::token::StateEnvelope, *};

#[test]
fn b3_b7_a_state_is_for_one_method_and_target() {
    let seal = with_keys(&[ONE]);
    let [buy, sell] = ["buy", "sell"].map(|name| Binding::new("tools/call", name, None));
    let token = seal.seal(&buy, b"").unwrap();
    assert!(seal.open(&buy, &token).is_ok());
    assert_eq!(refusal(seal.open(&sell, &token)), StateRefusal::Request);
    assert_eq!(refusal(seal.open(&Binding::new("prompts/get", "buy", None), &token)), StateRefusal::Request);
    assert!(seal.open(&Binding::new("tools/callb", "uy", None), &token).is_err());

    let [one, other] = ["shop://1", "shop://2"].map(|uri| Binding::new("resources/read", uri, None));
    let token = seal.seal(&one, b"").unwrap();
    assert!(seal.open(&one, &token).is_ok());
    assert_eq!(refusal(seal.open(&other, &token)), StateRefusal::Request);
}

#[test]
fn b8_a_state_is_for_the_same_arguments() {
    let seal = with_keys(&[ONE]);
    let token = seal.seal(&call(), b"").unwrap();
    let with = |arguments| Binding::new("tools/call", "buy", arguments);
    assert!(seal.open(&with(Some(r#" { "count": 1, "item": "\u0074ea" } "#)), &token).is_ok());
    for other in [
        None,
        Some("{}"),
        Some(r#"{"item":"tea","count":2}"#),
        Some(r#"{"item":"tea"}"#),
        Some("garbage"),
        Some(r#"{"item":"tea","count":1.0}"#),
    ] {
        assert_eq!(refusal(seal.open(&with(other), &token)), StateRefusal::Arguments, "{other:?}");
    }
    let none = [None, Some("null"), Some(" null\n"), Some("{}"), Some(" { } ")];
    for (one, other) in none.into_iter().flat_map(|one| none.map(|other| (one, other))) {
        assert!(seal.open(&with(other), &seal.seal(&with(one), b"").unwrap()).is_ok(), "{one:?} {other:?}");
    }
}

#[test]
fn b35_lone_surrogates_fail_nothing() {
    let seal = with_keys(&[ONE]);
    let with = |arguments| Binding::new("tools/call", "buy", Some(arguments));
    let token = seal.seal(&with(r#"{"a":"\ud800"}"#), b"").unwrap();
    assert!(seal.open(&with(r#"{"a":"\ud800"}"#), &token).is_ok());
    assert_eq!(refusal(seal.open(&with(r#"{"a":"\udfff"}"#), &token)), StateRefusal::Arguments);
}

#[test]
fn b5_a_state_expires() {
    let hands = Hands::new();
    let seal = with_clock(&hands);
    let token = seal.seal(&call(), b"").unwrap();
    assert_eq!(seal.open(&call(), &token).unwrap().expires, hands.now() + Duration::from_mins(10));
    hands.forward(Duration::from_mins(10) - Duration::from_nanos(1));
    assert!(seal.open(&call(), &token).is_ok());
    hands.forward(Duration::from_nanos(1));
    assert_eq!(refusal(seal.open(&call(), &token)), StateRefusal::Expired);
}

#[test]
fn r_m3_an_expired_state_is_not_sealed() {
    let hands = Hands::new();
    let seal = with_clock(&hands);
    let until = hands.now() + Duration::from_mins(1);
    assert!(seal.seal_until(&call(), b"", Some(until)).is_ok());
    hands.forward(Duration::from_mins(1));
    let error = seal.seal_until(&call(), b"", Some(until)).unwrap_err();
    assert!(error.to_string().starts_with("the state of this call expired while the call ran"), "{error}");
}

#[test]
fn b36_a_fraction_of_a_second_counts() {
    let hands = Hands::new();
    let ttl = Duration::from_micros(250);
    let seal = Seal::new("shop", &StatePolicy { ttl, clock: hands.clock(), ..options(&[ONE]) }).unwrap();
    let token = seal.seal(&call(), b"").unwrap();
    hands.forward(Duration::from_nanos(249_999));
    assert!(seal.open(&call(), &token).is_ok());
    hands.forward(Duration::from_nanos(1));
    assert_eq!(refusal(seal.open(&call(), &token)), StateRefusal::Expired);
}

#[test]
fn b6_a_state_from_the_future_is_refused() {
    let (behind, ahead) = (Hands::new(), Hands::new());
    let (here, there) = (with_clock(&behind), with_clock(&ahead));
    for (seconds, opens) in [(30, true), (60, true), (61, false), (120, false)] {
        *ahead.0.lock().unwrap() = behind.now() + Duration::from_secs(seconds);
        let opened = here.open(&call(), &there.seal(&call(), b"").unwrap());
        assert_eq!(opened.is_ok(), opens, "{seconds}");
        if !opens {
            assert_eq!(refusal(opened), StateRefusal::FromTheFuture);
        }
    }
}

#[test]
fn b16_each_round_starts_the_time_again() {
    let hands = Hands::new();
    let seal = with_clock(&hands);
    let mut token = seal.seal(&call(), b"").unwrap();
    for _ in 0..5 {
        hands.forward(Duration::from_mins(9));
        let opened = seal.open(&call(), &token).unwrap();
        token = seal.seal(&call(), &opened.state).unwrap();
    }
    assert!(seal.open(&call(), &token).is_ok());
}

#[test]
fn b9_b37_a_state_is_for_one_caller() {
    let seal = with_keys(&[ONE]);
    let mine = call().principal(Some(Principal::new("me")));
    let token = seal.seal(&mine, b"").unwrap();
    assert!(seal.open(&mine, &token).is_ok());
    assert_eq!(refusal(seal.open(&call(), &token)), StateRefusal::Principal);
    for other in ["you", "m", "me ", "Me", ""] {
        let other = call().principal(Some(Principal::new(other)));
        assert_eq!(refusal(seal.open(&other, &token)), StateRefusal::Principal, "{other:?}");
    }
    let nobodys = seal.seal(&call(), b"").unwrap();
    assert!(seal.open(&call(), &nobodys).is_ok());
    assert_eq!(refusal(seal.open(&mine, &nobodys)), StateRefusal::Principal);
    assert_eq!(refusal(seal.open(&call().principal(Some(Principal::new(""))), &nobodys)), StateRefusal::Principal);
}

#[test]
fn b12_b13_b14_s24_a_state_is_for_one_server() {
    let of = |name: &str, audience: Option<&str>| {
        Seal::new(name, &StatePolicy { audience: audience.map(String::from), ..options(&[ONE]) }).unwrap()
    };
    let token = of("shop", None).seal(&call(), b"").unwrap();
    assert!(of("shop", None).open(&call(), &token).is_ok());
    assert!(of("other name", Some("shop")).open(&call(), &token).is_ok());
    for other in [of("bank", None), of("shop", Some("bank")), of("shopp", None)] {
        assert_eq!(refusal(other.open(&call(), &token)), StateRefusal::Audience);
        assert_eq!(refusal(of("shop", None).open(&call(), &other.seal(&call(), b"").unwrap())), StateRefusal::Audience);
    }
}

#[test]
fn b38_shared_keys_need_a_name() {
    let mistakes = Seal::new("", &options(&[ONE])).unwrap_err();
    assert!(mistakes[0].contains("`audience`"), "{mistakes:?}");
    assert!(Seal::new("", &StatePolicy { audience: Some("shop".into()), ..options(&[ONE]) }).is_ok());
    assert!(Seal::new("", &StatePolicy::default()).is_ok());
}

#[test]
fn s20_a_time_to_live_is_neither_nothing_nor_for_ever() {
    for (ttl, right) in [
        (Duration::ZERO, false),
        (Duration::from_nanos(1), true),
        (Duration::from_hours(30 * 24), true),
        (Duration::from_hours(31 * 24), false),
        (Duration::MAX, false),
    ] {
        assert_eq!(Seal::new("shop", &StatePolicy { ttl, ..Default::default() }).is_ok(), right, "{ttl:?}");
    }
    let all = StatePolicy { ttl: Duration::ZERO, limit: 10, audience: Some(String::new()), ..options(&[ONE]) };
    assert_eq!(Seal::new("shop", &all).unwrap_err().len(), 3);
    let mistakes =
        crate::Server::new("shop", "1").state(StatePolicy::new().limit(10).ttl(Duration::MAX)).check().unwrap_err();
    assert_eq!(mistakes.0.iter().filter(|mistake| mistake.subject == "`StatePolicy`").count(), 2);
}

#[test]
fn b11_b15_what_an_envelope_holds() {
    let hands = Hands::new();
    let seal = with_clock(&hands);
    let keys = StateKeys::new([ONE]).unwrap();
    let open = |binding: &Binding| {
        let inside = token::open(&keys, &seal.seal(binding, b"the state").unwrap()).unwrap();
        let (envelope, begin) = StateEnvelope::read(&inside).unwrap();
        assert_eq!(inside[begin..], *b"the state");
        envelope
    };
    let (nobody, once, again) = (
        open(&call()),
        open(&call().principal(Some(Principal::new("me")))),
        open(&call().principal(Some(Principal::new("me")))),
    );
    let now = super::super::nanoseconds(hands.now());
    assert_eq!((once.issued, once.expires), (now, now + 600_000_000_000));
    assert_eq!(once.bound[..3], nobody.bound[..3]);
    assert_ne!(once.id, again.id);
    assert_ne!(once.bound[3], again.bound[3], "salted");
}
