//! The constraints on one value: the JSON Schema keywords that set them, their checks and their messages, all in this file.

use std::{borrow::Cow, cell::Cell, cmp::Ordering, collections::HashSet, fmt, fmt::Display};

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::Format;

/// The longest text that is matched against a pattern, in bytes: the time that a pattern takes grows with the text.
pub(crate) const LONGEST_MATCHED: usize = 64 * 1024;

/// What a request may match against patterns: the bytes of texts, each times the size of its pattern. It takes a fraction of
/// a second.
const MOST_MATCHED: u64 = 1 << 32;

/// What is wrong with a text that a request has no more time for.
const TOO_MUCH_TEXT: &str =
    "cannot be checked, because the request has too much text to match against patterns: send fewer or shorter texts";

/// The largest pattern, in bytes.
const LARGEST_PATTERN: usize = 8 * 1024 * 1024;

/// A pattern. The time that it takes grows with its size.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// In bytes, when it is compiled; up to twice as much.
    size: usize,
}

/// What a request has matched against patterns.
#[derive(Debug, Default)]
pub(crate) struct Matching(Cell<u64>);

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, regex_lite::Error> {
        // The library does not say how large a pattern is, but whether it is too large.
        let mut size = 4 * 1024;
        loop {
            match RegexBuilder::new(pattern).size_limit(size).build() {
                Ok(regex) => return Ok(Self { regex, size }),
                Err(error) if size >= LARGEST_PATTERN => return Err(error),
                Err(_) => size *= 2,
            }
        }
    }

    /// Whether a text matches; `None` if the request has matched too much.
    pub(crate) fn is_match(&self, text: &str, matching: &Matching) -> Option<bool> {
        let matched = matching.0.get() + self.size as u64 * text.len() as u64;
        (matched <= MOST_MATCHED).then(|| {
            matching.0.set(matched);
            self.regex.is_match(text)
        })
    }
}

/// The keywords that limit numbers.
const BOUNDS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
/// The keywords that limit how many characters, items or members there are.
const COUNTS: [&str; 6] = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

/// The constraints on a value beyond its type, as a schema sets them: of an argument, or of a field of a form.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// The limits by their keywords.
    limits: Vec<(&'static str, Number)>,
    format: Option<Format>,
    pattern: Option<Pattern>,
    unique_items: bool,
    /// The bounds of a number's type, where the schema names it.
    of_type: [Option<Number>; 2],
}

impl Rules {
    /// The rules that a schema sets. A format that is not in [`Format`] is an annotation, as JSON Schema has it.
    ///
    /// # Errors
    ///
    /// What is wrong with each keyword: "has ..".
    pub(crate) fn read(schema: &Map<String, Value>) -> Result<Self, Vec<String>> {
        let (mut rules, mut problems) = (Self::default(), Vec::new());
        for (keyword, value) in schema {
            let limit = BOUNDS.iter().chain(&COUNTS).find(|limit| *limit == keyword);
            let number = value.as_number().map(Number::from);
            match (keyword.as_str(), value) {
                ("uniqueItems", Value::Bool(unique)) => rules.unique_items = *unique,
                ("format", Value::String(name)) => {
                    rules.format = Format::named(name);
                    rules.of_type = Number::bounds_of(name).map_or([None; 2], |bounds| bounds.map(Some));
                }
                ("pattern", Value::String(pattern)) => match Pattern::new(pattern) {
                    Ok(pattern) => rules.pattern = Some(pattern),
                    Err(error) => problems.push(format!("has a `pattern` that is not supported: {error}")),
                },
                _ => match (limit, number.filter(|number| number.can_be(keyword))) {
                    (Some(limit), Some(number)) => rules.limits.push((limit, number)),
                    (None, _) if !["uniqueItems", "format", "pattern"].contains(&keyword.as_str()) => {}
                    _ => problems.push(format!("has `{keyword}` with a value that JSON Schema does not allow")),
                },
            }
        }
        if let Some(pattern) = &rules.pattern {
            // A character has up to four bytes.
            let most = usize::try_from(MOST_MATCHED / pattern.size as u64).unwrap_or(usize::MAX) / 4;
            let is_short = rules.limit("maxLength").is_some_and(|allowed| allowed <= Number::from(most));
            if most < LONGEST_MATCHED / 4 && !is_short {
                problems.push(format!(
                    "has a large `pattern`, which takes long to match: add `max_length = {most}` or less"
                ));
            }
        }
        for pair in BOUNDS[..4].chunks(2).chain(COUNTS.chunks(2)) {
            if let (Some(min), Some(max)) = (rules.limit(pair[0]), rules.limit(pair[1]))
                && min > max
            {
                problems.push(format!("has a `{}` above its `{}`", pair[0], pair[1]));
            }
        }
        if problems.is_empty() { Ok(rules) } else { Err(problems) }
    }

