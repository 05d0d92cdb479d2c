//! One field of a form, the traits of the types that it can have, and the simplest of these types.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet, VecDeque},
    marker::PhantomData,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    FormError, FormErrors, IntoChoice,
    choice::{choices, not_chosen},
};
use crate::schema::{Format, Matching, Number, Rules, Types};

/// One field of a form: its name, its title and description, and its rules.
///
/// `#[derive(Elicit)]` makes these. Use them yourself for forms that are known only at run time.
///
/// ```
/// use rejoinder::{form::{Field, FormErrors}};
/// use serde_json::{Map, json};
///
/// let count = Field::<u8>::new("count").description("How many?").min(1).max(3);
/// let answer = Map::from_iter([("count".to_owned(), json!("2"))]);
/// let mut errors = FormErrors::default();
/// assert_eq!(count.read(&answer, &mut errors), Some(2));
///
/// let answer = Map::from_iter([("count".to_owned(), json!(4))]);
/// assert_eq!(count.read(&answer, &mut errors), None);
/// assert_eq!(errors.to_string(), "`count` must be between 1 and 3");
/// ```
// The functions of `ElicitField` are stored as pointers, so that only `new` needs the bound. In a derived form, a type that
// cannot be a field is then one error instead of one for each use.
#[derive(Debug)]
pub struct Field<T> {
    pub(super) name: Cow<'static, str>,
    /// Its JSON Schema, with the keywords that forms do not have.
    pub(super) keywords: Map<String, Value>,
    /// What the keywords say, once they are all there.
    pub(super) rules: OnceLock<Rules>,
    pub(super) read: fn(&Value) -> Result<T, String>,
    pub(super) write: fn(&T) -> Value,
    pub(super) absent: fn() -> Option<T>,
}

impl<T> Field<T> {
    /// A field with that name in the answer.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self
    where
        T: ElicitField,
    {
        Self {
            name: name.into(),
            keywords: T::schema(),
            rules: OnceLock::new(),
            read: T::read,
            write: T::write,
            absent: T::absent,
        }
    }

    /// The explanation that the client shows.
    pub fn description(self, description: impl Into<Cow<'static, str>>) -> Self {
        self.with("description", description.into())
    }

    /// The value if the user leaves the field out.
    pub fn default(self, default: T::Default) -> Self
    where
        T: ElicitField,
    {
        self.with("default", T::from_default(default).write())
    }

    /// The texts to choose from, with or without titles for the user to see. Other rules are not shown to the client.
    pub fn one_of(mut self, texts: impl IntoIterator<Item = impl IntoChoice>) -> Self
    where
        T: TextField,
    {
        let texts: Vec<_> = texts.into_iter().map(IntoChoice::into_choice).collect();
        self.keywords.extend(choices(&texts, "oneOf"));
        self
    }

    /// The name in the answer.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the user has to fill it in.
    pub fn is_required(&self) -> bool {
        !self.keywords.contains_key("default") && (self.absent)().is_none()
    }

    fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.keywords.insert(keyword.to_owned(), value.into());
        self
    }

    fn rules(&self) -> &Rules {
        let refuse = |problems: Vec<String>| panic!("the field `{}` {}", self.name, problems.join(" and "));
        self.rules.get_or_init(|| Rules::read(&self.keywords).unwrap_or_else(refuse))
    }

    /// The JSON Schema of the field, as forms have it.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let (keywords, bounds) = (&self.keywords, self.rules().shown_bounds());
        let is_choice = keywords.contains_key("enum") || keywords.contains_key("oneOf");
        let value = |keyword: &str| match keyword {
            "description" => self.shown_description().map(Value::from),
            "minimum" => keywords.get(keyword).cloned().or(bounds[0].map(Number::to_value)),
            "maximum" => keywords.get(keyword).cloned().or(bounds[1].map(Number::to_value)),
            "format" => {
                keywords.get(keyword).filter(|name| Format::SHOWN.iter().any(|shown| *name == shown.name())).cloned()
            }
            _ => keywords.get(keyword).cloned(),
        };
        let shown = [&FOR_ALL[..], if is_choice { &[] } else { &FOR_VALUES }, &["default"]].concat();
        if let Some(default) = keywords.get("default")
            && let Err(message) = self.check(default)
        {
            panic!("the default {default} of the field `{}` {message}", self.name);
        }
        shown.into_iter().filter_map(|keyword| Some((keyword.to_owned(), value(keyword)?))).collect()
    }

    /// The description with the example, because forms of MCP have no examples.
    fn shown_description(&self) -> Option<String> {
        let example = self.keywords.get("examples").map(|examples| match &examples[0] {
            Value::String(text) => format!("For example: {text}"),
            other => format!("For example: {other}"),
        });
        let description = self.keywords.get("description").and_then(Value::as_str).map(str::to_owned);
        let texts: Vec<_> = description.into_iter().chain(example).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Reads the field's value from an answer, or adds to the errors.
    pub fn read(&self, content: &Map<String, Value>, errors: &mut FormErrors) -> Option<T> {
        let (given, default) = (content.get(&*self.name), self.keywords.get("default"));
        let value = match (given, default) {
            (Some(value), _) if !value.is_null() => match (self.check(value), (self.absent)()) {
                // What many clients send for an input that was not touched.
                (Err(_), Some(absent)) if value == "" => Ok(absent),
                (read, _) => read,
            },
            (None, Some(default)) => self.check(default),
            // `null` empties an optional field, even one with a default.
            _ => match ((self.absent)(), default) {
                (Some(absent), _) => Ok(absent),
                (None, Some(default)) => self.check(default),
                (None, None) => Err("is missing".to_owned()),
            },
        };
        value.map_err(|message| errors.0.push(FormError { field: self.name.clone(), message })).ok()
    }

    /// Reads a value: first what it stands for, a number that came as a string for example, then its rules, then its type.
    fn check(&self, value: &Value) -> Result<T, String> {
        let types = self.keywords.get("type").and_then(Value::as_str).and_then(Types::named).unwrap_or_default();
        let meant = types.meant_by(value);
        let value = meant.as_ref().unwrap_or(value);
        let broken =
            not_chosen(&self.keywords, value).or_else(|| Some(self.rules().broken_by(value, &Matching::default())?.0));
        broken.map_or_else(|| (self.read)(value), Err)
    }

    /// Reads the value of a form's only field.
    pub(crate) fn read_alone(&self, content: &Map<String, Value>) -> Result<T, FormErrors> {
        let mut errors = FormErrors::default();
        self.read(content, &mut errors).ok_or(errors)
    }

    /// Adds the field's value to an answer, unless the value is one that is left out.
    pub fn write(&self, value: &T, content: &mut Map<String, Value>) {
        let value = (self.write)(value);
        if !value.is_null() {
            content.insert(self.name.clone().into_owned(), value);
        }
    }
}

/// The keywords that forms have, in the order in which they are sent.
const FOR_ALL: [&str; 6] = ["type", "title", "description", "enum", "enumNames", "oneOf"];
const FOR_VALUES: [&str; 9] =
    ["minimum", "maximum", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "items"];

/// The constraints of an argument of type `T`, as `#[arg(..)]` sets them.
#[derive(Debug)]
pub struct ArgumentRules<T> {
    keywords: Map<String, Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> ArgumentRules<T> {
    /// No constraints.
    #[expect(clippy::new_without_default, reason = "only macros make it")]
    pub fn new() -> Self {
        Self { keywords: Map::new(), of: PhantomData }
    }

    fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.keywords.insert(keyword.to_owned(), value.into());
        self
    }

    /// The keywords of the argument's schema.
    pub fn keywords(self) -> Map<String, Value> {
        self.keywords
    }
}

