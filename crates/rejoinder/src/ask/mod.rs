//! What a function may ask the client: a form for the user, a page to visit, a sample of its model, its roots.

mod answer;
#[expect(clippy::module_inception, reason = "`Ask` is what this module is about")]
mod ask;
mod outcome;
mod question;

pub use crate::model::{Root, Roots, Sample, Sampling};
pub use answer::{Answer, AnswerError, UrlVisited};
pub use ask::Ask;
pub(crate) use ask::{AcceptAnswer, AskByHand, AskKind, NextRound, Unanswered};
pub use outcome::Outcome;
pub(crate) use question::{Question, QuestionDigest};