    fn limit(&self, keyword: &str) -> Option<Number> {
        self.limits.iter().find(|(set, _)| *set == keyword).map(|(_, limit)| *limit)
    }

    /// Whether any rule is set, apart from the bounds of a number's type.
    pub(crate) fn say_more_than_a_type(&self) -> bool {
        let is_of_type = |(keyword, limit): &(&str, Number)| {
            let bound = BOUNDS.iter().position(|bound| bound == keyword).and_then(|index| *self.of_type.get(index)?);
            bound == Some(*limit)
        };
        self.format.is_some() || self.pattern.is_some() || self.unique_items || !self.limits.iter().all(is_of_type)
    }

    /// The bounds of the type that are small enough to matter to a user and to every client.
    pub(crate) fn shown_bounds(&self) -> [Option<Number>; 2] {
        self.of_type.map(|bound| bound.filter(|bound| bound.as_f64().abs() <= f64::from(u32::MAX)))
    }

    /// The rule that a value breaks, "must be at most 10", and what the value has instead, "50". Rules are for values of
    /// their type only.
    pub(crate) fn broken_by(&self, value: &Value, matching: &Matching) -> Option<(String, String)> {
        let count = |count: usize, limits: &[&str], noun: &str| {
            Some((self.outside(Number::from(count), limits, noun)?, count.to_string()))
        };
        let must_have = |(range, got): (String, String)| (format!("must have {range}"), got);
        match value {
            Value::Number(number) => Some((self.broken_by_number(number.into())?, number.to_string())),
            Value::String(text) => {
                let shown = || shortened(&value.to_string());
                if let Some(format) = self.format.filter(|format| !format.fits(text)) {
                    return Some((format!("must be {}", format.expected()), shown()));
                }
                if let Some((range, got)) = count(text.chars().count(), &COUNTS[..2], "character") {
                    return Some((format!("must be {range} long"), got));
                }
                let pattern = self.pattern.as_ref()?;
                if text.len() > LONGEST_MATCHED {
                    let most = format!(
                        "must be at most {LONGEST_MATCHED} bytes long, because it is matched against a pattern"
                    );
                    return Some((most, text.len().to_string()));
                }
                match pattern.is_match(text, matching) {
                    Some(true) => None,
                    Some(false) => Some((format!("must match `{}`", pattern.regex.as_str()), shown())),
                    None => Some((TOO_MUCH_TEXT.to_owned(), shown())),
                }
            }
            Value::Array(items) => count(items.len(), &COUNTS[2..4], "item").map(must_have).or_else(|| {
                let mut seen = HashSet::new();
                let twice = items.iter().find(|item| self.unique_items && !seen.insert(in_whole_numbers(item)))?;
                Some(("must not have the same item twice".to_owned(), shortened(&twice.to_string())))
            }),
            Value::Object(members) => count(members.len(), &COUNTS[4..], "member").map(must_have),
            Value::Null | Value::Bool(_) => None,
        }
    }

    /// What a number must be, if it is not: "must be between 1 and 3".
    fn broken_by_number(&self, number: Number) -> Option<String> {
        let [own_min, own_max, over, under, unit] = BOUNDS.map(|keyword| self.limit(keyword));
        let [least, greatest] = self.of_type;
        let (min, max) = (own_min.or(least), own_max.or(greatest));
        let fits = min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
        if fits && over.is_none_or(|over| number > over) && under.is_none_or(|under| number < under) {
            let unit = unit.filter(|unit| !number.is_multiple_of(*unit))?;
            return Some(format!("must be a multiple of {unit}"));
        }
        // A bound of the type that is long, such as 18446744073709551615, is shown only where it is exceeded.
        const LONG: f64 = 1e10;
        let is_short = |bound: Number| bound.as_f64().abs() < LONG;
        let min = min.filter(|min| own_min.is_some() || number < *min || is_short(*min));
        let max = max.filter(|max| own_max.is_some() || number > *max || is_short(*max));
        // Of two bounds the narrower one counts.
        let over = over.filter(|over| min.is_none_or(|min| *over >= min));
        let under = under.filter(|under| max.is_none_or(|max| *under <= max));
        let inclusive = between(min.filter(|_| over.is_none()), max.filter(|_| under.is_none()));
        let (over, under) =
            (over.map(|over| format!("more than {over}")), under.map(|under| format!("less than {under}")));
        let ranges: Vec<_> = [over, inclusive, under].into_iter().flatten().collect();
        Some(format!("must be {}", ranges.join(" and ")))
    }

