//! The load generators: one thread, requests rendered beforehand, replies read only as far as needed.

pub mod flood;
pub mod http;
pub mod report;
pub mod slow;
pub mod stdio;
pub mod websocket;
