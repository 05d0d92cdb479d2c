//! Choices: an enum (one of its variants or several), or a list that is known only when the question is asked.

use std::{borrow::Cow, sync::OnceLock};

use serde_json::{Map, Value, json};

use super::{ElicitField, Field};

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

    fn schema() -> Map<String, Value> {
        let mut schema = choices(E::CHOICES, if E::LEGACY_NAMES { "enumNames" } else { "oneOf" });
        schema.insert("type".into(), "string".into());
        schema
    }

    fn read(value: &Value) -> Result<Self, String> {
        value.as_str().and_then(E::from_value).ok_or_else(|| "must be one of the choices".to_owned())
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

    fn schema() -> Map<String, Value> {
        several(E::CHOICES)
    }

    fn read(value: &Value) -> Result<Self, String> {
        value.as_array().into_iter().flatten().map(E::read).collect()
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
        let choices: Vec<_> = choices.into_iter().map(IntoChoice::into_choice).collect();
        Self {
            name: name.into(),
            keywords: several(&choices),
            rules: OnceLock::new(),
            read: |value| value.as_array().into_iter().flatten().map(String::read).collect(),
            write: |chosen| chosen.as_slice().into(),
            absent: || None,
        }
    }
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

/// The keywords of one choice. `titled` is the one that has the titles, if there are any; a choice without one then shows
/// its value.
pub(super) fn choices<S: AsRef<str>>(choices: &[(S, Option<S>)], titled: &str) -> Map<String, Value> {
    let mut keywords = Map::new();
    let values = || choices.iter().map(|(value, _)| value.as_ref()).collect();
    let titles = || choices.iter().map(|(value, title)| (value.as_ref(), title.as_ref().unwrap_or(value).as_ref()));
    match titled {
        "enumNames" => {
            keywords.insert("enum".into(), values());
            keywords.insert(titled.into(), titles().map(|(_, title)| title).collect());
        }
        _ if choices.iter().any(|(_, title)| title.is_some()) => {
            let titles = titles().map(|(value, title)| json!({ "const": value, "title": title }));
            keywords.insert(titled.into(), titles.collect());
        }
        _ => {
            keywords.insert("enum".into(), values());
        }
    }
    keywords
}

/// The schema of several choices, each at most once.
fn several<S: AsRef<str>>(all: &[(S, Option<S>)]) -> Map<String, Value> {
    // `enumNames` does not exist for several choices.
    let mut items = choices(all, "anyOf");
    if items.contains_key("enum") {
        items.shift_insert(0, "type".into(), "string".into());
    }
    let keywords = [("type", "array".into()), ("items", items.into()), ("uniqueItems", true.into())];
    keywords.map(|(keyword, value): (&str, Value)| (keyword.to_owned(), value)).into_iter().collect()
}

/// What a value must be, if it is not one of the choices of its schema, or a list of some of them.
pub(super) fn not_chosen(schema: &Map<String, Value>, value: &Value) -> Option<String> {
    // Only texts are chosen.
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "array")) {
        return None;
    }
    let items = schema.get("items").and_then(Value::as_object);
    let keywords = items.unwrap_or(schema);
    let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
    let titled = list("oneOf").chain(list("anyOf")).map(|choice| &choice["const"]);
    let choices: Vec<&Value> = list("enum").chain(titled).collect();
    let chosen = match value.as_array().filter(|_| items.is_some()) {
        Some(chosen) => chosen.as_slice(),
        None => std::slice::from_ref(value),
    };
    if choices.is_empty() || (items.is_some() == value.is_array() && chosen.iter().all(|one| choices.contains(&one))) {
        return None;
    }
    let shown: Vec<_> = choices.iter().map(|choice| format!("`{}`", choice.as_str().unwrap_or_default())).collect();
    Some(match (items, shown.as_slice()) {
        (Some(_), shown) => format!("must be a list of any of {}", shown.join(", ")),
        (None, [only]) => format!("must be {only}"),
        (None, shown) => format!("must be one of {}", shown.join(", ")),
    })
}
