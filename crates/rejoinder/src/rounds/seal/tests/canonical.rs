//! Which texts are the same JSON.

use proptest::prelude::*;
use serde_json::Value;

use super::super::canonical::{DEEPEST, canonical};

fn same(one: &str, other: &str) -> bool {
    canonical(one) == canonical(other)
}

#[test]
fn order_white_space_and_spelling_do_not_count() {
    assert!(same(r#"{"b":[1,{"d":2,"c":3}],"a":null}"#, "{ \"a\" : null,\n\t\"b\":[ 1 , {\"c\":3,\"d\":2} ] }"));
    assert!(same(r#""\u0041\/é""#, "\"A/\u{e9}\""));
    assert!(same("[]", " [ ] "));
}

#[test]
fn a_number_counts_as_the_number_it_is() {
    for one in ["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000e0"] {
        assert!(same("1", one), "{one}");
    }
    assert!(same("0", "-0.0e5"));
    assert!(same("-1200", "-1.2e3"));
    for (one, other) in [
        ("1", "-1"),
        ("1", "10"),
        ("1", "1.01"),
        ("9007199254740993", "9007199254740992"),
        ("100000000000000000001", "100000000000000000000"),
        ("1", "\"1\""),
        ("0", "null"),
    ] {
        assert!(!same(one, other), "{one} and {other}");
    }
}

#[test]
fn a_name_that_is_there_twice_stays_there_twice() {
    assert!(!same(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
    assert!(!same(r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#));
    assert!(same(r#"{"b":0,"a":1,"a":2}"#, r#"{"a":1,"b":0,"a":2}"#));
}

#[test]
fn b35_what_cannot_be_read_counts_as_it_is_written() {
    for odd in [r#""\ud800""#, "", "{", "[1,]", "{\"a\"}", "1 2", "tru", "1.", "-", ".5", "1e", "\"\\"] {
        assert_eq!(canonical(odd), format!("\0{odd}").into_bytes());
    }
    assert!(!same(r#"{"a":"\ud800"}"#, r#"{"a":"\ud801"}"#));
}

#[test]
fn members_are_in_order_at_every_depth() {
    let nested = |one: &str, other: &str| {
        let (mut sorted, mut reversed) = ("0".to_owned(), "0".to_owned());
        for _ in 0..DEEPEST - 2 {
            sorted = format!("{{{one}:{sorted},{other}:[{{}}]}}");
            reversed = format!("{{{other}:[{{}}],{one}:{reversed}}}");
        }
        (sorted, reversed)
    };
    for (one, other) in [(r#""a""#, r#""b""#), (r#""b""#, r#""a""#)] {
        let (sorted, reversed) = nested(one, other);
        assert_ne!(canonical(&sorted)[0], 0);
        assert!(same(&sorted, &reversed));
    }
}

#[test]
fn depth_does_not_exhaust_the_stack() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(canonical(&deep).len(), deep.len() + 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no other", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => members.iter().rev().map(|(name, of)| (name.clone(), reversed(of))).collect(),
        _ => value.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_members_never_counts(value in any_json()) {
        let pretty = serde_json::to_string_pretty(&reversed(&value)).unwrap();
        prop_assert!(same(&value.to_string(), &pretty));
        prop_assert_ne!(canonical(&pretty)[0], 0);
    }

    #[test]
    fn values_that_differ_have_forms_that_differ(one in any_json(), other in any_json()) {
        prop_assert_eq!(one == other, same(&one.to_string(), &other.to_string()));
    }

    #[test]
    fn nothing_panics(text in any::<String>(), odd in r#"[\[\]{}",:0-9eE.+\\u -]{0,40}"#) {
        canonical(&text);
        canonical(&odd);
    }
}
