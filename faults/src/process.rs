//! A worker process, which the driver starts and does things to.

use std::{
    fs::OpenOptions,
    net::{Ipv4Addr, SocketAddr},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::worker::{Order, Setup};

/// How long a process may take to start or to stop.
const LONGEST: Duration = Duration::from_secs(60);

/// A process. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) address: SocketAddr,
    child: Child,
    orders: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts this program as a worker. It listens when this returns.
    pub(crate) async fn start(setup: &Setup) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(setup.folder.join("workers.log"))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker").arg(serde_json::to_string(setup)?).kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn()?;
        let (orders, said) = child.stdin.take().zip(child.stdout.take()).context("they are piped")?;
        let mut said = BufReader::new(said).lines();
        let port = timeout(LONGEST, said.next_line()).await.context("a worker does not start")??;
        let Some(port) = port else { bail!("a worker ends at its start: {}", child.wait().await?) };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
        Ok(Self { id: child.id().context("it runs")?, address, child, orders, said })
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        // Its id is its own until it has been waited for.
        let id = self.child.id().context("the process has ended")?;
        kill(Pid::from_raw(id.try_into()?), signal).with_context(|| format!("sending {signal}"))
    }

    /// Kills it, and waits until it is gone.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await.context("killing a worker")
    }

    pub(crate) fn freeze(&self) -> Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    pub(crate) fn thaw(&self) -> Result<()> {
        self.signal(Signal::SIGCONT)
    }

    /// Tells it to stop.
    pub(crate) fn stop(&self) -> Result<()> {
        self.signal(Signal::SIGTERM)
    }

    /// Waits until it ends by itself.
    pub(crate) async fn ended(&mut self) -> Result<ExitStatus> {
        timeout(LONGEST, self.child.wait()).await.context("a worker does not end")?.context("waiting for a worker")
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Tells it something, and waits until that is done.
    pub(crate) async fn order(&mut self, order: Order) -> Result<()> {
        self.orders.write_all(format!("{}\n", serde_json::to_string(&order)?).as_bytes()).await?;
        timeout(LONGEST, self.said.next_line()).await.context("a worker does not obey")??.context("it has ended")?;
        Ok(())
    }
}
