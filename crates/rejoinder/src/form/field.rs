use std::borrow::Cow;

use regex_lite::Regex;
use serde_json::{Map, Value};

use super::{ChoicesField, ElicitField, FormErrors, Format, IntoChoice, NumberField, Rules, TextField};

/// One field of a form: its name, what the user is told about it, and its rules.
///
/// `#[derive(Elicit)]` writes these; by hand they make forms that are known only at run time.
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
// The functions of `ElicitField` are kept here as pointers, so that only making one needs the bound: in a derived form a type
// that cannot be a field is one error and not one for each use.
#[derive(Debug)]
pub struct Field<T> {
    name: Cow<'static, str>,
    title: Option<Cow<'static, str>>,
    description: Option<Cow<'static, str>>,
    rules: Rules,
    default: Option<Value>,
    json_type: &'static str,
    describe: fn(&Rules, &mut Map<String, Value>),
    read: fn(&Value, &Rules) -> Result<T, String>,
    write: fn(&T) -> Value,
    absent: fn() -> Option<T>,
}

impl<T> Field<T> {
    /// A field of that name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self
    where
        T: ElicitField,
    {
        Self {
            name: name.into(),
            title: None,
            description: None,
            rules: Rules::default(),
            default: None,
            json_type: T::TYPE,
            describe: T::describe,
            read: T::read,
            write: T::write,
            absent: T::absent,
        }
    }

    /// What the client shows in place of its name.
    pub fn title(self, title: impl Into<Cow<'static, str>>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// What the client tells the user about it.
    pub fn description(self, description: impl Into<Cow<'static, str>>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// What it is when the user leaves it out.
    pub fn default(self, default: T::Default) -> Self
    where
        T: ElicitField,
    {
        Self { default: Some(T::from_default(default).write()), ..self }
    }

    /// What the text must look like.
    pub fn format(mut self, format: Format) -> Self
    where
        T: TextField,
    {
        self.rules.format = Some(format);
        self
    }

    /// The regular expression that the text must match somewhere; `^` and `$` tie it to the ends.
    ///
    /// # Panics
    ///
    /// When it is not a regular expression. The derive macro finds that out when it compiles.
    pub fn pattern(mut self, pattern: &str) -> Self
    where
        T: TextField,
    {
        match Regex::new(pattern) {
            Ok(pattern) => self.rules.pattern = Some(pattern),
            Err(error) => panic!("the pattern of the field `{}` is no regular expression: {error}", self.name),
        }
        self
    }

    /// The least number of characters.
    pub fn min_length(mut self, characters: u32) -> Self
    where
        T: TextField,
    {
        self.rules.min_length = Some(characters);
        self
    }

    /// The greatest number of characters.
    pub fn max_length(mut self, characters: u32) -> Self
    where
        T: TextField,
    {
        self.rules.max_length = Some(characters);
        self
    }

    /// The texts to choose from, with or without titles for the user to see.
    pub fn one_of(mut self, choices: impl IntoIterator<Item = impl IntoChoice>) -> Self
    where
        T: TextField,
    {
        self.rules.one_of = Some(choices.into_iter().map(IntoChoice::into_choice).collect());
        self
    }

    /// The least number.
    pub fn min(mut self, min: T::Bound) -> Self
    where
        T: NumberField,
    {
        self.rules.min = Some(min.into());
        self
    }

    /// The greatest number.
    pub fn max(mut self, max: T::Bound) -> Self
    where
        T: NumberField,
    {
        self.rules.max = Some(max.into());
        self
    }

    /// The least number of choices.
    pub fn min_items(mut self, items: u32) -> Self
    where
        T: ChoicesField,
    {
        self.rules.min_items = Some(items);
        self
    }

    /// The greatest number of choices.
    pub fn max_items(mut self, items: u32) -> Self
    where
        T: ChoicesField,
    {
        self.rules.max_items = Some(items);
        self
    }

    /// Its name, as the client knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the user has to fill it in.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && (self.absent)().is_none()
    }

    /// Whether there are no texts to choose from.
    pub(super) fn is_one_of_none(&self) -> bool {
        self.rules.one_of.as_ref().is_some_and(Vec::is_empty)
    }

    /// Its schema.
    pub(super) fn property(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let texts = [("title", &self.title), ("description", &self.description)];
        schema.insert("type".into(), self.json_type.into());
        schema.extend(texts.into_iter().filter_map(|(key, text)| Some((key.into(), text.as_deref()?.into()))));
        (self.describe)(&self.rules, &mut schema);
        if let Some(default) = &self.default {
            if let Err(message) = (self.read)(default, &self.rules) {
                panic!("the default {default} of the field `{}` {message}", self.name);
            }
            schema.insert("default".into(), default.clone());
        }
        schema
    }

    /// Takes the field's value out of an answer, or adds to what is wrong with it.
    pub fn read(&self, content: &Map<String, Value>, errors: &mut FormErrors) -> Option<T> {
        let absent = || (self.absent)().ok_or_else(|| "is missing".to_owned());
        let value = match (content.get(&*self.name), &self.default) {
            (Some(value), _) if !value.is_null() => (self.read)(value, &self.rules),
            (None, Some(default)) => (self.read)(default, &self.rules),
            // `null` in an optional field says that it is left empty, whatever its default.
            (Some(_), Some(default)) => absent().or_else(|_| (self.read)(default, &self.rules)),
            (_, None) => absent(),
        };
        value.map_err(|message| errors.push(self.name.clone(), message)).ok()
    }

    /// Puts the field's value into an answer, unless it is one that is left out.
    pub fn write(&self, value: &T, content: &mut Map<String, Value>) {
        let value = (self.write)(value);
        if !value.is_null() {
            content.insert(self.name.clone().into_owned(), value);
        }
    }
}
