//! Gates and allow-lists: who sees which tools, prompts and resources.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::unused_async, reason = "tools of real servers wait for something")]
#![expect(unreachable_pub, reason = "nothing is reachable from outside a test")]

mod allow_lists;
mod attacks;
mod changes;
mod evaluation;
mod fixture;
mod openmcp;
mod visibility;
