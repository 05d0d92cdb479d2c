//! Bytes in, bytes out.

pub(crate) mod session;
