//! Standard input and output as asynchronous streams.

use std::io::Read;
#[cfg(unix)]
use std::{
    fs::File,
    os::fd::{AsFd, OwnedFd},
};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

pub(super) type BoxRead = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type BoxWrite = Box<dyn AsyncWrite + Send + Unpin>;

/// Pipes and sockets are polled. Anything else (a terminal, a file) goes through threads, which costs a switch for
/// each message.
pub(super) fn open() -> (BoxRead, BoxWrite) {
    (polled_input().unwrap_or_else(read_in_thread), polled_output().unwrap_or_else(|| Box::new(tokio::io::stdout())))
}

/// Reads standard input in a thread of its own. Tokio's is waited for at the end, and a thread that waits for a line
/// from a terminal has no end.
fn read_in_thread() -> BoxRead {
    let (mut sender, receiver) = tokio::io::duplex(64 * 1024);
    let runtime = tokio::runtime::Handle::current();
    let read = move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = std::io::stdin().read(&mut buffer) {
            if runtime.block_on(sender.write_all(&buffer[..length])).is_err() {
                return;
            }
        }
    };
    std::thread::spawn(read);
    Box::new(receiver)
}

#[cfg(unix)]
fn polled_input() -> Option<BoxRead> {
    use tokio::net::unix::pipe::Receiver;
    let fd = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    socket(&fd).map(|socket| Box::new(socket) as BoxRead).or_else(|| {
        let pipe = Receiver::from_file(File::from(fd)).ok()?;
        Some(Box::new(pipe))
    })
}

#[cfg(unix)]
fn polled_output() -> Option<BoxWrite> {
    use tokio::net::unix::pipe::Sender;
    let fd = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    socket(&fd).map(|socket| Box::new(socket) as BoxWrite).or_else(|| {
        let pipe = Sender::from_file(File::from(fd)).ok()?;
        Some(Box::new(pipe))
    })
}

/// What a client that runs on Node.js gives its children instead of pipes.
#[cfg(unix)]
fn socket(fd: &OwnedFd) -> Option<tokio::net::UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd.try_clone().ok()?);
    // Only a Unix socket has such an address.
    socket.local_addr().ok()?;
    socket.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(socket).ok()
}

#[cfg(not(unix))]
fn polled_input() -> Option<BoxRead> {
    None
}

#[cfg(not(unix))]
fn polled_output() -> Option<BoxWrite> {
    None
}
