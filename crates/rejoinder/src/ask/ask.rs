//! What a function asks its client.

use std::{
    collections::HashMap,
    fmt,
    future::ready,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, value::RawValue};

use super::{Answer, AnswerError, Outcome, Question, Roots, Sample, Sampling, UrlVisited, answer::read_elicitation};
use crate::{
    error::CallError,
    form::{ConfirmForm, Elicit, Field, Form, FormErrors, IntoChoice, TextForm},
};

/// A question to the client, or a value that is already known.
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
pub struct Ask<T>(pub(crate) AskKind<T>);

#[derive(Clone)]
pub(crate) enum AskKind<T> {
    Known(T),
    /// A question that cannot be asked, because of a mistake of its author.
    Mistaken(&'static str),
    /// In a box, because most values are known.
    Question(Box<Unanswered<T>>),
}

/// A question, and what becomes of its answer.
#[derive(Clone)]
pub(crate) struct Unanswered<T> {
    pub(crate) question: Question,
    pub(crate) read: ReadAnswer<T>,
    pub(crate) fallback: Option<T>,
    pub(crate) allow_unsolicited: bool,
    pub(crate) pinned_to: Option<String>,
    pub(crate) accept: Option<Arc<AcceptAnswer>>,
    /// Whether the answer has a type that reads it. Only this value can read the answer to a dynamic form.
    pub(crate) is_typed: bool,
}

/// Reads an answer.
pub(crate) type ReadAnswer<T> = Arc<dyn Fn(&Value) -> Result<Outcome<T>, AnswerError> + Send + Sync>;

/// Says whether an answer is accepted.
pub(crate) type AcceptAnswer = dyn Fn(&Value) -> BoxFuture<'static, Result<(), AnswerError>> + Send + Sync;

/// What `.await` on a question says. It is a trait of another type, because the compiler would show the text of `Future`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a question is asked with a key: `ctx.ask(\"key\", question).await?`, or by a parameter, `#[resolve(function)]`",
    label = "a question is not a future"
)]
pub trait AsksItself<T> {
    fn answered() -> Poll<Result<T, CallError>>;
}

#[doc(hidden)]
impl<T> Future for Ask<T>
where
    Outcome<T>: AsksItself<T>,
{
    type Output = Result<T, CallError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Outcome::<T>::answered()
    }
}

impl<T> Ask<T> {
    /// A value that is known, so that nothing is asked.
    pub fn known(value: T) -> Self {
        Self(AskKind::Known(value))
    }

    /// Also accepts an answer that comes with the first request, before the question was asked.
    ///
    /// This is for clients that know what will be asked. Do not use it where the answer is a consent: without it, an answer
    /// counts only if exactly this question was asked.
    pub fn allow_unsolicited(self) -> Self {
        self.asking(|asked| asked.allow_unsolicited = true)
    }

    /// Binds the answer to this text instead of to the exact message, so the message may change between rounds.
    ///
    /// By default an answer counts only for the exact question that was asked, and a question whose message changes is
    /// asked again, a few times. Use this if the message shows live data, such as what is left in stock. Everything that
    /// the user agrees to belongs in `text`. The answer is always bound to the fields of a form and to the URL of a
    /// page.
    ///
    /// ```
    /// use rejoinder::Ask;
    ///
    /// fn order(item: &str, price: u32, left: u32) -> Ask<bool> {
    ///     Ask::confirm(format!("Order {item} for {price}? ({left} left)")).pinned_to(format!("{item} for {price}"))
    /// }
    /// ```
    pub fn pinned_to(self, text: impl Into<String>) -> Self {
        self.asking(|asked| asked.pinned_to = Some(text.into()))
    }

    /// The value to use if the client cannot be asked; without one, such a client gets an error.
    ///
    /// If a step ([`Context::once`](crate::Context::once)) follows, the question is not asked in later rounds of the call
    /// either. The value itself is not recorded: compute it from the arguments or in a step.
    pub fn fallback(self, value: T) -> Self {
        self.asking(|asked| asked.fallback = Some(value))
    }

