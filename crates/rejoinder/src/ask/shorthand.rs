//! Questions that need no form of their own: yes or no, one text, one of a list.

use super::Ask;
use crate::form::{Choice, ConfirmForm, IntoChoice, TextForm};

impl Ask<bool> {
    /// Asks the user to say yes or no. The form has one field, `yes`: see [`ConfirmForm`].
    pub fn confirm(message: impl Into<String>) -> Self {
        Ask::user(message).map(|ConfirmForm { yes }| yes)
    }
}

impl Ask<String> {
    /// Asks the user for a text. The form has one field, `text`: see [`TextForm`].
    pub fn text(message: impl Into<String>) -> Self {
        Ask::user(message).map(|TextForm { text }| text)
    }

    /// Asks the user to choose one of a list: of texts, or of pairs of a value and the title that the user sees.
    ///
    /// The form has one field, `choice`. The list must be in the same order in every round, which that of a `HashSet` is not:
    /// another order is another question. Where the list is known when the program is written, an enum that derives
    /// `ElicitEnum` is the better choice. An empty list is the author's mistake, and ends the call: with nothing to choose,
    /// there is nothing to ask.
    ///
    /// ```
    /// use rejoinder::Ask;
    ///
    /// fn branch(branches: &[String]) -> Ask<String> {
    ///     Ask::choice("Which branch?", branches)
    /// }
    ///
    /// fn size() -> Ask<String> {
    ///     Ask::choice("Which size?", [("s", "Small"), ("l", "Large")])
    /// }
    /// ```
    pub fn choice(message: impl Into<String>, choices: impl IntoIterator<Item = impl IntoChoice>) -> Self {
        let choice = Choice::of(choices);
        if choice.is_empty() {
            return Self::mistaken("`Ask::choice` needs something to choose, and the list is empty");
        }
        Self::dynamic_form(message, choice.form(), move |content| choice.read(content))
    }
}
