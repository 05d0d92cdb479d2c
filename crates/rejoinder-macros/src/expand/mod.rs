//! What the macros write.

mod free;
mod generics;
mod hidden;
mod impl_block;
mod parameter;
mod resolve;
mod resolver;
mod twin;

#[cfg(test)]
mod snapshots;

pub(crate) use free::function;
pub(crate) use impl_block::impl_block;
pub(crate) use resolver::resolver;
