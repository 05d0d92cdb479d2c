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

pub use answer::{Answer, BadAnswer, Visited};
pub use asking::Ask;
pub use carrier::{Asked, Carrier, Fits, Parked};
pub use digest::Digest;
pub use from_outcome::{FromOutcome, Keeps, Value};
pub use next_round::{NextRound, Posed};
pub use outcome::Outcome;
pub use question::Question;
pub(crate) use record::record;
pub use returned::{NotAsk, NotForm, NotResult, NotResultOfAsk, Returned, Shape, shape};
pub use sent::Sent;
pub use wire::{Root, Roots, Sample, Sampling};
