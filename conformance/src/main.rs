//! The fixture server of the official MCP conformance suite.

fn main() {}
