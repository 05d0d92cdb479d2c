//! Questions that need no form of their own: yes or no, one text, one of a list.

use super::{Ask, BadAnswer, Question, answer::elicited};
use crate::form::{Answered, Choice, Confirmed};

impl Ask<bool> {
    /// Asks the user to say yes or no. The form has one field, `yes`: see [`Confirmed`].
    pub fn confirm(message: impl Into<String>) -> Self {
        Ask::user(message).map(|Confirmed { yes }| yes)
    }
}

impl Ask<String> {
    /// Asks the user for a text. The form has one field, `text`: see [`Answered`].
    pub fn text(message: impl Into<String>) -> Self {
        Ask::user(message).map(|Answered { text }| text)
    }

    /// Asks the user to choose one of a list: of values, each with the title that the user sees.
    ///
    /// The form has one field, `choice`. Where the list is known when the program is written, an enum that derives
    /// `ElicitEnum` is the better choice.
    ///
    /// ```
    /// use rejoinder_core::ask::Ask;
    ///
    /// fn branch(branches: &[String]) -> Ask<String> {
    ///     Ask::choice("Which branch?", branches.iter().map(|name| (name, name)))
    /// }
    /// ```
    pub fn choice<V, N>(message: impl Into<String>, choices: impl IntoIterator<Item = (V, N)>) -> Self
    where
        V: Into<String>,
        N: Into<String>,
    {
        let choice = Choice::of(choices);
        let question = Question::Form { message: message.into(), form: choice.form() };
        Self::read_with(question, move |answer| {
            elicited(answer, |content| {
                let content = content.ok_or_else(BadAnswer::no_content)?;
                choice.read(content).map_err(|errors| BadAnswer(errors.to_string()))
            })
        })
    }
}
