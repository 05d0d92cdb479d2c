//! What a field can be. Each of the traits is a sentence of the compiler to whoever tries something else.
//!
//! The derive macro calls their hidden functions, by paths: of the bounds of [`Field`]'s own, the compiler would also tell
//! where they are written.

use serde_json::{Map, Value};

use super::{Field, Format, Number, Rules};

/// A type that a field of a form can have.
///
/// Implement it for a type of your own where a text or a number means more than itself:
///
/// ```
/// use rejoinder::{form::{ElicitField, Rules}};
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
    note = "a type of your own can be a field if it implements `ElicitField`"
)]
pub trait ElicitField: Sized + Send + Sync + 'static {
    /// What `#[elicit(default = ..)]` is written as: a `&'static str` for a `String`, say.
    type Default;

    /// Its JSON type.
    const TYPE: &'static str;

    /// Adds to the field's schema what the rules and the type say beyond `"type"`.
    fn describe(rules: &Rules, schema: &mut Map<String, Value>);

    /// Reads it from the user's answer.
    ///
    /// # Errors
    ///
    /// What it must be: "must be a whole number".
    fn read(value: &Value, rules: &Rules) -> Result<Self, String>;

    /// The answer that would be read as this value.
    fn write(&self) -> Value;

    /// The default as a value.
    fn from_default(default: Self::Default) -> Self;

    /// What it is when it was left out; `None` if it must not be.
    fn absent() -> Option<Self> {
        None
    }
}

/// A field that is a text: what has a length, a format and a pattern.
#[diagnostic::on_unimplemented(
    message = "this does not fit a field of type `{Self}`, which is not a text",
    label = "only a text has it",
    note = "`format`, `pattern`, `min_length` and `max_length` are for a `String` or an `Option<String>`"
)]
pub trait TextField: ElicitField {
    #[doc(hidden)]
    fn __format(field: Field<Self>, format: Format) -> Field<Self> {
        field.format(format)
    }

    #[doc(hidden)]
    fn __pattern(field: Field<Self>, pattern: &str) -> Field<Self> {
        field.pattern(pattern)
    }

    #[doc(hidden)]
    fn __min_length(field: Field<Self>, characters: u32) -> Field<Self> {
        field.min_length(characters)
    }

    #[doc(hidden)]
    fn __max_length(field: Field<Self>, characters: u32) -> Field<Self> {
        field.max_length(characters)
    }
}

/// A field that is a number: what has a least and a greatest value.
#[diagnostic::on_unimplemented(
    message = "this does not fit a field of type `{Self}`, which is not a number",
    label = "only a number has it",
    note = "`min` and `max` are for integers, `f32` and `f64`; a text has `min_length` and `max_length`, \
            a `Vec` of choices has `min_items` and `max_items`"
)]
pub trait NumberField: ElicitField {
    /// The type of its bounds.
    type Bound: Into<Number>;
}

/// A field in which several things can be chosen: what has a least and a greatest number of items.
#[diagnostic::on_unimplemented(
    message = "this does not fit a field of type `{Self}`, which is not a `Vec` of choices",
    label = "only a `Vec` has it",
    note = "`min_items` and `max_items` are for a `Vec` of an enum that derives `ElicitEnum`"
)]
pub trait ChoicesField: Sized {
    #[doc(hidden)]
    fn __min_items(field: Field<Self>, items: u32) -> Field<Self> {
        field.min_items(items)
    }

    #[doc(hidden)]
    fn __max_items(field: Field<Self>, items: u32) -> Field<Self> {
        field.max_items(items)
    }
}
