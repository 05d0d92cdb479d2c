//! Standard input and output as asynchronous streams.

use std::io::{self, Read};
#[cfg(unix)]
use std::{
    fs::File,
    os::fd::{AsFd, OwnedFd},
    sync::OnceLock,
};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
#[cfg(unix)]
use tokio::net::{UnixStream, unix::pipe};
#[cfg(unix)]
use tokio_util::either::Either;

pub(super) type BoxRead = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type BoxWrite = Box<dyn AsyncWrite + Send + Unpin>;

/// Pipes and sockets are polled. Anything else (a terminal, a file) goes through threads, which costs a switch for
/// each message.
///
/// An error if there is no file descriptor left.
pub(super) fn open() -> io::Result<(BoxRead, BoxWrite)> {
    #[cfg(unix)]
    let (input, output) = (
        polled(io::stdin(), pipe::Receiver::from_file).map(|input| Box::new(input) as BoxRead),
        take_stdout().map(writer).transpose()?,
    );
    #[cfg(not(unix))]
    let (input, output) = (None, None);
    Ok((input.unwrap_or_else(read_in_thread), output.unwrap_or_else(|| Box::new(tokio::io::stdout()))))
}

/// Writes to the standard output that was taken.
#[cfg(unix)]
fn writer(stdout: &OwnedFd) -> io::Result<BoxWrite> {
    Ok(match polled(stdout, pipe::Sender::from_file) {
        Some(output) => Box::new(output),
        None => Box::new(tokio::fs::File::from_std(stdout.try_clone()?.into())),
    })
}

/// Takes standard output for the protocol: what anything else in this process or its children prints goes to standard error
/// from now on. It stays so when serving ends, because the client reads until the process ends.
#[cfg(unix)]
fn take_stdout() -> Option<&'static OwnedFd> {
    static STDOUT: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let take = || {
        let stdout = io::stdout().as_fd().try_clone_to_owned().ok()?;
        rustix::stdio::dup2_stdout(io::stderr()).ok()?;
        Some(stdout)
    };
    STDOUT.get_or_init(take).as_ref()
}

/// A socket, which is what a client that runs on Node.js gives its children, or a pipe.
#[cfg(unix)]
fn polled<P>(stream: impl AsFd, pipe: impl FnOnce(File) -> io::Result<P>) -> Option<Either<UnixStream, P>> {
    let fd = stream.as_fd().try_clone_to_owned().ok()?;
    let socket = std::os::unix::net::UnixStream::from(fd.try_clone().ok()?);
    // Only a Unix socket has such an address.
    if socket.local_addr().is_err() {
        return pipe(File::from(fd)).ok().map(Either::Right);
    }
    socket.set_nonblocking(true).ok()?;
    UnixStream::from_std(socket).ok().map(Either::Left)
}

/// Reads standard input in a thread of its own. Tokio's is waited for at the end, and a thread that waits for a line
/// from a terminal has no end.
fn read_in_thread() -> BoxRead {
    let (mut sender, receiver) = tokio::io::duplex(64 * 1024);
    let runtime = tokio::runtime::Handle::current();
    let read = move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = io::stdin().read(&mut buffer) {
            if runtime.block_on(sender.write_all(&buffer[..length])).is_err() {
                return;
            }
        }
    };
    std::thread::spawn(read);
    Box::new(receiver)
}
