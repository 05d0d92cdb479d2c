//! One argument: a type that the model can supply, how it is read, and what the author of a function wrote about it.

use std::{any::Any, borrow::Cow};

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use super::{ArgumentCheck, ArgumentError};
use crate::schema::Matching;

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

/// JSON of more bytes than this has to fit its type before it is read as a value, which can take sixty times as much memory:
/// what is spelled as a string in it is not read.
const LONGEST_UNREAD: usize = 256 * 1024;

impl SentArgument<'_> {
    fn is_long(&self) -> bool {
        matches!(self, Self::Json(json) if json.get().len() > LONGEST_UNREAD)
    }

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
    note = "what the server supplies is a `Dep<T>`, a `Context`, or a type that implements `FromCall`, without `#[arg(..)]`",
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
            SentArgument::Json(json) => serde_json::from_str(json.get()).map_err(|error| {
                let again = located::<T, _>(&mut serde_json::Deserializer::from_str(json.get()));
                // serde_json reads a 128-bit integer up to its fraction, and then finds the rest.
                again.err().unwrap_or_else(|| ArgumentError::at("", &error))
            }),
            SentArgument::Text(text) => read_text(text),
        }
    }
}

impl ArgumentCheck {
    /// Reads what was sent. What has constraints is checked before that; of anything else the check reads what is spelled as
    /// a string, and says what is wrong.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, by the path below the argument.
    pub(super) fn read<T: Argument + DeserializeOwned>(
        &self,
        sent: &SentArgument<'_>,
        matching: &Matching,
    ) -> Result<T, Vec<ArgumentError>> {
        let is_checked = self.has_rules && (self.is_required || !sent.is_null());
        if !is_checked || sent.is_long() {
            match T::read(sent) {
                Ok(value) if !is_checked => return Ok(value),
                Err(error) if sent.is_long() => return Err(vec![error]),
                _ => {}
            }
        }
        let (value, changed) = self.checked(sent, matching)?;
        // The value is much larger than the text, so it is not kept beside what is read.
        let value = changed.then_some(value);
        // From the text, because the value has the last of two members of one name.
        let read = match (T::read(sent), value) {
            (Err(error), Some(_)) if error.is_duplicate_field() => Err(error),
            (read, None) => read,
            (read, Some(value)) => {
                drop(read);
                located(value)
            }
        };
        read.map_err(|error| vec![error])
    }

    /// What was sent, if it fits the schema, and whether that changed it.
    fn checked(&self, sent: &SentArgument<'_>, matching: &Matching) -> Result<(Value, bool), Vec<ArgumentError>> {
        let check = |mut value| self.check(&mut value, matching).map(|changed| (value, changed));
        let text = match sent {
            SentArgument::Json(json) => {
                return check(serde_json::from_str(json.get()).map_err(|error| vec![ArgumentError::at("", &error)])?);
            }
            SentArgument::Text(text) => text,
        };
        check(Value::from(&**text)).or_else(|wrong| match serde_json::from_str(text).map(check) {
            Ok(Ok((spelled, changed))) if !spelled.is_null() => Ok((spelled, changed)),
            Ok(Err(other)) if !self.allows_strings() => Err(other),
            _ => Err(wrong),
        })
    }
}

fn located<'de, T: Deserialize<'de>, D: Deserializer<'de, Error = serde_json::Error>>(
    deserializer: D,
) -> Result<T, ArgumentError> {
    serde_path_to_error::deserialize(deserializer)
        .map_err(|error| ArgumentError::at(&error.path().to_string(), error.inner()))
}

fn read_text<T: DeserializeOwned>(text: &str) -> Result<T, ArgumentError> {
    T::deserialize(Value::from(text)).or_else(|error| {
        let spelled = if text.trim() == "null" { None } else { serde_json::from_str(text).ok() };
        spelled.ok_or_else(|| ArgumentError::at("", &error))
    })
}

