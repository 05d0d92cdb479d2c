//! What a request says about itself: its client, its caller, its version and its headers.

mod request_info;
mod shared_values;

pub(crate) use request_info::{CallerSource, ClientInfo, ProgressToken, StoredRequest, compact, head_size};
pub use request_info::{Capabilities, Era, Level, RequestInfo};
pub(crate) use shared_values::SharedValues;
