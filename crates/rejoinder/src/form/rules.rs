//! The constraints on one value: their JSON Schema keywords, their checks and their messages, all in this file.

use std::{cmp::Ordering, fmt};

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::{
    Format,
    choice::{describe_choices, must_be_one_of},
};

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
    pub(super) min_items: Option<u32>,
    pub(super) max_items: Option<u32>,
    /// The allowed texts, each with its title, where they are known only when the question is asked.
    pub(super) one_of: Option<Vec<(String, Option<String>)>>,
}

impl Rules {
    /// Adds the JSON Schema keywords of the rules that are set.
    pub fn describe(&self, schema: &mut Map<String, Value>) {
        if let Some(choices) = &self.one_of {
            return describe_choices(choices, schema);
        }
        let keywords = [
            ("minimum", self.min.map(Number::to_value)),
            ("maximum", self.max.map(Number::to_value)),
            ("minLength", self.min_length.map(Value::from)),
            ("maxLength", self.max_length.map(Value::from)),
            ("pattern", self.pattern.as_ref().map(|pattern| pattern.as_str().into())),
            ("format", self.format.map(|format| format.name().into())),
            ("minItems", self.min_items.map(Value::from)),
            ("maxItems", self.max_items.map(Value::from)),
        ];
        schema.extend(keywords.into_iter().filter_map(|(keyword, value)| Some((keyword.into(), value?))));
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
        self.check_number_of_type(number.into(), Number::Real(f64::NEG_INFINITY), Number::Real(f64::INFINITY))
    }

    /// Checks a number of a type with these bounds, which apply where the rules set none.
    pub(super) fn check_number_of_type(&self, number: Number, least: Number, greatest: Number) -> Result<(), String> {
        let (min, max) = (self.min.unwrap_or(least), self.max.unwrap_or(greatest));
        if number >= min && number <= max {
            return Ok(());
        }
        // A bound of the type that is long, such as 18446744073709551615, is shown only where it is exceeded.
        const LONG: f64 = 1e10;
        let is_short = |bound: Number| bound.as_f64().abs() < LONG;
        let min = Some(min).filter(|min| self.min.is_some() || number < *min || is_short(*min));
        let max = Some(max).filter(|max| self.max.is_some() || number > *max || is_short(*max));
        Err(format!("must be {}", between(min, max)))
    }
}

/// "at least 1", "at most 3", "between 1 and 3" or "exactly 2".
pub(super) fn between<T: fmt::Display + PartialEq>(min: Option<T>, max: Option<T>) -> String {
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

impl Number {
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
    fn a_number_without_type_bounds_keeps_to_the_rules() {
        let rules = Rules { min: Some(1.into()), ..Rules::default() };
        assert_eq!(rules.check_number(1), Ok(()));
        assert_eq!(rules.check_number(0.5), Err("must be at least 1".into()));
    }
}
