//! The constraints on one value: their JSON Schema keywords, their checks and their messages, all in this file.

use std::{cmp::Ordering, collections::HashSet, fmt};

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::{
    Format,
    choice::{describe_choices, must_be_one_of},
};

/// The longest text that is matched against a pattern, in bytes: the time that a pattern takes grows with the text.
pub(crate) const LONGEST_MATCHED: usize = 64 * 1024;

/// The constraints on a value beyond its type. [`Field`](super::Field) sets them.
///
/// An [`ElicitField`](super::ElicitField) of your own applies those that make sense for it:
///
/// ```
/// use rejoinder::form::Rules;
/// use serde_json::{Map, Value};
///
/// fn read(value: &Value, rules: &Rules) -> Result<String, String> {
///     let text = value.as_str().ok_or("must be a string")?;
///     rules.check_text(text)?;
///     Ok(text.to_owned())
/// }
///
/// let mut schema = Map::new();
/// Rules::default().describe(&mut schema);
/// assert!(schema.is_empty());
/// assert_eq!(read(&"so".into(), &Rules::default())?, "so");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Default)]
pub struct Rules {
    pub(super) format: Option<Format>,
    pub(super) pattern: Option<Regex>,
    pub(super) min_length: Option<u32>,
    pub(super) max_length: Option<u32>,
    pub(super) min: Option<Number>,
    pub(super) max: Option<Number>,
    pub(super) exclusive_min: Option<Number>,
    pub(super) exclusive_max: Option<Number>,
    pub(super) multiple_of: Option<Number>,
    pub(super) min_items: Option<u32>,
    pub(super) max_items: Option<u32>,
    pub(super) unique_items: bool,
    /// The bounds of a number's type, where a schema names it.
    pub(super) of_type: Option<(Number, Number)>,
    /// Of objects, which only arguments can be.
    pub(super) min_properties: Option<u32>,
    pub(super) max_properties: Option<u32>,
    /// The allowed texts, each with its title, where they are known only when the question is asked.
    pub(super) one_of: Option<Vec<(String, Option<String>)>>,
}

impl Rules {
    /// Adds the JSON Schema keywords of the rules that are set, as far as forms have them.
    ///
    /// Forms of MCP have no `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf` and `uniqueItems`, and only four formats. The
    /// answer is checked all the same.
    pub fn describe(&self, schema: &mut Map<String, Value>) {
        if let Some(choices) = &self.one_of {
            return describe_choices(choices, schema);
        }
        let format = self.format.filter(|format| format.is_in_forms());
        let keywords = [
            ("minimum", self.min.map(Number::to_value)),
            ("maximum", self.max.map(Number::to_value)),
            ("minLength", self.min_length.map(Value::from)),
            ("maxLength", self.max_length.map(Value::from)),
            ("pattern", self.pattern.as_ref().map(|pattern| pattern.as_str().into())),
            ("format", format.map(|format| format.name().into())),
        ];
        schema.extend(keywords.into_iter().filter_map(|(keyword, value)| Some((keyword.into(), value?))));
        self.describe_items(schema);
    }

    /// Adds the JSON Schema keywords of the rules for lists, as far as forms have them.
    pub(super) fn describe_items(&self, schema: &mut Map<String, Value>) {
        let keywords = [("minItems", self.min_items), ("maxItems", self.max_items)];
        schema.extend(keywords.into_iter().filter_map(|(keyword, count)| Some((keyword.into(), count?.into()))));
    }

    /// Adds all JSON Schema keywords of the rules that are set.
    pub(crate) fn describe_argument(&self, schema: &mut Map<String, Value>) {
        self.describe(schema);
        let keywords = [
            ("format", self.format.map(|format| format.name().into())),
            ("exclusiveMinimum", self.exclusive_min.map(Number::to_value)),
            ("exclusiveMaximum", self.exclusive_max.map(Number::to_value)),
            ("multipleOf", self.multiple_of.map(Number::to_value)),
            ("uniqueItems", self.unique_items.then_some(Value::Bool(true))),
            ("minProperties", self.min_properties.map(Value::from)),
            ("maxProperties", self.max_properties.map(Value::from)),
        ];
        schema.extend(keywords.into_iter().filter_map(|(keyword, value)| Some((keyword.into(), value?))));
    }