    /// The allowed range, "at most 3 characters", if the count is outside.
    fn outside(&self, count: Number, limits: &[&str], noun: &str) -> Option<String> {
        let (min, max) = (self.limit(limits[0]), self.limit(limits[1]));
        let fits = min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max);
        let range = between(min, max).filter(|_| !fits)?;
        let plural = if range.ends_with(" 1") { "" } else { "s" };
        Some(format!("{range} {noun}{plural}"))
    }
}

/// The beginning of a text that may be long.
pub(crate) fn shortened(text: &str) -> String {
    shortened_to(80, text)
}

/// At most this many characters of a text.
pub(crate) fn shortened_to(most: usize, text: &str) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// "at least 1", "at most 3", "between 1 and 3" or "exactly 2".
fn between(min: Option<Number>, max: Option<Number>) -> Option<String> {
    Some(match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("between {min} and {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => return None,
    })
}

/// A number of any type, for bounds and what is compared with them.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// An integer.
    Whole(i128),
    /// A floating-point number.
    Real(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

/// By value, whatever the type of the numbers.
impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Some(a.cmp(b)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

/// As it is written: a number without a fraction and an exponent is an integer.
impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        number.as_i128().map_or_else(|| Self::Real(number.as_f64().unwrap_or(f64::NAN)), Self::Whole)
    }
}

macro_rules! numbers {
    ($number:ident => $made:expr, $($type:ident)*) => { $(
        impl From<$type> for Number {
            fn from($number: $type) -> Self {
                $made
            }
        }
    )* };
}

// Every integer of at most 64 bits fits into one of 128.
numbers!(number => Self::Whole(number as i128), i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
numbers!(number => Self::Real(shortest(number)), f32 f64);

/// The number as it is written: `0.1_f32` is 0.1 and not 0.10000000149.
fn shortest(number: impl Display) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

impl Number {
    /// The bounds of a number of Rust, by the format that schemars gives it.
    pub(crate) fn bounds_of(format: &str) -> Option<[Self; 2]> {
        let all = [Self::Real(f64::NEG_INFINITY), Self::Real(f64::INFINITY)];
        match format {
            "float" => return Some([f32::MIN.into(), f32::MAX.into()]),
            "double" => return Some(all),
            _ => {}
        }
        let (is_signed, bits) = match format.strip_prefix("uint") {
            Some(bits) => (false, bits),
            None => (true, format.strip_prefix("int")?),
        };
        // The size of `isize` is not said.
        let bits: u32 = if bits.is_empty() { usize::BITS } else { bits.parse().ok()? };
        Some(match (is_signed, bits) {
            (false, ..=64) => [Self::Whole(0), Self::Whole((1 << bits) - 1)],
            (true, 1..=64) => [Self::Whole(-(1 << (bits - 1))), Self::Whole((1 << (bits - 1)) - 1)],
            (true, 0) => return None,
            // A JSON value does not hold integers of 128 bits exactly.
            (false, _) => [Self::Whole(0), all[1]],
            (true, _) => all,
        })
    }

    /// Whether JSON Schema allows it as the value of a keyword. It also writes a count as `2.0`.
    fn can_be(self, keyword: &str) -> bool {
        match keyword {
            "multipleOf" => self > Self::Whole(0),
            count if COUNTS.contains(&count) => self >= Self::Whole(0) && self.as_f64().fract() == 0.0,
            _ => true,
        }
    }

    /// Whether it is a multiple of another number, up to the precision of floating-point numbers.
    fn is_multiple_of(self, unit: Self) -> bool {
        if let (Self::Whole(number), Self::Whole(unit)) = (self, unit) {
            return unit != 0 && number % unit == 0;
        }
        let quotient = self.as_f64() / unit.as_f64();
        (quotient - quotient.round()).abs() <= 4.0 * f64::EPSILON * quotient.abs().max(1.0)
    }

    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    pub(crate) fn to_value(self) -> Value {
        match self {
            Self::Whole(number) => serde_json::Number::from_i128(number).map_or(Value::Null, Value::Number),
            Self::Real(number) => number.into(),
        }
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
        }
    }
}

