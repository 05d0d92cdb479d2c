//! The protocol of 2026-07-28, item by item: what a server must do, in the order of the specification's pages.
//!
//! A test's name begins with the number of its item (`c04_..`). Items without a test here:
//!
//! | item | why |
//! |---|---|
//! | C22 to C39 | questions to the user, tested where these are |
//! | C40 | a note about deprecation |
//! | C41 | the half about questions; what an author says by hand is tested |
//!
//! Beside them, one file for each thing a server does that the protocol leaves to it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::unused_async, reason = "tools of real servers wait for something")]
#![expect(unreachable_pub, reason = "nothing is reachable from outside a test")]

mod fixture;
mod wire;

mod caching;
mod cancel_progress_logs;
mod discover;
mod envelope;
mod headers;
mod http_rules;
mod listen;
mod results;
mod schema;
mod stdio;
mod traces;

mod arguments;
mod changes;
mod completion;
mod cors;
mod errors;
mod lists;
mod mounting;
mod prompts;
mod resources;
mod sessions;
mod suggestions;
mod wiring;