/// What the author wrote about one plain parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name, which is the argument's name.
    pub name: &'static str,
    /// Its doc comment.
    pub description: Option<&'static str>,
    /// `#[arg(default = ..)]`.
    pub default: Option<ArgumentDefault>,
    /// `#[arg(header = "..")]`: the suffix of the `Mcp-Param-` header that repeats it.
    pub header: Option<&'static str>,
    /// `#[arg(min = .., title = .., ..)]`: keywords for its schema. What the schema says is checked.
    pub keywords: Option<fn() -> Map<String, Value>>,
}

impl Param {
    /// A name, and nothing else.
    pub const fn new(name: &'static str) -> Self {
        Self { name, description: None, default: None, header: None, keywords: None }
    }
}

/// The default of one argument, in the argument's own type.
#[derive(Debug, Clone, Copy)]
pub struct ArgumentDefault {
    /// A `fn() -> T` that makes it: [`Param`] does not depend on the parameter's type.
    make: &'static (dyn Any + Send + Sync),
    show: fn(&Self) -> Option<Value>,
}

impl ArgumentDefault {
    /// The default that `make` makes.
    pub const fn of<T: ShownDefault + 'static>(make: &'static fn() -> T) -> Self {
        Self { make, show: |default| serde_json::to_value(default.make::<T>()?).ok() }
    }

    /// Makes it, if it is a `T`.
    pub(super) fn make<T: 'static>(&self) -> Option<T> {
        self.make.downcast_ref::<fn() -> T>().map(|make| make())
    }

    /// The default as JSON, for the schema, if JSON has it.
    pub(super) fn show(&self) -> Option<Value> {
        (self.show)(self)
    }
}

/// A type whose values the schema can show.
#[diagnostic::on_unimplemented(
    message = "a default of type `{Self}` cannot be shown in the schema",
    label = "derive `serde::Serialize` for this type"
)]
pub trait ShownDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ShownDefault for T {}

