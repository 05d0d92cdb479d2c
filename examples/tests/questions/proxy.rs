//! A minimal load balancer: a connection for each request, and each call goes to the next server.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Serves until it is dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    turns: Arc<Mutex<Turns>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Turns {
    next: usize,
    served: Vec<usize>,
}

impl Proxy {
    pub(crate) async fn start(servers: impl Into<Vec<SocketAddr>>) -> Self {
        let (servers, turns) = (servers.into(), Arc::<Mutex<Turns>>::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::clone(&turns);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A request that breaks is seen by the client, whose test then fails.
                let _ = relay(client, &servers, &shared).await;
            }
        });
        Self { address, turns, task }
    }

    /// Which server served each `tools/call`, by its place in the list.
    pub(crate) fn served(&self) -> Vec<usize> {
        lock(&self.turns).served.clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(turns: &Mutex<Turns>) -> MutexGuard<'_, Turns> {
    turns.lock().expect("no thread panicked")
}

/// Hands on one request and its reply.
async fn relay(client: TcpStream, servers: &[SocketAddr], turns: &Mutex<Turns>) -> io::Result<()> {
    let mut client = BufReader::new(client);
    let (mut head, mut length, mut is_call) = (String::new(), 0, false);
    loop {
        let mut line = String::new();
        client.read_line(&mut line).await?;
        let lower = line.trim_end().to_ascii_lowercase();
        match lower.split_once(": ") {
            _ if lower.is_empty() => break,
            Some(("connection", _)) => continue,
            Some(("content-length", value)) => length = value.parse().map_err(io::Error::other)?,
            Some(("mcp-method", "tools/call")) => is_call = true,
            _ => {}
        }
        head += &line;
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body).await?;
    let mut server = connect(servers, turns, is_call).await?;
    server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).await?;
    server.write_all(&body).await?;
    tokio::io::copy(&mut server, client.get_mut()).await?;
    client.get_mut().shutdown().await
}

/// Connects to the next server that is there. Only calls take turns.
async fn connect(servers: &[SocketAddr], turns: &Mutex<Turns>, is_call: bool) -> io::Result<TcpStream> {
    let first = lock(turns).next;
    for number in (first..first + servers.len()).map(|turn| turn % servers.len()) {
        let Ok(server) = TcpStream::connect(servers[number]).await else { continue };
        if is_call {
            let mut turns = lock(turns);
            turns.next = number + 1;
            turns.served.push(number);
        }
        return Ok(server);
    }
    Err(io::ErrorKind::NotConnected.into())
}
