//! One of several things.

use serde_json::{Map, Value, json};

use super::{ElicitField, Rules};

/// A choice: an enum without data, of which a form has one (`Colour`) or several (`Vec<Colour>`). Derive it:
///
/// ```
/// use rejoinder::ElicitEnum;
///
/// #[derive(Debug, PartialEq)]
/// enum Size {
///     Small,
///     Large,
/// }
///
/// // What `#[derive(ElicitEnum)]` with `#[elicit(rename_all = "lowercase")]` writes.
/// impl ElicitEnum for Size {
///     const CHOICES: &'static [(&'static str, Option<&'static str>)] = &[("small", None), ("large", None)];
///
///     fn from_value(value: &str) -> Option<Self> {
///         match value {
///             "small" => Some(Self::Small),
///             "large" => Some(Self::Large),
///             _ => None,
///         }
///     }
///
///     fn value(&self) -> &'static str {
///         match self {
///             Self::Small => "small",
///             Self::Large => "large",
///         }
///     }
/// }
///
/// assert_eq!(Size::from_value("large"), Some(Size::Large));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice of a form",
    label = "not a choice",
    note = "derive it: `#[derive(ElicitEnum)]` on an enum without data"
)]
pub trait ElicitEnum: Sized + Send + Sync + 'static {
    /// What can be chosen: the value in the answer, and the title that the user sees.
    const CHOICES: &'static [(&'static str, Option<&'static str>)];

    /// Whether titles are told the way they were before MCP 2025-11-25, as `enumNames`.
    const LEGACY_NAMES: bool = false;

    /// The choice with that value.
    fn from_value(value: &str) -> Option<Self>;

    /// The value in the answer.
    fn value(&self) -> &'static str;
}

/// One of the choices.
#[diagnostic::do_not_recommend]
impl<E: ElicitEnum> ElicitField for E {
    type Default = E;
    const TYPE: &'static str = "string";

    fn describe(_: &Rules, schema: &mut Map<String, Value>) {
        describe_one(E::CHOICES, E::LEGACY_NAMES, schema);
    }

    fn read(value: &Value, _: &Rules) -> Result<Self, String> {
        value.as_str().and_then(E::from_value).ok_or_else(|| must_be_one_of(E::CHOICES))
    }

    fn write(&self) -> Value {
        self.value().into()
    }

    fn from_default(default: E) -> Self {
        default
    }
}

/// The part of a schema that says what one can be chosen.
pub(super) fn describe_one(choices: &[(&str, Option<&str>)], legacy: bool, schema: &mut Map<String, Value>) {
    if legacy {
        let names = choices.iter().map(|(value, title)| title.unwrap_or(value));
        schema.insert("enum".into(), values(choices));
        schema.insert("enumNames".into(), names.collect());
    } else if is_titled(choices) {
        schema.insert("oneOf".into(), titles(choices));
    } else {
        schema.insert("enum".into(), values(choices));
    }
}

/// Whether any choice has a title; those that have none then show their value.
pub(super) fn is_titled(choices: &[(&str, Option<&str>)]) -> bool {
    choices.iter().any(|(_, title)| title.is_some())
}

pub(super) fn values(choices: &[(&str, Option<&str>)]) -> Value {
    choices.iter().map(|(value, _)| *value).collect()
}

pub(super) fn titles(choices: &[(&str, Option<&str>)]) -> Value {
    choices.iter().map(|(value, title)| json!({ "const": value, "title": title.unwrap_or(value) })).collect()
}

pub(super) fn must_be_one_of(choices: &[(&str, Option<&str>)]) -> String {
    match choices {
        [(only, _)] => format!("must be `{only}`"),
        _ => format!("must be one of {}", listed(choices)),
    }
}

pub(super) fn listed(choices: &[(&str, Option<&str>)]) -> String {
    choices.iter().map(|(value, _)| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}
