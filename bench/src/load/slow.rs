//! Calls that stay open while others are measured.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result, bail};

use crate::wire::Ask;

/// Slow calls, each on its own connection.
#[derive(Debug)]
pub struct Slow(Vec<TcpStream>);

impl Slow {
    /// Starts this many calls.
    ///
    /// # Errors
    ///
    /// When a connection cannot be opened.
    pub fn open(address: SocketAddr, calls: usize) -> Result<Self> {
        let request = Ask::Wait.http(&address.to_string());
        let one = |number| -> Result<TcpStream> {
            let opened = TcpStream::connect(address).and_then(|mut stream| {
                stream.write_all(&request)?;
                stream.set_nonblocking(true)?;
                Ok(stream)
            });
            opened.with_context(|| {
                format!("slow call {number} of {calls}: both processes may need more open files, `ulimit -n 4096`")
            })
        };
        (1..=calls).map(one).collect::<Result<_>>().map(Self)
    }

    /// Fails unless every call is still open.
    ///
    /// # Errors
    ///
    /// When one was answered or closed.
    pub fn check(&mut self) -> Result<()> {
        for stream in &mut self.0 {
            let mut said = [0; 1024];
            match stream.read(&mut said) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Ok(0) => bail!("the server closed the connection of a slow call"),
                Ok(got) => bail!("a slow call was answered: {}", String::from_utf8_lossy(&said[..got])),
                Err(error) => return Err(error).context("the connection of a slow call broke"),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_answered_call_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut slow = Slow::open(listener.local_addr().unwrap(), 2).unwrap();
        let (mut first, _) = listener.accept().unwrap();
        let (second, _) = listener.accept().unwrap();
        assert!(slow.check().is_ok());
        first.write_all(b"HTTP/1.1 404").unwrap();
        // It takes a moment to arrive.
        let error = (0..10_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            slow.check().err()
        });
        assert_eq!(error.expect("it arrives").to_string(), "a slow call was answered: HTTP/1.1 404");
        drop(second);
    }
}
