//! One argument: a type that the model can supply, and how it is read.

use std::borrow::Cow;

use schemars::{JsonSchema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::{Value, value::RawValue};

use super::ArgumentError;
use crate::schema::ArgumentCheck;

/// An argument as the client sent it.
#[derive(Debug, Clone)]
pub enum SentArgument<'a> {
    /// A tool's argument.
    Json(&'a RawValue),
    /// An argument of a prompt, or a variable of a URI template: a string, or the number or boolean that it spells.
    Text(Cow<'a, str>),
}

impl<'de> Deserialize<'de> for SentArgument<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer).map(Self::Json)
    }
}

impl SentArgument<'_> {
    /// Whether it is the JSON `null`.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Json(json) if json.get() == "null")
    }
}

/// A type that the model can supply: anything that is [`serde::Deserialize`] and [`JsonSchema`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument",
    label = "the model cannot supply this type",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`",
    note = "what the server supplies is a `Dep<T>`, a `Context`, or a type that implements `FromCall`",
    note = "what a resolver makes is taken with `#[resolve(function)]` before the parameter"
)]
pub trait Argument: Sized + Send + Sync + 'static {
    /// Its JSON Schema.
    fn schema(generator: &mut SchemaGenerator) -> Value;

    /// What it is when nothing was sent; `None` if it must be sent.
    fn absent() -> Option<Self>;

    /// Reads what was sent.
    ///
    /// # Errors
    ///
    /// The path below the argument, and what was expected there and what was sent.
    fn read(sent: &SentArgument<'_>) -> Result<Self, ArgumentError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Argument for T {
    fn schema(generator: &mut SchemaGenerator) -> Value {
        generator.subschema_for::<T>().into()
    }

    fn absent() -> Option<Self> {
        // A missing field of a derived struct is an error, except that an `Option` is `None`.
        #[derive(Deserialize)]
        struct Absent<T> {
            value: T,
        }
        serde_json::from_str::<Absent<T>>("{}").ok().map(|absent| absent.value)
    }

    fn read(sent: &SentArgument<'_>) -> Result<Self, ArgumentError> {
        match sent {
            SentArgument::Json(json) => serde_json::from_str(json.get()).or_else(|_| read_again(json.get())),
            SentArgument::Text(text) => read_text(text),
        }
    }
}

impl ArgumentCheck {
    /// Reads what was sent, and checks it before that.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, by the path below the argument.
    pub(super) fn read<T: Argument + DeserializeOwned>(
        &self,
        sent: &SentArgument<'_>,
    ) -> Result<T, Vec<ArgumentError>> {
        if self.has_rules && (self.is_required || !sent.is_null()) {
            let value = self.checked(sent)?;
            return T::deserialize(&value).or_else(|_| located(&value)).map_err(|error| vec![error]);
        }
        T::read(sent).or_else(|error| self.adapted(sent).ok_or_else(|| vec![error]))
    }

    /// What was sent, if it fits the schema.
    fn checked(&self, sent: &SentArgument<'_>) -> Result<Value, Vec<ArgumentError>> {
        let text = match sent {
            SentArgument::Json(json) => {
                let mut value =
                    serde_json::from_str(json.get()).map_err(|error| vec![ArgumentError::at("", &error)])?;
                return self.check(&mut value).map(|()| value);
            }
            SentArgument::Text(text) => text,
        };
        let mut value = Value::from(&**text);
        let Err(wrong) = self.check(&mut value) else { return Ok(value) };
        let Ok(mut spelled) = serde_json::from_str(text) else { return Err(wrong) };
        match self.check(&mut spelled) {
            Ok(()) if !spelled.is_null() => Ok(spelled),
            Err(other) if !self.allows_strings() => Err(other),
            _ => Err(wrong),
        }
    }

    /// What was sent, with numbers and booleans read that came as strings.
    #[cold]
    fn adapted<T: DeserializeOwned>(&self, sent: &SentArgument<'_>) -> Option<T> {
        let SentArgument::Json(json) = sent else { return None };
        let mut value = serde_json::from_str(json.get()).ok()?;
        self.adapt(&mut value).then(|| T::deserialize(value).ok())?
    }
}

