//! Gates and allow-lists: who sees which tools, prompts and resources.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::unused_async, reason = "tools of real servers wait for something")]
#![expect(unreachable_pub, reason = "nothing is reachable from outside a test")]

mod allow_lists;
mod attacks;
mod changes;
mod evaluation;
mod fixture;
#[path = "../logged/mod.rs"]
mod logged;
mod openmcp;
mod visibility;
#[path = "../protocol/wire.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod wire;
