//! A server as its clients see it: the protocol, who may call, and what each sees.

mod auth;
mod callers;
mod gates;
mod graph;
mod lifecycle;
#[path = "../logged/mod.rs"]
mod logged;
mod matrix;
mod protocol;
#[path = "../providers/mod.rs"]
mod providers;