/// Writes the methods that set keywords, for the fields of forms and for arguments.
macro_rules! keywords {
    ($($(#[$doc:meta])* $method:ident($($value:ident: $type:ty)?) $(for $of:ident)? = $keyword:literal, $set:expr;)*) => {
        impl<T> Field<T> {
            $($(#[$doc])* pub fn $method(self $(, $value: $type)?) -> Self $(where T: $of)? {
                self.with($keyword, $set)
            })*
        }

        impl<T> ArgumentRules<T> {
            $($(#[$doc])* pub fn $method(self $(, $value: $type)?) -> Self $(where T: $of)? {
                self.with($keyword, $set)
            })*
        }
    };
}

keywords! {
    /// The title that the client shows instead of the name.
    title(title: impl Into<Cow<'static, str>>) = "title", title.into();
    /// A value as it may be filled in. Forms of MCP have no examples, so there the client shows it after the description.
    example(example: impl Serialize) = "examples", vec![serde_json::to_value(example).unwrap_or_default()];
    /// The format of the text.
    format(format: Format) for TextField = "format", format.name();
    /// A regular expression that matches some part of the text; `^` and `$` anchor it.
    ///
    /// The macros check a literal at compile time. [`Form::with`](super::Form::with) panics if it is not a regular expression.
    pattern(pattern: &str) for TextField = "pattern", pattern;
    /// The smallest number of characters.
    min_length(characters: u32) for TextField = "minLength", characters;
    /// The largest number of characters.
    max_length(characters: u32) for TextField = "maxLength", characters;
    /// The smallest number.
    min(min: T::Bound) for NumberField = "minimum", min.into().to_value();
    /// The largest number.
    max(max: T::Bound) for NumberField = "maximum", max.into().to_value();
    /// The number must be larger than this one.
    exclusive_min(min: T::Bound) for NumberField = "exclusiveMinimum", min.into().to_value();
    /// The number must be smaller than this one.
    exclusive_max(max: T::Bound) for NumberField = "exclusiveMaximum", max.into().to_value();
    /// The number must be a multiple of this one, which must be more than 0.
    multiple_of(unit: T::Bound) for NumberField = "multipleOf", unit.into().to_value();
    /// The smallest number of items.
    min_items(items: u32) for ListField = "minItems", items;
    /// The largest number of items.
    max_items(items: u32) for ListField = "maxItems", items;
    /// No item is in the list twice. In a form this is always so.
    unique_items() for ListField = "uniqueItems", true;
}

/// A type that a field of a form can have.
///
/// Implement it for a type of your own that is written as a string or a number:
///
/// ```
/// use rejoinder::form::ElicitField;
/// use serde_json::{Map, Value};
///
/// struct Colour([u8; 3]);
///
/// impl ElicitField for Colour {
///     type Default = Self;
///
///     fn schema() -> Map<String, Value> {
///         Map::from_iter([("type".into(), "string".into()), ("maxLength".into(), 6.into())])
///     }
///
///     fn read(value: &Value) -> Result<Self, String> {
///         let colour = value.as_str().and_then(|text| u32::from_str_radix(text, 16).ok());
///         let [0, rgb @ ..] = colour.unwrap_or(u32::MAX).to_be_bytes() else {
///             return Err("must be a colour such as `ff8800`".into());
///         };
///         Ok(Self(rgb))
///     }
///
///     fn write(&self) -> Value {
///         let [r, g, b] = self.0;
///         format!("{r:02x}{g:02x}{b:02x}").into()
///     }
///
///     fn from_default(default: Self) -> Self {
///         default
///     }
/// }
///
/// let orange = Colour::read(&"ff8800".into())?;
/// assert_eq!(orange.write(), "ff8800");
/// # Ok::<(), String>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not something that a user can fill in",
    note = "MCP forms are flat: a field is a `String`, a number of at most 64 bits, a `bool`, an enum that derives \
            `ElicitEnum`, a `Vec` of such an enum, or an `Option` of one of these",
    note = "with the features `chrono` and `uuid` also a `NaiveDate`, a `DateTime<Utc>` or a `Uuid`",
    note = "a type of your own can be a field if it implements `ElicitField`"
)]
pub trait ElicitField: Sized + Send + Sync + 'static {
    /// The type of `#[elicit(default = ..)]`: a `&'static str` for a `String`.
    type Default;

    /// The JSON Schema of the type: its `type`, and other keywords, which the constraints of a field replace.
    ///
    /// The client sees the keywords that forms of MCP have. An answer is checked against all constraints before it is read.
    fn schema() -> Map<String, Value>;

    /// Reads the value from the user's answer.
    ///
    /// # Errors
    ///
    /// What the answer must be: "must be a whole number".
    fn read(value: &Value) -> Result<Self, String>;

    /// The answer that is read as this value.
    fn write(&self) -> Value;

    /// Turns a default into a value.
    fn from_default(default: Self::Default) -> Self;

    /// The value if the field is left out; `None` if it is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// A string: it can have a length, a format and a pattern, as an argument and as a field of a form.
///
/// Implement it for a type of your own that is a string in JSON, to write these constraints on arguments of this type:
///
/// ```
/// use rejoinder::{form::TextField, prelude::*};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sku(String);
///
/// impl TextField for Sku {}
///
/// #[tool]
/// async fn stock(#[arg(pattern = "^[A-Z]{3}$")] sku: Sku) -> String {
///     sku.0
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "this option is for strings, and `{Self}` is not one",
    label = "remove the option, or change the type",
    note = "`format`, `pattern`, `min_length` and `max_length` are for a `String` or an `Option<String>`; use `min_items` and \
            `max_items` for a list, `min` and `max` for a number",
    note = "a type of your own that is a string in JSON can implement `rejoinder::form::TextField`"
)]
pub trait TextField {}

