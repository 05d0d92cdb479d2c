//! Sessions over HTTP, misused.
