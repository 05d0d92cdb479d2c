use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};

use super::{bad_arguments::reason, missing::Missing, whole::without_zero_fractions};

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

    /// Reads it from JSON text.
    ///
    /// # Errors
    ///
    /// The path below the argument, and what was expected there and what came.
    fn read(json: &RawValue) -> Result<Self, (String, String)>;

    /// Reads it from a JSON value.
    fn from_value(value: Value) -> Option<Self>;

    /// Reads it from plain text, as prompts and URI templates carry it: the text itself,
    /// or the number or boolean that it spells.
    ///
    /// # Errors
    ///
    /// What was expected and what came.
    fn from_text(text: &str) -> Result<Self, String>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Argument for T {
    fn schema(generator: &mut SchemaGenerator) -> Value {
        generator.subschema_for::<T>().into()
    }

    fn absent() -> Option<Self> {
        T::deserialize(Missing).ok()
    }

    fn read(json: &RawValue) -> Result<Self, (String, String)> {
        read(json.get()).or_else(|wrong| match without_zero_fractions(json.get()).map(|integers| read(&integers)) {
            // Where no integer was wanted, the number that was sent tells more.
            Some(Err(other)) if other.0 == wrong.0 && !wrong.1.contains("integer") => Err(wrong),
            Some(read) => read,
            None => Err(wrong),
        })
    }

    fn from_value(value: Value) -> Option<Self> {
        T::deserialize(value).ok()
    }

    fn from_text(text: &str) -> Result<Self, String> {
        T::deserialize(Value::String(text.to_owned())).or_else(|error| {
            let spelled = serde_json::from_str::<Value>(text).ok().filter(|value| !value.is_null());
            spelled.and_then(|value| T::deserialize(value).ok()).ok_or_else(|| reason(&error.to_string()))
        })
    }
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, (String, String)> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        (if path == "." { String::new() } else { path }, reason(&error.into_inner().to_string()))
    })?;
    // To the reader of a 128-bit integer, one ends where a fraction begins.
    let Err(rest) = deserializer.end() else { return Ok(read) };
    let error = serde_json::from_str(json).and_then(|whole: Value| T::deserialize(whole)).err();
    Err((String::new(), reason(&error.unwrap_or(rest).to_string())))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

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

    fn wrong<T: Argument>(json: &str) -> String {
        let json: Box<RawValue> = serde_json::from_str(json).expect("JSON");
        T::read(&json).err().expect("it is refused").1
    }

    #[test]
    fn of_a_whole_number_with_a_fraction_only_what_else_is_wrong_is_told() {
        assert_eq!(wrong::<Days>("99.0"), "30 days are the most");
        assert_eq!(wrong::<Days>("9.5"), "expected an integer from 0 to 255, got the number `9.5`");
        assert_eq!(wrong::<String>("2.0"), "expected a string, got the number `2.0`");
        assert_eq!(
            <Days as Argument>::read(&RawValue::from_string("9.0".into()).expect("JSON")).map(|days| days.0),
            Ok(9)
        );
    }
}
