//! One text for everything that is the same JSON.
//!
//! Like RFC 8785: no white space, members in the order of their names, one spelling of a string. Numbers go further: they
//! are compared as the decimal numbers they are, not as the nearest double. A client that writes `1.0` for `1` the second
//! time means the same, but `9007199254740993` is not `9007199254740992`: somebody may have agreed to one of them only.
//! For the same reason a name that is there twice stays there twice: which of the two counts is not ours to guess.

use std::{borrow::Cow, ops::Range};

/// A deeper text counts as it is written, so that no argument exhausts the stack.
const DEEPEST: usize = 128;

/// The canonical form of a JSON text. Anything that is not JSON is its own, and no JSON text has the same.
pub(super) fn canonical(json: &str) -> Vec<u8> {
    let mut walk = Walk { rest: json, out: Vec::with_capacity(json.len()), disordered: Vec::new() };
    if walk.value(0).is_some() && walk.peek().is_none() {
        return walk.in_order();
    }
    [b"\0", json.as_bytes()].concat()
}

struct Walk<'a> {
    rest: &'a str,
    /// Everything in its canonical spelling, members in the order in which they came.
    out: Vec<u8>,
    /// The objects whose members are to change places.
    disordered: Vec<Disordered>,
}

/// A member's name, and where it is in the output.
struct Member<'a> {
    name: Cow<'a, str>,
    place: Range<usize>,
}

/// Where an object is in the output, from its brace to its last member, and the order in which these should be.
struct Disordered {
    place: Range<usize>,
    members: Vec<Range<usize>>,
}

impl<'a> Walk<'a> {
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
        self.rest.bytes().next()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.rest = &self.rest[1..])
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' | b'[' if depth == DEEPEST => None,
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => {
                let text = self.string()?;
                self.write_string(&text)
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => ["true", "false", "null"].into_iter().find(|word| self.rest.starts_with(word)).map(|word| {
                self.take(word.len());
                self.out.extend_from_slice(word.as_bytes());
            }),
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.eat(b'[')?;
        self.out.push(b'[');
        let mut first = true;
        while self.eat(b']').is_none() {
            if !first {
                self.eat(b',')?;
                self.out.push(b',');
            }
            self.value(depth + 1)?;
            first = false;
        }
        self.out.push(b']');
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.eat(b'{')?;
        let start = self.out.len();
        self.out.push(b'{');
        let mut members: Vec<Member<'a>> = Vec::new();
        while self.eat(b'}').is_none() {
            if !members.is_empty() {
                self.eat(b',')?;
            }
            self.peek();
            let name = self.string()?;
            self.eat(b':')?;
            let begin = self.out.len();
            self.write_string(&name)?;
            self.out.push(b':');
            self.value(depth + 1)?;
            // After every member, so that members can change places.
            self.out.push(b',');
            members.push(Member { name, place: begin..self.out.len() });
        }
        if !members.is_sorted_by(|a, b| a.name <= b.name) {
            // Stable: of two members of one name the first stays the first.
            members.sort_by(|a, b| a.name.cmp(&b.name));
            let members = members.into_iter().map(|member| member.place).collect();
            self.disordered.push(Disordered { place: start..self.out.len(), members });
        }
        self.out.push(b'}');
        Some(())
    }

    /// What was written, with all members where they should be. Each byte is copied once, however deep it lies.
    fn in_order(mut self) -> Vec<u8> {
        if self.disordered.is_empty() {
            return self.out;
        }
        self.disordered.sort_unstable_by_key(|object| object.place.start);
        let mut ordered = Vec::with_capacity(self.out.len());
        self.copy_in_order(0..self.out.len(), &mut ordered);
        ordered
    }

    fn copy_in_order(&self, range: Range<usize>, ordered: &mut Vec<u8>) {
        let mut at = range.start;
        loop {
            let next = self.disordered.partition_point(|object| object.place.start < at);
            let Some(object) = self.disordered.get(next).filter(|object| object.place.start < range.end) else { break };
            ordered.extend_from_slice(&self.out[at..=object.place.start]);
            object.members.iter().for_each(|member| self.copy_in_order(member.clone(), ordered));
            at = object.place.end;
        }
        ordered.extend_from_slice(&self.out[at..range.end]);
    }

    /// The string that begins here, decoded; `None` too for half of a surrogate pair.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.rest.as_bytes();
        if bytes.first() != Some(&b'"') {
            return None;
        }
        let mut end = 1;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let literal = self.rest.get(..=end)?;
        self.take(literal.len());
        match &literal[1..end] {
            plain if !plain.contains('\\') && !plain.bytes().any(|byte| byte < b' ') => Some(Cow::Borrowed(plain)),
            _ => serde_json::from_str(literal).ok().map(Cow::Owned),
        }
    }

    fn write_string(&mut self, text: &str) -> Option<()> {
        serde_json::to_writer(&mut self.out, text).ok()
    }

    /// A decimal number as its digits, without zeros at either end, and a power of ten.
    fn number(&mut self) -> Option<()> {
        let length = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let literal = self.take(length.unwrap_or(self.rest.len()));
        let (minus, unsigned) = literal.strip_prefix('-').map_or((false, literal), |unsigned| (true, unsigned));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, ""), |(whole, fraction)| (whole, fraction));
        let digits = [whole, fraction].concat();
        if whole.is_empty() || mantissa.ends_with('.') || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let exponent: i128 = exponent.parse().ok()?;
        let significant = digits.trim_end_matches('0');
        let zeros = i128::try_from(digits.len() - significant.len()).ok()?;
        let exponent = exponent.checked_sub(i128::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        match significant.trim_start_matches('0') {
            "" => self.out.push(b'0'),
            digits => {
                let sign = if minus { "-" } else { "" };
                self.out.extend_from_slice(format!("{sign}{digits}e{exponent}").as_bytes());
            }
        }
        Some(())
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
}
