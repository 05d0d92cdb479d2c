//! The attribute macros of rejoinder. Use them through the `rejoinder` crate.
