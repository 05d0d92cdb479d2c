use serde_json::{Map, Value};

use super::{Form, FormErrors};
use crate::ask::Ask;

/// A form that the user can be asked to fill in. Derive it:
///
/// ```
/// use rejoinder::{Elicit, form::ConfirmForm};
///
/// // What `#[derive(Elicit)] struct ConfirmForm { yes: bool }` is.
/// let form = ConfirmForm::form();
/// assert_eq!(
///     form.to_value(),
///     serde_json::json!({
///         "type": "object",
///         "properties": { "yes": { "type": "boolean" } },
///         "required": ["yes"],
///     }),
/// );
///
/// let answer = ConfirmForm { yes: true }.write();
/// assert!(ConfirmForm::read(&answer)?.yes);
/// assert_eq!(ConfirmForm::read(&serde_json::Map::new()).unwrap_err().to_string(), "`yes` is missing");
/// # Ok::<(), rejoinder::form::FormErrors>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form that the user can be asked to fill in",
    label = "not a form",
    note = "derive it: `#[derive(Elicit)]` on a struct whose fields are texts, numbers, `bool`s and choices"
)]
pub trait Elicit: Sized + Send + Sync + 'static {
    /// What the client shows to the user.
    ///
    /// # Panics
    ///
    /// When a default does not fit its own field: the author's mistake, which the first test of the form finds.
    fn form() -> Form;

    /// Reads the user's answer. What the form does not ask for is ignored.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the answer.
    fn read(content: &Map<String, Value>) -> Result<Self, FormErrors>;

    /// The answer that would be read as this value.
    fn write(&self) -> Map<String, Value>;

    /// Asks the user to fill it in: [`Ask::user`], for where the type is not clear from what takes the answer.
    ///
    /// ```
    /// use rejoinder::{Elicit, form::ConfirmForm};
    ///
    /// let asks = ConfirmForm::question("Delete everything?");
    /// assert!(format!("{asks:?}").contains("Delete everything?"));
    /// ```
    fn question(message: impl Into<String>) -> Ask<Self> {
        Ask::user(message)
    }
}
