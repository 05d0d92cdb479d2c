//! Hostile requests that are sent while others are measured.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::wire::post;

/// Threads that send large requests, one after the other, until this is dropped.
#[derive(Debug)]
pub struct Flood {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    /// Starts this many threads. Each of their calls of `add` has 4 MB of small objects as an argument.
    pub fn start(address: SocketAddr, threads: usize) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let request: Arc<[u8]> = request(address).into();
        let flood = |_| {
            let (is_over, request) = (Arc::clone(&is_over), Arc::clone(&request));
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    // Whether it is refused does not matter.
                    let _ = TcpStream::connect(address).and_then(|mut stream| {
                        stream.write_all(&request)?;
                        stream.read_to_end(&mut Vec::new())
                    });
                }
            })
        };
        let threads = (0..threads).map(flood).collect();
        Self { is_over, threads }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn request(address: SocketAddr) -> Vec<u8> {
    let objects = r#"{"":0},"#.repeat(590_000);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"a":[{objects}0],"b":1}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let headers =
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\nConnection: close\r\n";
    post(&address.to_string(), headers, &body)
}
