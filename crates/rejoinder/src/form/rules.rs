use regex_lite::Regex;

use super::{Format, Number};

/// What an answer must keep to, beyond being of the field's type. [`Field`](super::Field) sets them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Rules {
    /// What a text must look like.
    pub format: Option<Format>,
    /// The regular expression that a text must match somewhere.
    pub pattern: Option<Regex>,
    /// The least number of characters.
    pub min_length: Option<u32>,
    /// The greatest number of characters.
    pub max_length: Option<u32>,
    /// The least number.
    pub min: Option<Number>,
    /// The greatest number.
    pub max: Option<Number>,
    /// The least number of choices.
    pub min_items: Option<u32>,
    /// The greatest number of choices.
    pub max_items: Option<u32>,
    /// The texts that can be chosen, each with its title if it has one, where they are known only when the question is asked.
    pub one_of: Option<Vec<(String, Option<String>)>>,
}

/// "at least 1", "at most 3", "between 1 and 3" or "exactly 2".
pub(super) fn within<T: std::fmt::Display + PartialEq>(min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("between {min} and {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

/// Whether a count is within its bounds.
pub(super) fn counts(count: usize, min: Option<u32>, max: Option<u32>) -> bool {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}
