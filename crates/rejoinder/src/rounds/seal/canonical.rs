//! Canonical JSON: the same bytes for texts that mean the same. They are only hashed, never read.
//!
//! The order of members, white space and escapes do not count. `1` and `1.0` are different: an untagged enum, for example,
//! may read one as cents and the other as euros. So are `0` and `-0`. `1.0` and `1e0` are the same. A name that occurs twice
//! is kept twice, in order. A number that a double may round (`9007199254740993.0`), text that is not JSON, and JSON that is
//! nested too deeply count as they are written: a user may have agreed to one number, not to another.

use std::fmt;

use ring::digest::{SHA256, digest};
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

use crate::call::MemberName;

/// The canonical form of a JSON text.
pub(super) fn canonical(json: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + 64);
    let mut deserializer = serde_json::Deserializer::from_str(json);
    match (Canonical { out: &mut out }).deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => out,
        Err(_) => as_written(json),
    }
}

/// No canonical form begins like this.
fn as_written(json: &str) -> Vec<u8> {
    [b"\0", json.as_bytes()].concat()
}

/// Writes a value as it is read.
struct Canonical<'o> {
    out: &'o mut Vec<u8>,
}

impl Canonical<'_> {
    fn write(self, text: impl fmt::Display) {
        use std::io::Write;
        write!(self.out, "{text};").expect("writing to a vector does not fail");
    }

    /// Strings are written after their length, so they need no quotes and no escapes.
    fn write_str(&mut self, text: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(&(text.len() as u64).to_be_bytes());
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Replaces what was written since `start` by its digest if that is shorter, so that no level copies the levels below.
    /// The whole is hashed anyway.
    fn shorten(&mut self, start: usize) {
        if start > 0 && self.out.len() - start > 1 + 32 {
            let digest = digest(&SHA256, &self.out[start..]);
            self.out.truncate(start);
            self.out.push(b'#');
            self.out.extend_from_slice(digest.as_ref());
        }
    }
}

impl<'de> DeserializeSeed<'de> for Canonical<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Canonical<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.write("null");
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.write(value);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.write(number);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.write(number);
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        /// All smaller integers are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.abs() >= EXACT {
            return Err(E::custom("a number that may have been rounded"));
        }
        // Unlike `Display`, this always has a point or an exponent, so that no float is written like an integer.
        self.write(format_args!("{number:?}"));
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.write_str(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let start = self.out.len();
        self.out.push(b'[');
        while items.next_element_seed(Canonical { out: self.out })?.is_some() {}
        self.out.push(b']');
        self.shorten(start);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let start = self.out.len();
        self.out.push(b'{');
        let (first, mut members) = (self.out.len(), Vec::new());
        while let Some(MemberName(name)) = map.next_key()? {
            let begin = self.out.len();
            self.write_str(&name);
            map.next_value_seed(Canonical { out: self.out })?;
            members.push((name, begin - first..self.out.len() - first));
        }
        if !members.is_sorted_by_key(|(name, _)| name) {
            // Stable: of two members of one name the first stays the first.
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let written = self.out.split_off(first);
            members.into_iter().for_each(|(_, member)| self.out.extend_from_slice(&written[member]));
        }
        self.out.push(b'}');
        self.shorten(start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

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
        assert!(same(r#"{"b":0,"a":1,"a":2}"#, r#"{"a":1,"b":0,"a":2}"#));
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