    /// The rules that a schema sets. A format that is not in [`Format`] is an annotation, as JSON Schema has it.
    ///
    /// # Errors
    ///
    /// What is wrong with each keyword: "has ..".
    pub(crate) fn read(schema: &Map<String, Value>) -> Result<Self, Vec<String>> {
        let (mut rules, mut problems) = (Self::default(), Vec::new());
        for (keyword, value) in schema {
            let number = || value.as_number().map(Number::from);
            let count = || value.as_number().and_then(count);
            let is_set = match keyword.as_str() {
                "minimum" => set(&mut rules.min, number()),
                "maximum" => set(&mut rules.max, number()),
                "exclusiveMinimum" => set(&mut rules.exclusive_min, number()),
                "exclusiveMaximum" => set(&mut rules.exclusive_max, number()),
                "multipleOf" => set(&mut rules.multiple_of, number().filter(|number| *number > Number::Whole(0))),
                "minLength" => set(&mut rules.min_length, count()),
                "maxLength" => set(&mut rules.max_length, count()),
                "minItems" => set(&mut rules.min_items, count()),
                "maxItems" => set(&mut rules.max_items, count()),
                "minProperties" => set(&mut rules.min_properties, count()),
                "maxProperties" => set(&mut rules.max_properties, count()),
                "uniqueItems" => value.as_bool().is_some_and(|unique| {
                    rules.unique_items = unique;
                    true
                }),
                "format" => {
                    rules.format = value.as_str().and_then(Format::named);
                    rules.of_type = value.as_str().and_then(Number::bounds_of);
                    value.is_string()
                }
                "pattern" => match value.as_str().map(Regex::new) {
                    Some(Ok(pattern)) => set(&mut rules.pattern, Some(pattern)),
                    Some(Err(error)) => {
                        problems.push(format!("has a `pattern` that is not supported: {error}"));
                        true
                    }
                    None => false,
                },
                _ => true,
            };
            if !is_set {
                problems.push(format!("has `{keyword}` with a value that JSON Schema does not allow"));
            }
        }
        if problems.is_empty() { Ok(rules) } else { Err(problems) }
    }

    /// Whether any rule is set, apart from the bounds of a number's type.
    pub(crate) fn say_more_than_a_type(&self) -> bool {
        let mut keywords = Map::new();
        self.describe_argument(&mut keywords);
        let (least, greatest) = self.of_type.unzip();
        for (keyword, bound, of_type) in [("minimum", self.min, least), ("maximum", self.max, greatest)] {
            if bound == of_type {
                keywords.remove(keyword);
            }
        }
        !keywords.is_empty()
    }

    /// The rule that a value breaks, and what it is: "must be at most 10, got 50". Rules are for values of their type only.
    pub(crate) fn broken_by(&self, value: &Value) -> Option<String> {
        let (broken, got) = match value {
            Value::Number(number) => (self.check_number(Number::from(number)).err()?, number.to_string()),
            Value::String(text) => {
                let broken = self.check_text(text).err()?;
                let length = text.chars().count();
                let is_length = outside(length, self.min_length, self.max_length, "").is_some();
                (broken, if is_length { length.to_string() } else { shortened(&value.to_string()) })
            }
            Value::Array(items) => match outside(items.len(), self.min_items, self.max_items, "item") {
                Some(range) => (format!("must have {range}"), items.len().to_string()),
                None => (
                    "must not have the same item twice".to_owned(),
                    shortened(&repeated(items).filter(|_| self.unique_items)?.to_string()),
                ),
            },
            Value::Object(members) => {
                let (min, max) = (self.min_properties, self.max_properties);
                (format!("must have {}", outside(members.len(), min, max, "member")?), members.len().to_string())
            }
            Value::Null | Value::Bool(_) => return None,
        };
        Some(format!("{broken}, got {got}"))
    }

