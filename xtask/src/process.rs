//! Running other programs.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(15);

/// Runs a command to its end, its output on our own.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    let status = command.status().with_context(|| format!("`{line}` cannot be started"))?;
    ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}

/// Runs a command to its end and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let line = line(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("`{line}` cannot be started"))?;
    ensure!(output.status.success(), "`{line}` failed: {}", output.status);
    Ok(output.stdout)
}

/// Whether a program exists: the command starts and succeeds.
pub(crate) fn exists(command: &mut Command) -> bool {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The command as one would type it, for messages.
fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// A server that was started here and is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts what `command` makes of a free address, and waits until it accepts connections.
    pub(crate) fn start(command: impl FnOnce(SocketAddr) -> Command) -> Result<Self> {
        let address = free_address()?;
        let mut command = command(address);
        let line = line(&command);
        let child = command.stdin(Stdio::null()).spawn().with_context(|| format!("`{line}` cannot be started"))?;
        let mut server = Self { child, address };
        let begin = Instant::now();
        while TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("`{line}` ended before it listened: {status}");
            }
            ensure!(begin.elapsed() < START, "`{line}` does not listen at {address} after {} s", START.as_secs());
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(server)
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Fails when it is no longer running.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("the server ended by itself: {status}"),
            None => Ok(()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A free loopback address.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_is_reported() {
        let error = Server::start(|_| Command::new("true")).unwrap_err();
        assert!(error.to_string().starts_with("`true` ended before"), "{error}");
    }

    #[test]
    fn a_failing_command_is_named() {
        let error = run(Command::new("false").arg("--now")).unwrap_err();
        assert!(error.to_string().starts_with("`false --now` failed"), "{error}");
    }

    #[test]
    fn a_missing_program_does_not_exist() {
        assert!(exists(&mut Command::new("true")));
        assert!(!exists(&mut Command::new("no-such-program-here")));
    }
}
