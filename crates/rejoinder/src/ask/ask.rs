use std::{fmt, sync::Arc};

use serde_json::{Map, Value, value::RawValue};

use super::{
    Answer, AnswerError, Outcome, Question, RawAnswer, Roots, Sample, Sampling, UrlVisited, answer::read_elicitation,
};
use crate::{
    call::{AnswerCheck, Call},
    error::{CallError, Halt},
    form::{Choice, ConfirmForm, Elicit, Form, FormErrors, IntoChoice, TextForm},
};

/// A question to the client, or a value that makes asking needless.
///
/// ```
/// use rejoinder::Ask;
///
/// fn confirm(path: &str, is_empty: bool) -> Ask<bool> {
///     if is_empty { Ask::known(true) } else { Ask::confirm(format!("Delete {path}?")) }
/// }
/// ```
#[must_use = "a question does nothing until it is asked with `Context::ask`"]
#[derive(Clone)]
pub struct Ask<T>(AskKind<T>);

#[derive(Clone)]
enum AskKind<T> {
    Known(T),
    /// What cannot be asked, by its author's mistake.
    Mistaken(&'static str),
    Question {
        question: Question,
        read: ReadAnswer<T>,
        fallback: Option<T>,
        allow_unsolicited: bool,
        /// Whether a type says how to read the answer. What was put together at run time is known to this value alone.
        is_typed: bool,
    },
}

/// How an answer is read: as its type says, as nearly all are, or as this question alone knows.
#[derive(Clone)]
enum ReadAnswer<T> {
    Typed(fn(&RawAnswer) -> Result<Outcome<T>, AnswerError>),
    Own(Arc<OwnRead<T>>),
}

type OwnRead<T> = dyn Fn(&RawAnswer) -> Result<Outcome<T>, AnswerError> + Send + Sync;

impl<T> ReadAnswer<T> {
    fn read(&self, answer: &RawAnswer) -> Result<Outcome<T>, AnswerError> {
        match self {
            Self::Typed(read) => read(answer),
            Self::Own(read) => read(answer),
        }
    }
}

impl<T> Ask<T> {
    /// The value is known: nobody is asked.
    pub fn known(value: T) -> Self {
        Self(AskKind::Known(value))
    }

    /// Also takes an answer that comes with the first request, before it was asked for.
    ///
    /// For clients that know what will be asked. Otherwise an answer counts only for the very words that were asked:
    /// leave it at that wherever the answer is a consent.
    pub fn allow_unsolicited(mut self) -> Self {
        if let AskKind::Question { allow_unsolicited, .. } = &mut self.0 {
            *allow_unsolicited = true;
        }
        self
    }

    /// The value to take where the client cannot be asked; without one, such a client gets an error.
    pub fn fallback(mut self, value: T) -> Self {
        if let AskKind::Question { fallback, .. } = &mut self.0 {
            *fallback = Some(value);
        }
        self
    }

    /// Changes the value, whichever way it is found. What is asked stays the same.
    ///
    /// `.map(Some)` is for a question that need not come up, beside `Ask::known(None)`. The function may run more than once
    /// for one answer, so it must have no effects.
    ///
    /// ```
    /// use rejoinder::Ask;
    /// use rejoinder::form::ConfirmForm;
    ///
    /// fn keep_copy(files: usize) -> Ask<Option<bool>> {
    ///     if files == 0 { Ask::known(None) } else { Ask::user("Keep a copy?").map(|copy: ConfirmForm| Some(copy.yes)) }
    /// }
    /// ```
    pub fn map<U>(self, change: impl Fn(T) -> U + Send + Sync + 'static) -> Ask<U>
    where
        T: 'static,
    {
        Ask(match self.0 {
            AskKind::Known(value) => AskKind::Known(change(value)),
            AskKind::Mistaken(mistake) => AskKind::Mistaken(mistake),
            AskKind::Question { question, read, fallback, allow_unsolicited, is_typed } => {
                let fallback = fallback.map(&change);
                let read =
                    ReadAnswer::Own(Arc::new(move |answer| read.read(answer).map(|outcome| outcome.map(&change))));
                AskKind::Question { question, read, fallback, allow_unsolicited, is_typed }
            }
        })
    }
}

impl<T: Answer> Ask<T> {
    pub(crate) fn question(question: Question) -> Self {
        let read = ReadAnswer::Typed(T::read);
        Self(AskKind::Question { question, read, fallback: None, allow_unsolicited: false, is_typed: true })
    }
}

impl<T> Ask<T> {
    fn mistaken(mistake: &'static str) -> Self {
        Self(AskKind::Mistaken(mistake))
    }

    fn read_with(
        question: Question,
        read: impl Fn(&RawAnswer) -> Result<Outcome<T>, AnswerError> + Send + Sync + 'static,
    ) -> Self {
        let read = ReadAnswer::Own(Arc::new(read));
        Self(AskKind::Question { question, read, fallback: None, allow_unsolicited: false, is_typed: false })
    }

