//! Choices: an enum (one of its variants or several), or a list that is known only when the question is asked.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{ElicitField, Field, Rules};

/// A choice: an enum without data. A form has one of its variants (`Colour`) or several (`Vec<Colour>`). Derive it:
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
    /// The choices: the value in the answer, and the title that the user sees.
    const CHOICES: &'static [(&'static str, Option<&'static str>)];

    /// Whether titles are sent as `enumNames`, as before MCP 2025-11-25.
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
        if E::LEGACY_NAMES {
            let names = E::CHOICES.iter().map(|(value, title)| title.unwrap_or(value));
            schema.insert("enum".into(), values(E::CHOICES));
            schema.insert("enumNames".into(), names.collect());
        } else {
            describe_choices(E::CHOICES, schema);
        }
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

/// Any number of the choices, each at most once.
#[diagnostic::do_not_recommend]
impl<E: ElicitEnum> ElicitField for Vec<E> {
    type Default = Vec<E>;
    const TYPE: &'static str = "array";

    fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
        rules.describe_items(schema);
        describe_items(E::CHOICES, schema);
    }

    fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
        read_items(value, rules, E::CHOICES, E::from_value)
    }

    fn write(&self) -> Value {
        self.iter().map(E::value).collect()
    }

    fn from_default(default: Self) -> Self {
        default
    }
}

impl Field<Vec<String>> {
    /// A field in which the user chooses any number of a list that is known at run time.
    ///
    /// ```
    /// use rejoinder::form::{Field, FormErrors};
    /// use serde_json::{Map, json};
    ///
    /// let days = Field::any_of("days", ["monday", "tuesday"]);
    /// let answer = Map::from_iter([("days".to_owned(), json!(["tuesday"]))]);
    /// assert_eq!(days.read(&answer, &mut FormErrors::default()), Some(vec!["tuesday".to_owned()]));
    /// ```
    pub fn any_of(name: impl Into<Cow<'static, str>>, choices: impl IntoIterator<Item = impl IntoChoice>) -> Self {
        let choices = choices.into_iter().map(IntoChoice::into_choice).collect();
        let rules = Rules { one_of: Some(choices), ..Rules::default() };
        Self {
            name: name.into(),
            title: None,
            description: None,
            example: None,
            rules,
            default: None,
            json_type: "array",
            describe: |rules, schema| {
                rules.describe_items(schema);
                describe_items(rules.choices(), schema);
            },
            read: |value, rules| {
                let has = |text: &str| rules.choices().iter().any(|(choice, _)| choice == text);
                read_items(value, rules, rules.choices(), |text| has(text).then(|| text.to_owned()))
            },
            write: |chosen| chosen.as_slice().into(),
            absent: || None,
        }
    }
}

/// Adds the keywords of several choices.
fn describe_items<S: AsRef<str>>(choices: &[(S, Option<S>)], schema: &mut Map<String, Value>) {
    // `enumNames` does not exist for several choices.
    let items = if is_titled(choices) {
        json!({ "anyOf": titles(choices) })
    } else {
        json!({ "type": "string", "enum": values(choices) })
    };
    schema.insert("items".into(), items);
}

/// Reads several choices, each at most once.
fn read_items<T, S: AsRef<str>>(
    value: &Value,
    rules: &Rules,
    choices: &[(S, Option<S>)],
    choose: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, String> {
    let of_these = || format!("must be a list of any of {}", listed(choices));
    let items = value.as_array().ok_or_else(of_these)?;
    let chosen = items.iter().map(|item| item.as_str().and_then(&choose));
    let chosen = chosen.collect::<Option<Vec<T>>>().ok_or_else(of_these)?;
    let is_repeated = |i| items[..i].contains(&items[i]);
    if items.len() > choices.len() || (1..items.len()).any(is_repeated) {
        return Err("must not have the same choice twice".to_owned());
    }
    rules.check_items(chosen.len())?;
    Ok(chosen)
}

/// Something to choose: a value, or a value and the title that the user sees.
///
/// ```
/// use rejoinder::form::{Field, Form, IntoChoice};
/// use serde_json::json;
///
/// fn shown(choices: impl IntoIterator<Item = impl IntoChoice>) -> serde_json::Value {
///     Form::new().with(&Field::<String>::new("branch").one_of(choices)).to_value()["properties"]["branch"].clone()
/// }
///
/// assert_eq!(shown(["main", "v1"]), json!({ "type": "string", "enum": ["main", "v1"] }));
/// assert_eq!(
///     shown([("main", "The main branch")]),
///     json!({ "type": "string", "oneOf": [{ "const": "main", "title": "The main branch" }] }),
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be chosen from a list",
    label = "neither a string nor a pair of strings",
    note = "a choice is a string, or a pair of strings: its value and the title that the user sees",
    note = "to choose among values of another type, use `Ask::choice_of`"
)]
pub trait IntoChoice {
    /// The value in the answer, and the title.
    fn into_choice(self) -> (String, Option<String>);
}

#[diagnostic::do_not_recommend]
impl<V: Into<String>, N: Into<String>> IntoChoice for (V, N) {
    fn into_choice(self) -> (String, Option<String>) {
        (self.0.into(), Some(self.1.into()))
    }
}

macro_rules! strings {
    ($($string:ty)*) => { $(
        impl IntoChoice for $string {
            fn into_choice(self) -> (String, Option<String>) {
                (self.into(), None)
            }
        }
    )* };
}

strings!(String &String &str Cow<'_, str>);

/// Adds the keywords of one choice.
pub(super) fn describe_choices<S: AsRef<str>>(choices: &[(S, Option<S>)], schema: &mut Map<String, Value>) {
    if is_titled(choices) {
        schema.insert("oneOf".into(), titles(choices));
    } else {
        schema.insert("enum".into(), values(choices));
    }
}

/// Whether any choice has a title. A choice without one then shows its value.
fn is_titled<S>(choices: &[(S, Option<S>)]) -> bool {
    choices.iter().any(|(_, title)| title.is_some())
}

fn values<S: AsRef<str>>(choices: &[(S, Option<S>)]) -> Value {
    choices.iter().map(|(value, _)| value.as_ref()).collect()
}

fn titles<S: AsRef<str>>(choices: &[(S, Option<S>)]) -> Value {
    let titled = |(value, title): &(S, Option<S>)| json!({ "const": value.as_ref(), "title": title.as_ref().unwrap_or(value).as_ref() });
    choices.iter().map(titled).collect()
}

pub(super) fn must_be_one_of<S: AsRef<str>>(choices: &[(S, Option<S>)]) -> String {
    match choices {
        [(only, _)] => format!("must be `{}`", only.as_ref()),
        _ => format!("must be one of {}", listed(choices)),
    }
}

fn listed<S: AsRef<str>>(choices: &[(S, Option<S>)]) -> String {
    choices.iter().map(|(value, _)| format!("`{}`", value.as_ref())).collect::<Vec<_>>().join(", ")
}
