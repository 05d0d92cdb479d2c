//! One field of a form, the traits of the types that it can have, and the simplest of these types.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet, VecDeque},
    marker::PhantomData,
    path::PathBuf,
    sync::Arc,
};

use regex_lite::Regex;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{FormError, FormErrors, Format, IntoChoice, Number, Rules};

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
    pub(super) title: Option<Cow<'static, str>>,
    pub(super) description: Option<Cow<'static, str>>,
    pub(super) example: Option<Value>,
    pub(super) rules: Rules,
    pub(super) default: Option<Value>,
    pub(super) json_type: &'static str,
    pub(super) describe: fn(&Rules, &mut Map<String, Value>),
    pub(super) read: fn(&Value, &Rules) -> Result<T, String>,
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
            title: None,
            description: None,
            example: None,
            rules: Rules::default(),
            default: None,
            json_type: T::TYPE,
            describe: T::describe,
            read: T::read,
            write: T::write,
            absent: T::absent,
        }
    }

    /// The title that the client shows instead of the name.
    pub fn title(self, title: impl Into<Cow<'static, str>>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// The explanation that the client shows.
    pub fn description(self, description: impl Into<Cow<'static, str>>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// A value as it may be filled in. Forms of MCP have no examples, so the client shows it after the description.
    pub fn example(self, example: impl Serialize) -> Self {
        Self { example: serde_json::to_value(example).ok(), ..self }
    }

    /// The value if the user leaves the field out.
    pub fn default(self, default: T::Default) -> Self
    where
        T: ElicitField,
    {
        Self { default: Some(T::from_default(default).write()), ..self }
    }

    /// The texts to choose from, with or without titles for the user to see. Other rules are not shown to the client.
    pub fn one_of(mut self, choices: impl IntoIterator<Item = impl IntoChoice>) -> Self
    where
        T: TextField,
    {
        self.rules.one_of = Some(choices.into_iter().map(IntoChoice::into_choice).collect());
        self
    }

    /// The name in the answer.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the user has to fill it in.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && (self.absent)().is_none()
    }

    /// The JSON Schema of the field.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let example = self.example.as_ref().map(|example| match example {
            Value::String(text) => format!("For example: {text}"),
            other => format!("For example: {other}"),
        });
        let description = match (self.description.as_deref(), example) {
            (Some(description), Some(example)) => Some(format!("{description}\n\n{example}")),
            (description, example) => description.map(str::to_owned).or(example),
        };
        schema.insert("type".into(), self.json_type.into());
        let texts = [("title", self.title.as_deref()), ("description", description.as_deref())];
        schema.extend(texts.into_iter().filter_map(|(key, text)| Some((key.into(), text?.into()))));
        (self.describe)(&self.rules, &mut schema);
        if let Some(default) = &self.default {
            if let Err(message) = (self.read)(default, &self.rules) {
                panic!("the default {default} of the field `{}` {message}", self.name);
            }
            schema.insert("default".into(), default.clone());
        }
        schema
    }

    /// Reads the field's value from an answer, or adds to the errors.
    pub fn read(&self, content: &Map<String, Value>, errors: &mut FormErrors) -> Option<T> {
        let absent = || (self.absent)().ok_or_else(|| "is missing".to_owned());
        let value = match (content.get(&*self.name), &self.default) {
            (Some(value), _) if !value.is_null() => (self.read)(value, &self.rules),
            (None, Some(default)) => (self.read)(default, &self.rules),
            // `null` empties an optional field, even one with a default.
            (Some(_), Some(default)) => absent().or_else(|_| (self.read)(default, &self.rules)),
            (_, None) => absent(),
        };
        value.map_err(|message| errors.0.push(FormError { field: self.name.clone(), message })).ok()
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

/// Writes the methods that set constraints, for the fields of forms and for arguments.
macro_rules! constraints {
    ($($(#[$doc:meta])* $of:ident: $rule:ident($($value:ident: $type:ty)?) = $set:expr;)*) => {
        impl<T> Field<T> {
            $($(#[$doc])* pub fn $rule(mut self $(, $value: $type)?) -> Self
            where
                T: $of,
            {
                self.rules.$rule = $set;
                self
            })*
        }

        impl<T> ArgumentRules<T> {
            $($(#[$doc])* pub fn $rule(mut self $(, $value: $type)?) -> Self
            where
                T: $of,
            {
                self.rules.$rule = $set;
                self
            })*
        }
    };
}

constraints! {
    /// The format of the text.
    TextField: format(format: Format) = Some(format);
    /// A regular expression that matches some part of the text; `^` and `$` anchor it.
    ///
    /// # Panics
    ///
    /// `pattern` is not a regular expression. The macros check a literal at compile time.
    TextField: pattern(pattern: &str) = match Regex::new(pattern) {
        Ok(pattern) => Some(pattern),
        Err(error) => panic!("`{pattern}` is not a regular expression: {error}"),
    };
    /// The smallest number of characters.
    TextField: min_length(characters: u32) = Some(characters);
    /// The largest number of characters.
    TextField: max_length(characters: u32) = Some(characters);
    /// The smallest number.
    NumberField: min(min: T::Bound) = Some(min.into());
    /// The largest number.
    NumberField: max(max: T::Bound) = Some(max.into());
    /// The number must be larger than this one.
    NumberField: exclusive_min(min: T::Bound) = Some(min.into());
    /// The number must be smaller than this one.
    NumberField: exclusive_max(max: T::Bound) = Some(max.into());
    /// The number must be a multiple of this one.
    ///
    /// # Panics
    ///
    /// `unit` is not more than 0.
    NumberField: multiple_of(unit: T::Bound) = {
        let unit = unit.into();
        assert!(unit > Number::Whole(0), "`multiple_of` must be more than 0");
        Some(unit)
    };
    /// The smallest number of items.
    ListField: min_items(items: u32) = Some(items);
    /// The largest number of items.
    ListField: max_items(items: u32) = Some(items);
    /// No item is in the list twice. In a form this is always so.
    ListField: unique_items() = true;
}

/// The constraints of an argument of type `T`, as `#[arg(..)]` sets them.
#[derive(Debug)]
pub struct ArgumentRules<T> {
    rules: Rules,
    /// Keywords that are not checked.
    annotations: Map<String, Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> ArgumentRules<T> {
    /// No constraints.
    #[expect(clippy::new_without_default, reason = "only macros make it")]
    pub fn new() -> Self {
        Self { rules: Rules::default(), annotations: Map::new(), of: PhantomData }
    }

    /// The title that a client shows instead of the name.
    pub fn title(mut self, title: &str) -> Self {
        self.annotations.insert("title".into(), title.into());
        self
    }

    /// A value as it may be sent.
    pub fn example(mut self, example: impl Serialize) -> Self {
        let example = serde_json::to_value(example).unwrap_or_default();
        self.annotations.insert("examples".into(), vec![example].into());
        self
    }

    /// The keywords of the argument's schema.
    pub fn keywords(mut self) -> Map<String, Value> {
        self.rules.describe_argument(&mut self.annotations);
        self.annotations
    }
}

/// A type that a field of a form can have.
///
/// Implement it for a type of your own that is written as a string or a number:
///
/// ```
/// use rejoinder::form::{ElicitField, Rules};
/// use serde_json::{Map, Value};
///
/// struct Colour([u8; 3]);
///
/// impl ElicitField for Colour {
///     type Default = Self;
///     const TYPE: &'static str = "string";
///
///     fn describe(_: &Rules, schema: &mut Map<String, Value>) {
///         schema.insert("maxLength".into(), 6.into());
///     }
///
///     fn read(value: &Value, _: &Rules) -> Result<Self, String> {
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
/// let orange = Colour::read(&"ff8800".into(), &Rules::default())?;
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

    /// The JSON type.
    const TYPE: &'static str;

    /// Adds the keywords of the rules and of the type to the field's schema, which already has `"type"`.
    fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
        rules.describe(schema);
    }

    /// Reads the value from the user's answer.
    ///
    /// # Errors
    ///
    /// What the answer must be: "must be a whole number".
    fn read(value: &Value, rules: &Rules) -> Result<Self, String>;

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
    note = "`format`, `pattern`, `min_length` and `max_length` are for a `String` or an `Option<String>`",
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
    note = "`min_items`, `max_items` and `unique_items` are for a `Vec`, a set, or an `Option` of one",
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

/// A yes-or-no question. The words `true`, `false`, `yes` and `no` are read as what they spell.
#[diagnostic::do_not_recommend]
impl ElicitField for bool {
    type Default = bool;
    const TYPE: &'static str = "boolean";

    fn read(value: &Value, _: &Rules) -> Result<Self, String> {
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
    const TYPE: &'static str = "string";

    fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
        let text = value.as_str().ok_or("must be a string")?;
        rules.check_text(text)?;
        Ok(text.to_owned())
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
    const TYPE: &'static str = T::TYPE;

    fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
        T::describe(rules, schema);
    }

    fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
        match T::read(value, rules) {
            Ok(value) => Ok(Some(value)),
            // What many clients send for an input that was not touched.
            Err(_) if value.is_null() || value == "" => Ok(None),
            Err(message) => Err(message),
        }
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
