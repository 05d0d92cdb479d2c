//! What the macros write.

mod beside;
mod free;
mod generics;
mod graph;
mod hidden;
mod impl_block;
mod meant;
mod named;
mod parameter;
mod replying;
mod resolve;
mod resolver;
mod returned;
mod spans;
mod twin;

#[cfg(test)]
mod snapshots;

pub(crate) use free::function;
pub(crate) use impl_block::impl_block;
pub(crate) use resolver::resolver;
