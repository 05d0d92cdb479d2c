//! How a call goes on over several rounds.
//!
//! So far this room has the [`seal`]: what makes a `requestState`, which travels through the client's hands, as
//! trustworthy as if the server had kept it.

#![cfg_attr(not(test), expect(dead_code, reason = "nothing asks yet, so nothing seals"))]

pub(crate) mod seal;
