//! What a function may ask of the client: a form to fill in, a page to visit, a sample of its model, its roots.

mod answer;
mod asking;
mod carrier;
mod digest;
mod from_outcome;
mod next_round;
mod outcome;
mod question;
mod reach;
mod record;
mod returned;
mod sent;
mod settle;
mod shorthand;
mod wire;

pub use answer::{Answer, AnswerError, UrlVisited};
pub use asking::Ask;
pub(crate) use carrier::{Asked, Carrier, Fits, Parked};
pub(crate) use digest::Digest;
#[doc(hidden)]
pub use from_outcome::{FromOutcome, Keeps, Value};
pub(crate) use next_round::{NextRound, Posed};
pub use outcome::Outcome;
pub(crate) use question::Question;
pub(crate) use record::record;
#[doc(hidden)]
pub use returned::{NotAsk, NotForm, NotResult, NotResultOfAsk, Returned, Shape, shape};
pub use sent::RawAnswer;
pub use wire::{Root, Roots, Sample, Sampling};
