//! What hostile and clumsy clients do, over real sockets: each gets the documented error, and the server still
//! answers the next one.
//!
//! No test passes or fails by how long something takes; the limits in [`client::within`] only stop one that hangs.

mod bodies;
mod callers;
mod client;
mod crowd;
mod envelope;
mod everywhere;
mod fixture;
mod headers;
mod http;
mod leaving;
mod listen;
#[path = "../logged/mod.rs"]
mod logged;
mod panics;
mod privacy;
mod sessions;
mod sizes;
mod sse;
mod uris;
mod ways;
mod websocket;