/// Reads JSON that does not fit, to find out where. To JSON Schema `2.0` is an integer, and some clients write one so; to
/// serde it is not.
#[cold]
fn read_again<T: DeserializeOwned>(json: &str) -> Result<T, ArgumentError> {
    let value: Result<Value, _> = serde_json::from_str(json);
    let error = match (located(&mut serde_json::Deserializer::from_str(json)), &value) {
        (Err(error), _) => error,
        // serde_json reads a 128-bit integer up to its fraction, and then finds the rest.
        (Ok(_), Ok(value)) => located::<T, _>(value).err().unwrap_or_else(ArgumentError::required),
        (Ok::<T, _>(_), Err(error)) => ArgumentError::at("", error),
    };
    let Ok(mut value) = value else { return Err(error) };
    if !make_integers(&mut value) {
        return Err(error);
    }
    // Where no integer is expected, the number as it was sent says more.
    located(value)
        .map_err(|other| if other.field == error.field && !error.message.contains("integer") { error } else { other })
}

fn located<'de, T: Deserialize<'de>, D: Deserializer<'de, Error = serde_json::Error>>(
    deserializer: D,
) -> Result<T, ArgumentError> {
    serde_path_to_error::deserialize(deserializer)
        .map_err(|error| ArgumentError::at(&error.path().to_string(), error.inner()))
}

/// Makes integers of all numbers whose fraction is zero, except where a float is not exact; `false` if there are none.
fn make_integers(value: &mut Value) -> bool {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    match value {
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) if float.fract() == 0.0 && float.abs() < EXACT => {
                *value = (float as i64).into();
                true
            }
            _ => false,
        },
        Value::Array(values) => values.iter_mut().fold(false, |found, value| found | make_integers(value)),
        Value::Object(members) => members.values_mut().fold(false, |found, value| found | make_integers(value)),
        _ => false,
    }
}

fn read_text<T: DeserializeOwned>(text: &str) -> Result<T, ArgumentError> {
    T::deserialize(Value::from(text)).or_else(|error| {
        let spelled = if text.trim() == "null" { Err(Error::custom("null")) } else { serde_json::from_str(text) };
        spelled.map_err(|_| ArgumentError::at("", &error))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(try_from = "u8")]
    struct Days(u8);

    impl TryFrom<u8> for Days {
        type Error = &'static str;

        fn try_from(days: u8) -> Result<Self, Self::Error> {
            if days <= 30 { Ok(Self(days)) } else { Err("30 days are the most") }
        }
    }

    fn read<T: Argument>(json: &str) -> Result<T, String> {
        let raw = serde_json::from_str(json).expect("JSON");
        <T as Argument>::read(&SentArgument::Json(raw)).map_err(|error| error.message)
    }

    #[test]
    fn a_number_with_a_zero_fraction_is_an_integer() {
        for nine in ["9.0", "9e0", "90e-1", "0.9E1"] {
            assert_eq!(read::<Days>(nine).map(|days| days.0), Ok(9), "{nine}");
        }
        assert_eq!(read::<u32>("1e2"), Ok(100));
        assert_eq!(read::<Days>("99.0").unwrap_err(), "30 days are the most");
        assert_eq!(read::<Days>("9.5").unwrap_err(), "expected an integer from 0 to 255, got the number `9.5`");
        assert_eq!(read::<String>("2.0").unwrap_err(), "expected a string, got the number `2.0`");
        assert_eq!(read::<i128>("2.0"), Ok(2));
        assert_eq!(read::<i128>("2.5").unwrap_err(), "expected an integer, got the number `2.5`");
        // A float has no room for this one.
        assert!(read::<i64>("9007199254740993.0").unwrap_err().starts_with("expected an integer"));
    }

    #[test]
    fn only_zero_fractions_are_dropped() {
        let mut value = json!({ "a": [1.0, 2.5, 3, "4.0"], "-0": -0.0, "b": -17.0 });
        assert!(make_integers(&mut value));
        assert_eq!(value.to_string(), json!({ "a": [1, 2.5, 3, "4.0"], "-0": 0, "b": -17 }).to_string());
        assert!(!make_integers(&mut value));
    }

    #[test]
    fn only_an_option_may_be_absent() {
        assert_eq!(<Option<u8> as Argument>::absent(), Some(None));
        assert_eq!(<u8 as Argument>::absent(), None);
        assert_eq!(<Value as Argument>::absent(), None);
    }
}