    /// Accepts an answer only if it passes this check; otherwise the user sees the reason and is asked again, as after any
    /// invalid answer.
    ///
    /// It is for rules that a form cannot express, such as those between two fields. The check runs once for an answer, when
    /// the answer is first used, and not for a known value or a fallback.
    ///
    /// ```
    /// use rejoinder::{Ask, Elicit};
    ///
    /// #[derive(Elicit)]
    /// struct Stay { first_night: u32, last_night: u32 }
    ///
    /// fn stay() -> Ask<Stay> {
    ///     Ask::user("When?").check(|stay: &Stay| {
    ///         if stay.last_night < stay.first_night { Err("The last night is before the first.") } else { Ok(()) }
    ///     })
    /// }
    /// ```
    pub fn check<E>(self, check: impl Fn(&T) -> Result<(), E> + Send + Sync + 'static) -> Self
    where
        T: 'static,
        E: Into<AnswerError> + Send + 'static,
    {
        self.check_async(move |value| ready(check(value)))
    }

    /// [`Ask::check`] with a service: the check returns a future.
    ///
    /// ```
    /// use rejoinder::{Ask, Dep};
    /// # struct Accounts;
    /// # impl Accounts { async fn has(&self, name: &str) -> bool { name.is_empty() } }
    ///
    /// fn new_name(accounts: Dep<Accounts>) -> Ask<String> {
    ///     Ask::text("Which name?").check_async(move |name| {
    ///         let (accounts, name) = (accounts.clone(), name.clone());
    ///         async move { if accounts.has(&name).await { Err(format!("`{name}` is taken.")) } else { Ok(()) } }
    ///     })
    /// }
    /// ```
    pub fn check_async<E, F>(self, check: impl Fn(&T) -> F + Send + Sync + 'static) -> Self
    where
        T: 'static,
        E: Into<AnswerError>,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        self.asking(|asked| {
            let (read, before) = (Arc::clone(&asked.read), asked.accept.take());
            asked.accept = Some(Arc::new(move |answer| {
                let before = before.as_ref().map(|before| before(answer));
                // A decline is not checked.
                let check = read(answer).ok().and_then(Outcome::accepted).map(|value| check(&value));
                Box::pin(async move {
                    if let Some(before) = before {
                        before.await?;
                    }
                    match check {
                        Some(check) => check.await.map_err(Into::into),
                        None => Ok(()),
                    }
                })
            }));
        })
    }

    /// Changes the value, whether it is known, answered or a fallback. The question stays the same.
    ///
    /// Use `.map(Some)` for a question that is not always asked, together with `Ask::known(None)`. The function may run more
    /// than once for one answer, so it must have no side effects.
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
            AskKind::Question(asked) => {
                let Unanswered { question, read, fallback, allow_unsolicited, pinned_to, accept, is_typed } = *asked;
                let fallback = fallback.map(&change);
                let read: ReadAnswer<U> = Arc::new(move |answer| read(answer).map(|outcome| outcome.map(&change)));
                let asked = Unanswered { question, read, fallback, allow_unsolicited, pinned_to, accept, is_typed };
                AskKind::Question(Box::new(asked))
            }
        })
    }
}

impl<T: Answer> Ask<T> {
    pub(crate) fn question(question: Question) -> Self {
        Ask::new(question, Arc::new(T::read), true)
    }
}

impl<T> Ask<T> {
    /// Changes the question, if it is one.
    fn asking(mut self, change: impl FnOnce(&mut Unanswered<T>)) -> Self {
        if let AskKind::Question(asked) = &mut self.0 {
            change(asked);
        }
        self
    }

    fn new(question: Question, read: ReadAnswer<T>, is_typed: bool) -> Self {
        let (fallback, allow_unsolicited, pinned_to, accept) = Default::default();
        let asked = Unanswered { question, read, fallback, allow_unsolicited, pinned_to, accept, is_typed };
        Self(AskKind::Question(Box::new(asked)))
    }

    /// Asks the user to fill in a form that is built at run time; `read` reads the answer.
    ///
    /// If `read` returns errors, the user sees them and is asked again. If the fields are known at compile time, use
    /// [`Ask::user`] with a struct that derives `Elicit`. The fields must have the same order in every round: a form with
    /// another order is another question.
    ///
    /// ```
    /// use rejoinder::{Ask, form::{Field, Form, FormErrors}};
    ///
    /// /// One number for each column of a table.
    /// fn row(columns: Vec<String>) -> Ask<Vec<f64>> {
    ///     let fields: Vec<Field<f64>> = columns.into_iter().map(Field::new).collect();
    ///     let form = fields.iter().fold(Form::new(), |form, field| form.with(field));
    ///     Ask::dynamic_form("The next row?", form, move |content| {
    ///         let mut errors = FormErrors::default();
    ///         // All of them first, to report all errors at once.
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
        let read = move |answer: &Value| read_elicitation(answer, |content| Ok(read(content)?));
        Self::new(question, Arc::new(read), false)
    }
}

