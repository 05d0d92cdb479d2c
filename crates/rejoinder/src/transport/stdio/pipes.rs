//! Standard input and output as asynchronous streams.

use tokio::io::{AsyncRead, AsyncWrite};

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Real pipes are polled; anything else (a terminal, a file, a socket) goes through tokio's helper threads, which
/// cost a thread switch for each message.
pub(super) fn open() -> (Input, Output) {
    (
        polled_input().unwrap_or_else(|| Box::new(tokio::io::stdin())),
        polled_output().unwrap_or_else(|| Box::new(tokio::io::stdout())),
    )
}

#[cfg(unix)]
fn polled_input() -> Option<Input> {
    use std::{fs::File, os::fd::AsFd};
    let file = File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    Some(Box::new(tokio::net::unix::pipe::Receiver::from_file(file).ok()?))
}

#[cfg(unix)]
fn polled_output() -> Option<Output> {
    use std::{fs::File, os::fd::AsFd};
    let file = File::from(std::io::stdout().as_fd().try_clone_to_owned().ok()?);
    Some(Box::new(tokio::net::unix::pipe::Sender::from_file(file).ok()?))
}

#[cfg(not(unix))]
fn polled_input() -> Option<Input> {
    None
}

#[cfg(not(unix))]
fn polled_output() -> Option<Output> {
    None
}