    /// Asks the user to fill in a form that is put together at run time, and reads the answer with this.
    ///
    /// What is wrong with the answer is told to the user, who is asked again. Where the fields are known when the program is
    /// written, a struct that derives `Elicit` and [`Ask::user`] are the better choice. Fields belong in the same order in
    /// every round: another order is another question.
    ///
    /// ```
    /// use rejoinder::{Ask, form::{Field, Form, FormErrors}};
    ///
    /// /// One number for each of the columns that a table happens to have.
    /// fn row(columns: Vec<String>) -> Ask<Vec<f64>> {
    ///     let fields: Vec<Field<f64>> = columns.into_iter().map(Field::new).collect();
    ///     let form = fields.iter().fold(Form::new(), |form, field| form.with(field));
    ///     Ask::dynamic_form("The next row?", form, move |content| {
    ///         let mut errors = FormErrors::default();
    ///         // All of them first, so that everything that is wrong is told at once.
    ///         let row: Vec<Option<f64>> = fields.iter().map(|field| field.read(content, &mut errors)).collect();
    ///         row.into_iter().collect::<Option<_>>().ok_or(errors)
    ///     })
    /// }
    /// # assert!(format!("{:?}", row(vec!["width".into()])).contains("width"));
    /// ```
    pub fn dynamic_form(
        message: impl Into<String>,
        form: Form,
        read: impl Fn(&Map<String, Value>) -> Result<T, FormErrors> + Send + Sync + 'static,
    ) -> Self {
        let question = Question::Form { message: message.into(), form };
        Self::read_with(question, move |answer| {
            read_elicitation(answer, |content| read(content).map_err(|errors| AnswerError(errors.to_string())))
        })
    }
}

impl<T: Elicit> Ask<T> {
    /// Asks the user to fill in the form.
    pub fn user(message: impl Into<String>) -> Self {
        Self::question(Question::Form { message: message.into(), form: T::form() })
    }
}

impl Ask<UrlVisited> {
    /// Sends the user to a page: for what must not pass through the client, such as a password.
    pub fn url(url: impl Into<String>, message: impl Into<String>) -> Self {
        Self::question(Question::Visit { url: url.into(), message: message.into() })
    }
}

impl Ask<Sample> {
    /// Asks the client's model.
    pub fn sample(sampling: Sampling) -> Self {
        Self::question(Question::Sample(sampling))
    }
}

impl Ask<Roots> {
    /// Asks for the client's roots.
    pub fn roots() -> Self {
        Self::question(Question::Roots)
    }
}

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

/// How the value of a question is found.
impl<T> Ask<T> {
    /// The value, if nobody needs to be asked for it.
    pub(crate) fn into_known(self) -> Result<T, Self> {
        match self.0 {
            AskKind::Known(value) => Ok(value),
            question => Err(Self(question)),
        }
    }

    /// Finds the value: known, answered, or asked for.
    pub(crate) async fn settle(self, call: &Call, key: &str) -> Result<Outcome<T>, Halt> {
        let (question, read, fallback, allow_unsolicited, is_typed) = match self.0 {
            AskKind::Known(value) => return Ok(Outcome::Accepted(value)),
            AskKind::Mistaken(mistake) => return Err(Halt::Failed(CallError::mistake(mistake))),
            AskKind::Question { question, read, fallback, allow_unsolicited, is_typed } => {
                (question, read, fallback, allow_unsolicited, is_typed)
            }
        };
        let check = |answer: &RawAnswer| read.read(answer).map(|_| ());
        let check = AnswerCheck { allow_unsolicited, check: &check };
        let read =
            |answer: &RawAnswer| read.read(answer).map_err(|AnswerError(reason)| Halt::Failed(CallError::new(reason)));
        if call.ending().is_some() {
            return Err(Halt::Failed(CallError::round_is_over()));
        }
        if let Some(refused) = question.out_of_reach(call.facts()) {
            return match (call.answered(key, &question, check)?, fallback) {
                (Some(answer), _) => read(&answer),
                (None, Some(value)) => Ok(Outcome::Accepted(value)),
                (None, None) => Err(Halt::Failed(call.cannot_ask(key, &question, is_typed, refused))),
            };
        }
        read(&*call.ask(key, &question, check).await?)
    }

    /// The question under a key, for a round that is made by hand.
    ///
    /// # Errors
    ///
    /// If it has a value: nothing would carry the value to the next round. If it allows an unsolicited answer: such a
    /// function reads answers before it asks. If its form has no type: nothing would check the answer in the next round.
    pub(crate) fn by_hand(self, key: String) -> Result<AskByHand, CallError> {
        match self.0 {
            AskKind::Question { allow_unsolicited: true, .. } => Err(CallError::mistake(format!(
                "`Reply::ask` cannot use `allow_unsolicited` (question `{key}`): ask with a resolver or `Context::ask`"
            ))),
            AskKind::Question { is_typed: false, .. } => Err(CallError::mistake(format!(
                "`Reply::ask` needs a form that has a type (question `{key}`): nothing would check the answer to a dynamic \
                 form in the next round; ask with `Context::ask`, or derive `Elicit`"
            ))),
            AskKind::Question { question, fallback: None, .. } => Ok(AskByHand { key, question }),
            AskKind::Mistaken(mistake) => Err(CallError::mistake(mistake)),
            AskKind::Known(_) | AskKind::Question { .. } => Err(CallError::mistake(format!(
                "`Reply::ask` cannot use `Ask::known` or `fallback` (question `{key}`): ask with a resolver or `Context::ask`"
            ))),
        }
    }
}

/// What a function that makes its rounds by hand leaves to the next round.
#[derive(Debug, Clone, Default)]
pub struct NextRound {
    /// What is asked until then; empty if the call only resumes later.
    pub(crate) questions: Vec<AskByHand>,
    /// The state for the next round, as JSON; `None` keeps the last one.
    pub(crate) state: Option<Box<RawValue>>,
}

/// A question that is asked by hand, and its key. The function that reads the answer says which type it has.
#[derive(Debug, Clone)]
pub(crate) struct AskByHand {
    pub(crate) key: String,
    pub(crate) question: Question,
}

impl<T: fmt::Debug> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            AskKind::Known(value) => f.debug_tuple("Known").field(value).finish(),
            AskKind::Mistaken(mistake) => f.debug_tuple("Mistaken").field(mistake).finish(),
            AskKind::Question { question, fallback, .. } => {
                f.debug_struct("Ask").field("question", question).field("fallback", fallback).finish_non_exhaustive()
            }
        }
    }
}
