//! What a call costs inside the process: resolvers, the seal, and the state that a client carries.
//!
//! Timed in loops of our own. Differences between tools are what is wanted, and those need the tools to take turns
//! within one process, which a bench harness that measures one function after the other does not do.

pub mod nodes;
pub mod state;
pub mod turns;
