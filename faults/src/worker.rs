//! A worker: a process that serves the program, and runs its tasks.

use std::{net::Ipv4Addr, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rejoinder::{Server, server::Limits, tasks::TaskClock};
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, signal::unix::SignalKind};

use crate::{
    keeper::Keeper,
    program::{self, Edition},
    world::World,
};

/// How a process is set up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) keeper: Keeper,
    pub(crate) folder: PathBuf,
    pub(crate) edition: Edition,
    /// One of so many acknowledgements of the store is lost.
    pub(crate) lossy: Option<u32>,
}

/// How long a process that stops waits for its runs.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// What the driver says to a process, one in a line.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Moves the clock by so many seconds.
    Advance(u64),
    /// No file may be written beyond so many bytes, or as far as there is room.
    Room(Option<u64>),
}

/// Serves until it is stopped. It says its port on standard output.
pub(crate) async fn run(setup: &str) -> Result<()> {
    let setup: Setup = serde_json::from_str(setup).context("the setup of a worker")?;
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    let (tasks, clock) = setup.keeper.open(setup.lossy);
    // So that a write that does not fit fails, instead of ending the process.
    let _writes_fail = tokio::signal::unix::signal(SignalKind::from_raw(nix::libc::SIGXFSZ))?;
    let world = World::open(&setup.folder)?;
    let server = Server::new("faults", "1.0.0")
        .provide(world)
        .provide(setup.edition)
        .tools(program::tools())
        .tasks(tasks)
        .limits(Limits::new().tasks(50_000))
        .grace_period(GRACE)
        .build()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    std::thread::spawn(move || obey(&clock));
    Ok(server.serve_http(listener).await?)
}

/// Does what the driver says. Without a driver the process ends.
fn obey(clock: &TaskClock) {
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(Order::Advance(seconds)) => clock.advance(Duration::from_secs(seconds)),
            Ok(Order::Room(bytes)) => {
                let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).expect("it has a limit");
                setrlimit(Resource::RLIMIT_FSIZE, bytes.unwrap_or(most), most).expect("below the hard limit");
            }
            Err(error) => eprintln!("not an order: {error}: {line}"),
        }
        println!("done");
    }
    std::process::exit(3);
}
