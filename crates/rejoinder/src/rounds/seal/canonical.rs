//! Canonical JSON: the same bytes for texts that mean the same. They are only hashed, never read.
//!
//! The order of members, white space and escapes do not count. `1` and `1.0` are different: an untagged enum, for example,
//! may read one as cents and the other as euros. So are `0` and `-0`. `1.0` and `1e0` are the same. JSON in which a name
//! occurs twice in an object, a number that a double may round (`9007199254740993.0`), text that is not JSON, and JSON that
//! is nested too deeply count as they are written: a user may have agreed to one number, not to another.

use serde_json::Value;

/// The canonical form of a JSON text.
pub(super) fn canonical(json: &str) -> Vec<u8> {
    let (mut out, value) = (Vec::with_capacity(json.len()), serde_json::from_str(json));
    match value.ok().and_then(|value| write(&value, &mut out)) {
        Some(members) if members == members_written(json) => out,
        _ => as_written(json),
    }
}

/// No canonical form begins like this.
fn as_written(json: &str) -> Vec<u8> {
    [b"\0", json.as_bytes()].concat()
}

/// How many members the objects in a JSON text have. A value has only the last of two members of one name.
fn members_written(json: &str) -> usize {
    let (mut members, mut in_string, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b':' if !in_string => members += 1,
            _ => {}
        }
    }
    members
}

/// Writes a value, and returns how many members its objects have; `None` if a number in it may have been rounded.
fn write(value: &Value, out: &mut Vec<u8>) -> Option<usize> {
    /// All smaller integers are exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let mut count = 0;
    match value {
        Value::Object(members) => {
            // Whether a map is sorted depends on a feature of serde_json.
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'{');
            for (name, value) in members {
                serde_json::to_writer(&mut *out, name).ok()?;
                count += 1 + write(value, out)?;
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                count += write(item, out)?;
            }
            out.push(b']');
        }
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|number| number.abs() >= EXACT) => {
            return None;
        }
        leaf => {
            serde_json::to_writer(&mut *out, leaf).ok()?;
            out.push(b',');
        }
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(one: &str, other: &str) -> bool {
        canonical(one) == canonical(other)
    }

    fn is_as_written(json: &str) -> bool {
        canonical(json) == as_written(json)
    }

    #[test]
    fn order_white_space_and_spelling_do_not_count() {
        assert!(same(r#"{"b":[1,{"d":2,"c":3}],"a":null}"#, "{ \"a\" : null,\n\t\"b\":[ 1 , {\"c\":3,\"d\":2} ] }"));
        assert!(same(r#""\u0041\/é""#, "\"A/\u{e9}\""));
        assert!(same("[]", " [ ] "));
    }

    #[test]
    fn a_l13_a_number_counts_as_the_value_that_is_read() {
        for one in ["1.0", "1e0", "10e-1", "0.1E+1", "1.000e0"] {
            assert!(same("1.0", one), "{one}");
        }
        assert!(same("-0.0", "-0.0e5"));
        assert!(same("-1200.0", "-1.2e3"));
        for (one, other) in [
            ("100", "100.0"),
            ("100", "1e2"),
            ("0", "-0"),
            ("0", "-0.0"),
            ("0.0", "-0.0"),
            ("9007199254740993", "9007199254740993.0"),
            ("18446744073709551616", "18446744073709551616.0"),
            ("1", "-1"),
            ("1", "10"),
            ("1", "1.01"),
            ("9007199254740993", "9007199254740992"),
            ("100000000000000000001", "100000000000000000000"),
            ("9007199254740993.0", "9007199254740992.0"),
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
        assert!(is_as_written(r#"[{"a:\\":"\":","b":{"c":1,"\u0063":2}}]"#));
        assert!(!is_as_written(r#"[{"a:\\":"\":","b":{"c":1,"\u0064\\\"":2}}]"#));
    }

    #[test]
    fn b35_text_that_cannot_be_read_counts_as_it_is_written() {
        for odd in [r#""\ud800""#, "", "{", "[1,]", "{\"a\"}", "1 2", "tru", "1.", "-", ".5", "1e", "\"\\"] {
            assert!(is_as_written(odd), "{odd}");
        }
        assert!(!same(r#"{"a":"\ud800"}"#, r#"{"a":"\ud801"}"#));
    }

    #[test]
    fn members_are_in_order_at_every_depth() {
        let nested = |one: &str, other: &str| {
            let (mut sorted, mut reversed) = ("0".to_owned(), "0".to_owned());
            for _ in 0..100 {
                sorted = format!("{{{one}:{sorted},{other}:[{{}}]}}");
                reversed = format!("{{{other}:[{{}}],{one}:{reversed}}}");
            }
            (sorted, reversed)
        };
        for (one, other) in [(r#""a""#, r#""b""#), (r#""b""#, r#""a""#)] {
            let (sorted, reversed) = nested(one, other);
            assert!(!is_as_written(&sorted) && same(&sorted, &reversed));
        }
    }

    #[test]
    fn depth_does_not_exhaust_the_stack() {
        assert!(is_as_written(&"[".repeat(1_000_000)));
        assert!(is_as_written(&format!("{}{}", "[".repeat(1000), "]".repeat(1000))));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e15..1e15).prop_map(Value::from),
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
            prop_assert!(!is_as_written(&pretty));
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
}
