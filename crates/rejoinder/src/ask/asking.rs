use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

use super::{Answer, AnswerError, Outcome, Question, RawAnswer, Roots, Sample, Sampling, UrlVisited, answer::elicited};
use crate::form::{Elicit, Form, FormErrors};

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
pub struct Ask<T>(pub(super) Inner<T>);

#[derive(Clone)]
pub(super) enum Inner<T> {
    Known(T),
    /// What cannot be asked, by its author's mistake.
    Mistaken(&'static str),
    Question {
        question: Question,
        read: Read<T>,
        otherwise: Option<T>,
        allow_unsolicited: bool,
        /// Whether a type says how to read the answer. What was put together at run time is known to this value alone.
        is_typed: bool,
    },
}

/// How an answer is read: as its type says, as nearly all are, or as this question alone knows.
#[derive(Clone)]
pub(super) enum Read<T> {
    Typed(fn(&RawAnswer) -> Result<Outcome<T>, AnswerError>),
    Own(Arc<OwnRead<T>>),
}

pub(super) type OwnRead<T> = dyn Fn(&RawAnswer) -> Result<Outcome<T>, AnswerError> + Send + Sync;

impl<T> Read<T> {
    pub(super) fn read(&self, answer: &RawAnswer) -> Result<Outcome<T>, AnswerError> {
        match self {
            Self::Typed(read) => read(answer),
            Self::Own(read) => read(answer),
        }
    }
}

impl<T> Ask<T> {
    /// The value is known: nobody is asked.
    pub fn known(value: T) -> Self {
        Self(Inner::Known(value))
    }

    /// Also takes an answer that comes with the first request, before it was asked for.
    ///
    /// For clients that know what will be asked. Otherwise an answer counts only for the very words that were asked:
    /// leave it at that wherever the answer is a consent.
    pub fn allow_unsolicited(mut self) -> Self {
        if let Inner::Question { allow_unsolicited, .. } = &mut self.0 {
            *allow_unsolicited = true;
        }
        self
    }

    /// The value to take where the client cannot be asked; without one, such a client gets an error.
    pub fn fallback(mut self, value: T) -> Self {
        if let Inner::Question { otherwise, .. } = &mut self.0 {
            *otherwise = Some(value);
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
            Inner::Known(value) => Inner::Known(change(value)),
            Inner::Mistaken(mistake) => Inner::Mistaken(mistake),
            Inner::Question { question, read, otherwise, allow_unsolicited, is_typed } => {
                let otherwise = otherwise.map(&change);
                let read = Read::Own(Arc::new(move |answer| read.read(answer).map(|outcome| outcome.map(&change))));
                Inner::Question { question, read, otherwise, allow_unsolicited, is_typed }
            }
        })
    }
}

impl<T: Answer> Ask<T> {
    pub(crate) fn question(question: Question) -> Self {
        let read = Read::Typed(T::read);
        Self(Inner::Question { question, read, otherwise: None, allow_unsolicited: false, is_typed: true })
    }
}

impl<T> Ask<T> {
    pub(super) fn mistaken(mistake: &'static str) -> Self {
        Self(Inner::Mistaken(mistake))
    }

    pub(super) fn read_with(
        question: Question,
        read: impl Fn(&RawAnswer) -> Result<Outcome<T>, AnswerError> + Send + Sync + 'static,
    ) -> Self {
        let read = Read::Own(Arc::new(read));
        Self(Inner::Question { question, read, otherwise: None, allow_unsolicited: false, is_typed: false })
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
            elicited(answer, |content| read(content).map_err(|errors| AnswerError(errors.to_string())))
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

impl<T> Ask<T> {
    /// The value, if nobody needs to be asked for it.
    pub(crate) fn into_known(self) -> Result<T, Self> {
        match self.0 {
            Inner::Known(value) => Ok(value),
            question => Err(Self(question)),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Known(value) => f.debug_tuple("Known").field(value).finish(),
            Inner::Mistaken(mistake) => f.debug_tuple("Mistaken").field(mistake).finish(),
            Inner::Question { question, otherwise, .. } => {
                f.debug_struct("Ask").field("question", question).field("otherwise", otherwise).finish_non_exhaustive()
            }
        }
    }
}