/// The value with whole numbers as integers, so that `1` and `1.0` are the same.
fn in_whole_numbers(value: &Value) -> Cow<'_, Value> {
    fn has_floats(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.is_f64(),
            Value::Array(items) => items.iter().any(has_floats),
            Value::Object(members) => members.values().any(has_floats),
            _ => false,
        }
    }
    fn convert(value: &mut Value) {
        match value {
            Value::Number(number) => {
                // Every other float is above what an integer can be, or has a fraction.
                let whole =
                    number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 9e18);
                if let Some(whole) = whole {
                    *value = (whole as i64).into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(convert),
            Value::Object(members) => members.values_mut().for_each(convert),
            _ => {}
        }
    }
    if !has_floats(value) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    convert(&mut value);
    Cow::Owned(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        assert!(Number::Whole(5) > Number::Real(1.0));
        assert!(Number::Real(-0.5) < Number::Whole(0));
        assert_eq!(Number::Whole(2), Number::Real(2.0));
        assert!(Number::from(u64::MAX) > Number::from(u64::MAX - 1));
    }

    #[test]
    fn the_bounds_of_a_number_are_those_of_its_type() {
        for (format, bounds) in [
            ("uint8", Some([u8::MIN.into(), u8::MAX.into()])),
            ("int8", Some([i8::MIN.into(), i8::MAX.into()])),
            ("int64", Some([i64::MIN.into(), i64::MAX.into()])),
            ("uint64", Some([u64::MIN.into(), u64::MAX.into()])),
            ("int128", Some([f64::NEG_INFINITY.into(), f64::INFINITY.into()])),
            ("uint128", Some([Number::Whole(0), f64::INFINITY.into()])),
            ("float", Some([f32::MIN.into(), f32::MAX.into()])),
            ("date", None),
            ("int0", None),
        ] {
            assert_eq!(Number::bounds_of(format), bounds, "{format}");
        }
    }

    /// One that takes seconds for a long text.
    const LARGE: &str = "(x[a-z0-9]{1,200}){1,20}y";

    fn with_pattern(pattern: &str, max_length: Option<usize>) -> Result<Rules, Vec<String>> {
        let mut schema = Map::from_iter([("pattern".to_owned(), pattern.into())]);
        schema.extend(max_length.map(|most| ("maxLength".to_owned(), most.into())));
        Rules::read(&schema)
    }

    #[test]
    fn a3_m6_a_large_pattern_needs_a_short_text() {
        for small in ["^ORD-[0-9]{6}$", "^[A-Za-z0-9_-]{1,255}$", r"^[\w.+-]+@[\w-]+(\.[\w-]+)+$"] {
            assert!(with_pattern(small, None).is_ok(), "{small}");
        }
        for max_length in [None, Some(60_000)] {
            let [problem] = &with_pattern(LARGE, max_length).expect_err("it takes long")[..] else { panic!("one") };
            assert!(
                problem.starts_with("has a large `pattern`, which takes long to match: add `max_length = "),
                "{problem}"
            );
            let most = problem.split_once("max_length = ").and_then(|(_, rest)| rest.split('`').next()?.parse().ok());
            assert!(with_pattern(LARGE, most).is_ok(), "{problem}");
        }
    }

    #[test]
    fn a3_m6_what_a_request_matches_is_limited() {
        let rules = with_pattern(LARGE, Some(200)).expect("it is short");
        let (text, matching) = (Value::from("x".repeat(200)), Matching::default());
        let broken: Vec<_> = (0..1_000).map_while(|_| rules.broken_by(&text, &matching)).collect();
        let (matched, refused): (Vec<_>, Vec<_>) =
            broken.into_iter().partition(|(rule, _)| rule.starts_with("must match"));
        assert!((1..100).contains(&matched.len()) && !refused.is_empty(), "{}", matched.len());
        assert!(
            refused[0].0.starts_with("cannot be checked, because the request has too much text"),
            "{}",
            refused[0].0
        );
        let small = with_pattern("^x*$", None).expect("it is small");
        assert_eq!(small.broken_by(&"x".repeat(LONGEST_MATCHED).into(), &Matching::default()), None);
    }

    #[test]
    fn a_smallest_value_above_the_largest_is_a_mistake() {
        for pair in [["minimum", "maximum"], ["exclusiveMinimum", "exclusiveMaximum"], ["minItems", "maxItems"]] {
            let schema =
                |[min, max]: [u8; 2]| pair.map(str::to_owned).into_iter().zip([min.into(), max.into()]).collect();
            assert!(Rules::read(&schema([1, 1])).is_ok());
            let problem = format!("has a `{}` above its `{}`", pair[0], pair[1]);
            assert_eq!(Rules::read(&schema([2, 1])).unwrap_err(), [problem]);
        }
    }

    #[test]
    fn a_number_without_type_bounds_keeps_to_the_rules() {
        let schema = Map::from_iter([("minimum".to_owned(), 1.into())]);
        let rules = Rules::read(&schema).expect("a rule");
        assert_eq!(rules.broken_by(&1.into(), &Matching::default()), None);
        assert_eq!(
            rules.broken_by(&0.5.into(), &Matching::default()),
            Some(("must be at least 1".to_owned(), "0.5".to_owned()))
        );
    }
}