    /// The allowed texts, each with its title.
    pub(super) fn choices(&self) -> &[(String, Option<String>)] {
        self.one_of.as_deref().unwrap_or_default()
    }

    /// Checks a text: its length, its format, its pattern.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks: "must be at most 8 characters long".
    pub fn check_text(&self, text: &str) -> Result<(), String> {
        if let Some(choices) = self.one_of.as_ref().filter(|choices| !choices.iter().any(|(value, _)| value == text)) {
            return Err(must_be_one_of(choices));
        }
        if let Some(length) = outside(text.chars().count(), self.min_length, self.max_length, "character") {
            return Err(format!("must be {length} long"));
        }
        match (self.format, &self.pattern) {
            (Some(format), _) if !format.fits(text) => Err(format!("must be {}", format.expected())),
            (_, Some(_)) if text.len() > LONGEST_MATCHED => {
                Err(format!("must be at most {LONGEST_MATCHED} bytes long, because it is matched against a pattern"))
            }
            (_, Some(pattern)) if !pattern.is_match(text) => Err(format!("must match `{}`", pattern.as_str())),
            _ => Ok(()),
        }
    }

    /// Checks the number of items that were chosen.
    ///
    /// # Errors
    ///
    /// "must have at least 1 choice".
    pub fn check_items(&self, count: usize) -> Result<(), String> {
        match outside(count, self.min_items, self.max_items, "choice") {
            Some(number) => Err(format!("must have {number}")),
            None => Ok(()),
        }
    }

    /// Checks a number.
    ///
    /// # Errors
    ///
    /// "must be between 1 and 3".
    pub fn check_number(&self, number: impl Into<Number>) -> Result<(), String> {
        let (least, greatest) = self.of_type.unwrap_or((Number::Real(f64::NEG_INFINITY), Number::Real(f64::INFINITY)));
        self.check_number_of_type(number.into(), least, greatest)
    }

    /// Checks a number of a type with these bounds, which apply where the rules set none.
    pub(super) fn check_number_of_type(&self, number: Number, least: Number, greatest: Number) -> Result<(), String> {
        let (min, max) = (self.min.unwrap_or(least), self.max.unwrap_or(greatest));
        let exceeds = self.exclusive_min.is_none_or(|min| number > min);
        let is_below = self.exclusive_max.is_none_or(|max| number < max);
        if number >= min && number <= max && exceeds && is_below {
            return match self.multiple_of.filter(|unit| !number.is_multiple_of(*unit)) {
                Some(unit) => Err(format!("must be a multiple of {unit}")),
                None => Ok(()),
            };
        }
        // A bound of the type that is long, such as 18446744073709551615, is shown only where it is exceeded.
        const LONG: f64 = 1e10;
        let is_short = |bound: Number| bound.as_f64().abs() < LONG;
        let min = Some(min).filter(|min| self.min.is_some() || number < *min || is_short(*min));
        let max = Some(max).filter(|max| self.max.is_some() || number > *max || is_short(*max));
        // Of two bounds the narrower one counts.
        let over = self.exclusive_min.filter(|over| min.is_none_or(|min| *over >= min));
        let under = self.exclusive_max.filter(|under| max.is_none_or(|max| *under <= max));
        let (min, max) = (min.filter(|_| over.is_none()), max.filter(|_| under.is_none()));
        let exclusive = [over.map(|over| format!("more than {over}")), under.map(|under| format!("less than {under}"))];
        let inclusive = Some(between(min, max)).filter(|range| !range.is_empty());
        let [over, under] = exclusive;
        let ranges: Vec<_> = [over, inclusive, under].into_iter().flatten().collect();
        Err(format!("must be {}", ranges.join(" and ")))
    }
}

/// Sets a rule; `false` if there is no value for it.
fn set<T>(rule: &mut Option<T>, value: Option<T>) -> bool {
    *rule = value;
    rule.is_some()
}

