//! The tour as clients that others wrote see it: the Rust SDK's and the Python SDK's, each in both eras, over stdio and
//! over HTTP; and the transports that only one of them has.

mod python_sdk;
mod rust_sdk;
mod seen;
mod tour;
