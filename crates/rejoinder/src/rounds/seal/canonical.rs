//! One text for everything that is the same JSON.
//!
//! Like RFC 8785: no white space, members in the order of their names, one spelling of a string. Numbers go further: they
//! are compared as the decimal numbers they are, not as the nearest double. A client that writes `1.0` for `1` the second
//! time means the same, but `9007199254740993` is not `9007199254740992`: somebody may have agreed to one of them only.
//! For the same reason a name that is there twice stays there twice: which of the two counts is not ours to guess.

use std::{borrow::Cow, ops::Range};

use smallvec::SmallVec;

/// A deeper text counts as it is written, so that no argument exhausts the stack.
pub(super) const DEEPEST: usize = 128;

/// The canonical form of a JSON text. Anything that is not JSON is its own, and no JSON text has the same.
pub(super) fn canonical(json: &str) -> Vec<u8> {
    // With room for the commas that are added: one for each of a few objects.
    let mut walk = Walk { rest: json, out: Vec::with_capacity(json.len() + 8), disordered: Vec::new() };
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
        let blank = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.rest = &self.rest[blank..];
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
                self.write_string(&text, matches!(text, Cow::Borrowed(_)))
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
        let mut members: SmallVec<[Member<'a>; 4]> = SmallVec::new();
        while self.eat(b'}').is_none() {
            if !members.is_empty() {
                self.eat(b',')?;
            }
            self.peek();
            let name = self.string()?;
            self.eat(b':')?;
            let begin = self.out.len();
            self.write_string(&name, matches!(name, Cow::Borrowed(_)))?;
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
        let (mut end, mut is_plain) = (1, true);
        loop {
            match *bytes.get(end)? {
                b'"' => break,
                b'\\' => (end, is_plain) = (end + 2, false),
                byte => (end, is_plain) = (end + 1, is_plain && byte >= b' '),
            }
        }
        let literal = self.rest.get(..=end)?;
        self.take(literal.len());
        if is_plain {
            Some(Cow::Borrowed(&literal[1..end]))
        } else {
            serde_json::from_str(literal).ok().map(Cow::Owned)
        }
    }

    /// Writes a string again. One that needed no decoding needs no encoding.
    fn write_string(&mut self, text: &str, is_plain: bool) -> Option<()> {
        if !is_plain {
            return serde_json::to_writer(&mut self.out, text).ok();
        }
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
        Some(())
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