/// A text or a constant as the default of an argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the default of an argument or header of type `{T}`",
    label = "not a `{T}`, and not a type that converts into one with `Into`"
)]
pub trait IntoDefault<T> {
    /// Converts it.
    fn into_default(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T, U: Into<T>> IntoDefault<T> for U {
    fn into_default(self) -> T {
        self.into()
    }
}

/// A type that has a default of its own, for `#[arg(default)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "write `default = ..`, or implement `Default` for the type"
)]
pub trait OwnDefault {
    /// Makes it.
    fn own_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OwnDefault for T {
    fn own_default() -> Self {
        T::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{
        super::{ArgumentErrors, SchemaCheck},
        *,
    };
    use crate::schema::generator;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(try_from = "u8")]
    struct Days(u8);

    impl TryFrom<u8> for Days {
        type Error = &'static str;

        fn try_from(days: u8) -> Result<Self, Self::Error> {
            if days <= 30 { Ok(Self(days)) } else { Err("30 days are the most") }
        }
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Trip {
        days: Days,
        nights: u32,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Stay {
        #[schemars(range(max = 9))]
        nights: u32,
    }

    fn read<T: Argument + DeserializeOwned>(json: &str) -> Result<T, Vec<String>> {
        let schema = <T as Argument>::schema(&mut generator(|settings| settings.for_deserialize()));
        let schema = json!({ "properties": { "x": schema } });
        let check = Arc::new(SchemaCheck::of_object(schema.as_object().expect("an object"))).argument("x");
        let sent = SentArgument::Json(serde_json::from_str(json).expect("JSON"));
        let text = |error: ArgumentError| ArgumentErrors(vec![error.of("x")]).to_string();
        check.read(&sent, &Matching::default()).map_err(|errors| errors.into_iter().map(text).collect())
    }

    #[test]
    fn a_h1_what_is_long_has_to_fit_its_type() {
        let long = |last: &str| format!("[{}{last}]", "1,".repeat(LONGEST_UNREAD / 2));
        assert_eq!(read::<Vec<u8>>(&long("1")).map(|read| read.len()), Ok(LONGEST_UNREAD / 2 + 1));
        let wrong = read::<Vec<u8>>(&long("\"2\"")).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].contains("invalid type: string \"2\", expected u8"), "{wrong:?}");
        let wrong = read::<u8>(&format!("\"{}\"", "x".repeat(LONGEST_UNREAD))).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].len() < 600, "{} bytes", wrong[0].len());
    }

    #[test]
    fn a_number_with_a_zero_fraction_is_an_integer() {
        for nine in ["9.0", "9e0", "90e-1", "0.9E1"] {
            assert_eq!(read(nine), Ok(Days(9)), "{nine}");
        }
        assert_eq!(read::<u32>("1e2"), Ok(100));
        assert_eq!(read::<i128>("2.0"), Ok(2));
        assert_eq!(read("2.0"), Ok(2.0));
    }

    #[test]
    fn everything_that_does_not_fit_is_reported() {
        for (error, expected) in [
            (read::<Days>("99.0").unwrap_err(), "Invalid argument `x`: 30 days are the most."),
            (read::<Days>("99").unwrap_err(), "Invalid argument `x`: 30 days are the most."),
            (read::<Days>("9.5").unwrap_err(), "Invalid argument `x`: expected an integer, got the number `9.5`."),
            (read::<i128>("2.5").unwrap_err(), "Invalid argument `x`: expected an integer, got the number `2.5`."),
            // A float has no room for this one.
            (
                read::<i64>("9007199254740993.0").unwrap_err(),
                "Invalid argument `x`: expected an integer, got the number `9007199254740992.0`.",
            ),
            (read::<String>("2.0").unwrap_err(), "Invalid argument `x`: expected a string, got the number `2.0`."),
            (
                read::<i32>("3000000000").unwrap_err(),
                "Invalid argument `x`: must be between -2147483648 and 2147483647, got 3000000000.",
            ),
            (read::<u64>("-1").unwrap_err(), "Invalid argument `x`: must be at least 0, got -1."),
            (read::<u8>("\"300\"").unwrap_err(), "Invalid argument `x`: must be between 0 and 255, got 300."),
            (read::<bool>("null").unwrap_err(), "Invalid argument `x`: expected a boolean, got null."),
            (read::<Vec<i32>>("1.5").unwrap_err(), "Invalid argument `x`: expected an array, got the number `1.5`."),
            // A JSON value would keep the last of the two.
            (
                read::<Trip>(r#"{"days":1,"nights":1,"nights":2}"#).unwrap_err(),
                "Invalid argument `x`: duplicate field `nights`.",
            ),
            (
                read::<Trip>(r#"{"days":1,"nights":1,"nights":"2"}"#).unwrap_err(),
                "Invalid argument `x`: duplicate field `nights`.",
            ),
        ] {
            assert_eq!(error, [expected]);
        }
        assert_eq!(
            read::<Trip>(r#"{"days":"many","nights":-1}"#).unwrap_err(),
            [
                "Invalid argument `x.days`: expected an integer, got the string \"many\".",
                "Invalid argument `x.nights`: must be between 0 and 4294967295, got -1."
            ]
        );
        assert_eq!(read(r#"{"days":"3","nights":2.0}"#), Ok(Trip { days: Days(3), nights: 2 }));
    }

    #[test]
    fn a_l13_a_member_that_is_there_twice_is_an_error_beside_constraints_too() {
        assert_eq!(read(r#"[{"nights":"9"}]"#), Ok(vec![Stay { nights: 9 }]));
        for twice in [r#"[{"nights":1,"nights":2}]"#, r#"[{"nights":1,"nights":"2"}]"#, r#"[{"nights":10,"nights":2}]"#]
        {
            assert_eq!(read::<Vec<Stay>>(twice).unwrap_err(), ["Invalid argument `x[0]`: duplicate field `nights`."]);
        }
    }

    #[test]
    fn only_an_option_may_be_absent() {
        assert_eq!(<Option<u8> as Argument>::absent(), Some(None));
        assert_eq!(<u8 as Argument>::absent(), None);
        assert_eq!(<Value as Argument>::absent(), None);
    }
}