impl<T: Elicit> Ask<T> {
    /// Asks the user to fill in the form.
    pub fn user(message: impl Into<String>) -> Self {
        Self::question(Question::Form { message: message.into(), form: T::form() })
    }

    /// Fills in the form before the user sees it. A field that the client leaves out keeps this value.
    ///
    /// The values are part of the question: other values are another question.
    ///
    /// ```
    /// use rejoinder::{Ask, Elicit};
    ///
    /// #[derive(Elicit)]
    /// struct Address { street: String, city: String }
    ///
    /// fn address(last: Address) -> Ask<Address> {
    ///     Ask::user("Where to?").prefill(last)
    /// }
    /// ```
    pub fn prefill(self, value: T) -> Self {
        self.asking(|asked| {
            if let Question::Form { form, .. } = &mut asked.question {
                let (content, read) = (value.write(), Arc::clone(&asked.read));
                *form = form.clone().prefilled(&content);
                asked.read = Arc::new(move |answer| read(&completed(answer, &content)));
            }
        })
    }
}

impl Ask<UrlVisited> {
    /// Sends the user to a web page. Use it for data that must not pass through the client, such as a password.
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
    /// Asks the user a yes-or-no question. The form has one field, `yes`: see [`ConfirmForm`].
    pub fn confirm(message: impl Into<String>) -> Self {
        Ask::user(message).map(|ConfirmForm { yes }| yes)
    }
}

impl Ask<String> {
    /// Asks the user for a text. The form has one field, `text`: see [`TextForm`].
    pub fn text(message: impl Into<String>) -> Self {
        Ask::user(message).map(|TextForm { text }| text)
    }

    /// Asks the user to choose one of a list of strings, or of pairs of a value and the title that the user sees.
    ///
    /// The form has one field, `choice`. The list must have the same order in every round, because another order is another
    /// question; a `HashSet` has no stable order. If the list is known at compile time, use an enum that derives
    /// `ElicitEnum`. An empty list ends the call with an error.
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
        let mut choices = choices.into_iter().peekable();
        if choices.peek().is_none() {
            return Self(AskKind::Mistaken(NOTHING_TO_CHOOSE));
        }
        let choice = Field::<String>::new("choice").one_of(choices);
        Self::dynamic_form(message, Form::new().with(&choice), move |content| choice.read_alone(content))
    }
}

impl<T: Clone + Send + Sync + 'static> Ask<T> {
    /// Asks the user to choose one of these items; `describe` says how an item is shown, as in [`Ask::choice`].
    ///
    /// ```
    /// use rejoinder::Ask;
    ///
    /// #[derive(Clone)]
    /// struct Order { id: u32, item: String }
    ///
    /// fn order(open: Vec<Order>) -> Ask<Order> {
    ///     Ask::choice_of("Which order?", open, |order| (order.id.to_string(), order.item.clone()))
    /// }
    /// ```
    pub fn choice_of<C: IntoChoice>(
        message: impl Into<String>,
        items: impl IntoIterator<Item = T>,
        describe: impl Fn(&T) -> C,
    ) -> Self {
        let field = |choices| Field::<String>::new("choice").one_of(choices);
        choosing(message, items, describe, field, |items, value| items[&value].clone())
    }
}

impl<T: Clone + Send + Sync + 'static> Ask<Vec<T>> {
    /// Asks the user to choose any number of these items; `describe` says how an item is shown, as in [`Ask::choice`].
    ///
    /// The form has one field, `choices`. Use [`Ask::check`] to limit the number.
    ///
    /// ```
    /// use rejoinder::Ask;
    ///
    /// fn reviewers(team: Vec<String>) -> Ask<Vec<String>> {
    ///     Ask::choices_of("Who reviews?", team, String::clone)
    ///         .check(|chosen: &Vec<String>| if chosen.is_empty() { Err("Choose at least one.") } else { Ok(()) })
    /// }
    /// ```
    pub fn choices_of<C: IntoChoice>(
        message: impl Into<String>,
        items: impl IntoIterator<Item = T>,
        describe: impl Fn(&T) -> C,
    ) -> Self {
        let chosen =
            |items: &HashMap<String, T>, values: Vec<String>| values.iter().map(|value| items[value].clone()).collect();
        choosing(message, items, describe, |choices| Field::any_of("choices", choices), chosen)
    }
}

/// An accepted form, with these values for the fields that it leaves out.
fn completed(answer: &Value, content: &Map<String, Value>) -> Value {
    let mut answer = answer.clone();
    if answer["action"] == "accept" && (answer["content"].is_null() || answer["content"].is_object()) {
        let mut completed = content.clone();
        completed.extend(answer["content"].as_object().cloned().unwrap_or_default());
        answer["content"] = completed.into();
    }
    answer
}

