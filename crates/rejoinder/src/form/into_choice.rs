/// Something to choose: a value, or a value and the title that the user sees.
///
/// ```
/// use rejoinder::{form::{Choice, IntoChoice}};
/// use serde_json::json;
///
/// fn shown(choices: impl IntoIterator<Item = impl IntoChoice>) -> serde_json::Value {
///     Choice::of(choices).form().to_value()["properties"]["choice"].clone()
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
    label = "not a text, and not a value with a title",
    note = "a choice is a text, or a pair of its value and the title that the user sees"
)]
pub trait IntoChoice {
    /// The value in the answer, and the title.
    fn into_choice(self) -> (String, Option<String>);
}

impl<V: Into<String>, N: Into<String>> IntoChoice for (V, N) {
    fn into_choice(self) -> (String, Option<String>) {
        (self.0.into(), Some(self.1.into()))
    }
}

macro_rules! texts {
    ($($text:ty)*) => { $(
        impl IntoChoice for $text {
            fn into_choice(self) -> (String, Option<String>) {
                (self.into(), None)
            }
        }
    )* };
}

texts!(String &String &str std::borrow::Cow<'_, str>);