/// A number: it can have bounds, as an argument and as a field of a form.
///
/// Implement it for a type of your own that is a number in JSON, to write these constraints on arguments of this type.
#[diagnostic::on_unimplemented(
    message = "this option is for numbers, and `{Self}` is not one",
    label = "remove the option, or change the type",
    note = "`min`, `max`, `exclusive_min`, `exclusive_max` and `multiple_of` are for integers of at most 64 bits, `f32` and \
            `f64`; use `min_length` and `max_length` for a string, `min_items` and `max_items` for a list",
    note = "a type of your own that is a number in JSON can implement `rejoinder::form::NumberField`"
)]
pub trait NumberField {
    /// The type of the bounds.
    type Bound: Into<Number>;
}

/// A list: it can have a smallest and a largest number of items, as an argument and as a field of a form.
///
/// Implement it for a type of your own that is an array in JSON, to write these constraints on arguments of this type.
#[diagnostic::on_unimplemented(
    message = "this option is for lists, and `{Self}` is not one",
    label = "remove the option, or change the type",
    note = "`min_items`, `max_items` and `unique_items` are for a `Vec`, a set, or an `Option` of one; use `min_length` and \
            `max_length` for a string, `min` and `max` for a number",
    note = "a type of your own that is an array in JSON can implement `rejoinder::form::ListField`"
)]
pub trait ListField {}

macro_rules! lists {
    ($($list:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<T> ListField for $list {}
    )* };
}

lists!(Vec<T> VecDeque<T> BTreeSet<T>);

#[diagnostic::do_not_recommend]
impl<T, S> ListField for HashSet<T, S> {}

macro_rules! texts {
    ($($text:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl TextField for $text {}
    )* };
}

texts!(String Box<str> Arc<str> Cow<'static, str> PathBuf);

/// The schema of a type without other keywords.
fn only_type(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), name.into())])
}

/// A yes-or-no question. The words `true`, `false`, `yes` and `no` are read as what they spell.
#[diagnostic::do_not_recommend]
impl ElicitField for bool {
    type Default = bool;

    fn schema() -> Map<String, Value> {
        only_type("boolean")
    }

    fn read(value: &Value) -> Result<Self, String> {
        let spelled = || match value.as_str()?.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        };
        value.as_bool().or_else(spelled).ok_or_else(|| "must be true or false".into())
    }

    fn write(&self) -> Value {
        (*self).into()
    }

    fn from_default(default: bool) -> Self {
        default
    }
}

/// A text.
#[diagnostic::do_not_recommend]
impl ElicitField for String {
    type Default = &'static str;

    fn schema() -> Map<String, Value> {
        only_type("string")
    }

    fn read(value: &Value) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| "must be a string".into())
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }

    fn from_default(default: &'static str) -> Self {
        default.to_owned()
    }
}

/// A field that may be left out: absent, `null`, or an empty string where the type does not accept one.
#[diagnostic::do_not_recommend]
impl<T: ElicitField> ElicitField for Option<T> {
    type Default = T::Default;

    fn schema() -> Map<String, Value> {
        T::schema()
    }

    fn read(value: &Value) -> Result<Self, String> {
        T::read(value).map(Some)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }

    fn from_default(default: T::Default) -> Self {
        Some(T::from_default(default))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

#[diagnostic::do_not_recommend]
impl<T: TextField> TextField for Option<T> {}

#[diagnostic::do_not_recommend]
impl<T: NumberField> NumberField for Option<T> {
    type Bound = T::Bound;
}

#[diagnostic::do_not_recommend]
impl<T: ListField> ListField for Option<T> {}