const NOTHING_TO_CHOOSE: &str = "a choice needs something to choose, and the list is empty";

/// Asks to choose from these items with a form of one field, and finds those that were chosen.
fn choosing<T: Send + Sync + 'static, C: IntoChoice, F: 'static, U>(
    message: impl Into<String>,
    items: impl IntoIterator<Item = T>,
    describe: impl Fn(&T) -> C,
    field: impl FnOnce(Vec<C>) -> Field<F>,
    chosen: impl Fn(&HashMap<String, T>, F) -> U + Send + Sync + 'static,
) -> Ask<U> {
    let (mut by_value, mut choices) = (HashMap::new(), Vec::new());
    for item in items {
        choices.push(describe(&item));
        let (value, _) = describe(&item).into_choice();
        if by_value.insert(value, item).is_some() {
            return Ask(AskKind::Mistaken("two items of a choice have the same value: give each its own"));
        }
    }
    if choices.is_empty() {
        return Ask(AskKind::Mistaken(NOTHING_TO_CHOOSE));
    }
    let field = field(choices);
    let form = Form::new().with(&field);
    Ask::dynamic_form(message, form, move |content| Ok(chosen(&by_value, field.read_alone(content)?)))
}

/// What a unit test of a function that asks can see.
impl<T> Ask<T> {
    /// The value, if it is known; `None` if the client is asked.
    ///
    /// ```
    /// use rejoinder::Ask;
    ///
    /// fn confirm(path: &str, is_empty: bool) -> Ask<bool> {
    ///     if is_empty { Ask::known(true) } else { Ask::confirm(format!("Delete {path}?")) }
    /// }
    ///
    /// assert_eq!(confirm("/tmp", true).as_known(), Some(&true));
    /// assert_eq!(confirm("/home", false).as_known(), None);
    /// assert_eq!(confirm("/home", false).message(), Some("Delete /home?"));
    /// ```
    pub fn as_known(&self) -> Option<&T> {
        match &self.0 {
            AskKind::Known(value) => Some(value),
            AskKind::Mistaken(_) | AskKind::Question(_) => None,
        }
    }

    /// The message that the user sees, if the user is asked.
    pub fn message(&self) -> Option<&str> {
        match &self.0 {
            AskKind::Question(asked) => asked.question.message(),
            AskKind::Known(_) | AskKind::Mistaken(_) => None,
        }
    }
}

/// How the value of a question is found.
impl<T> Ask<T> {
    /// The value, if it is known.
    pub(crate) fn into_known(self) -> Result<T, Self> {
        match self.0 {
            AskKind::Known(value) => Ok(value),
            question => Err(Self(question)),
        }
    }

    /// The question under a key, for a round that is made by hand.
    ///
    /// # Errors
    ///
    /// If it has a value: nothing would carry the value to the next round. If it allows an unsolicited answer: such a
    /// function reads answers before it asks. If its form has no type: nothing would check the answer in the next round.
    pub(crate) fn by_hand(self, key: String) -> Result<AskByHand, CallError> {
        let asked = match self.0 {
            AskKind::Mistaken(mistake) => return Err(CallError::mistake(mistake)),
            AskKind::Known(_) => None,
            AskKind::Question(asked) => Some(*asked),
        };
        let mistake = match asked {
            Some(Unanswered { allow_unsolicited: true, .. }) => {
                "cannot use `allow_unsolicited`: ask with a resolver or `Context::ask`"
            }
            Some(Unanswered { accept: Some(_), .. }) => {
                "cannot use `check`: check what `Rounds::answer` returns, or ask with `Context::ask`"
            }
            Some(Unanswered { is_typed: false, .. }) => {
                "needs a form that has a type, because nothing would check the answer to a dynamic form in the next round: \
                 ask with `Context::ask`, or derive `Elicit`"
            }
            Some(Unanswered { question, fallback: None, .. }) => return Ok(AskByHand { key, question }),
            _ => "cannot use `Ask::known` or `fallback`: ask with a resolver or `Context::ask`",
        };
        Err(CallError::mistake(format!("`Reply::ask` (question `{key}`) {mistake}")))
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
            AskKind::Question(asked) => f
                .debug_struct("Ask")
                .field("question", &asked.question)
                .field("fallback", &asked.fallback)
                .finish_non_exhaustive(),
        }
    }
}