/// A count, which JSON Schema also writes as `2.0`.
fn count(number: &serde_json::Number) -> Option<u32> {
    let whole = number.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
    // A limit that is never reached is as good as a larger one.
    Some(whole.min(f64::from(u32::MAX)) as u32)
}

/// The first item that is in the list twice. To JSON Schema, `1.0` is `1`, and the order of members does not matter.
fn repeated(items: &[Value]) -> Option<&Value> {
    fn canonical(value: &mut Value) {
        match value {
            Value::Number(number) => {
                if let Some(float) = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
                    *value = Number::Whole(float as i128).to_value();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(canonical),
            Value::Object(members) => {
                members.values_mut().for_each(canonical);
                members.sort_keys();
            }
            _ => {}
        }
    }
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().find(|item| {
        let mut item = (*item).clone();
        canonical(&mut item);
        !seen.insert(item.to_string())
    })
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
fn between<T: fmt::Display + PartialEq>(min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("between {min} and {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

/// The allowed range, "at most 3 characters", if the count is outside.
fn outside(count: usize, min: Option<u32>, max: Option<u32>, noun: &str) -> Option<String> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let fits = min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max);
    let range = (!fits).then(|| between(min, max))?;
    let plural = if range.ends_with(" 1") { "" } else { "s" };
    Some(format!("{range} {noun}{plural}"))
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

impl Number {
    /// The bounds of a number of Rust, by the format that schemars gives it.
    pub(crate) fn bounds_of(format: &str) -> Option<(Self, Self)> {
        let none = (Self::Real(f64::NEG_INFINITY), Self::Real(f64::INFINITY));
        if matches!(format, "float" | "double") {
            return Some(none);
        }
        let (is_signed, bits) = match format.strip_prefix("uint") {
            Some(bits) => (false, bits),
            None => (true, format.strip_prefix("int")?),
        };
        // The size of `isize` is not said.
        let bits: u32 = if bits.is_empty() { usize::BITS } else { bits.parse().ok()? };
        Some(match (is_signed, bits) {
            (false, ..=64) => (Self::Whole(0), Self::Whole((1 << bits) - 1)),
            (true, 1..=64) => (Self::Whole(-(1 << (bits - 1))), Self::Whole((1 << (bits - 1)) - 1)),
            (true, 0) => return None,
            // A JSON value does not hold integers of 128 bits exactly.
            (false, _) => (Self::Whole(0), none.1),
            (true, _) => none,
        })
    }

    /// Whether it is a multiple of another number, up to the precision of floating-point numbers.
    fn is_multiple_of(self, unit: Self) -> bool {
        if let (Self::Whole(number), Self::Whole(unit)) = (self, unit) {
            return unit != 0 && number % unit == 0;
        }
        let quotient = self.as_f64() / unit.as_f64();
        (quotient - quotient.round()).abs() <= 4.0 * f64::EPSILON * quotient.abs().max(1.0)
    }

    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    pub(super) fn to_value(self) -> Value {
        match self {
            Self::Whole(number) => serde_json::Number::from_i128(number).map_or(Value::Null, Value::Number),
            Self::Real(number) => number.into(),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
        }
    }
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
            ("uint8", Some((u8::MIN.into(), u8::MAX.into()))),
            ("int8", Some((i8::MIN.into(), i8::MAX.into()))),
            ("int64", Some((i64::MIN.into(), i64::MAX.into()))),
            ("uint64", Some((u64::MIN.into(), u64::MAX.into()))),
            ("int128", Some((f64::NEG_INFINITY.into(), f64::INFINITY.into()))),
            ("uint128", Some((Number::Whole(0), f64::INFINITY.into()))),
            ("date", None),
            ("int0", None),
        ] {
            assert_eq!(Number::bounds_of(format), bounds, "{format}");
        }
    }

    #[test]
    fn a_number_without_type_bounds_keeps_to_the_rules() {
        let rules = Rules { min: Some(1.into()), ..Rules::default() };
        assert_eq!(rules.check_number(1), Ok(()));
        assert_eq!(rules.check_number(0.5), Err("must be at least 1".into()));
    }
}
