//! The load generator.
//!
//! ```text
//! bench-load once  --http 127.0.0.1:PORT --ask call|caller|session|list|rounds|question|stream|task|task-get
//! bench-load http  --http 127.0.0.1:PORT --ask call|caller|session|list|rounds|stream|task|task-get --connections C --seconds S [--warmup S] [--pid PID] [--slow N] [--flood N]
//! bench-load stdio --depth K [--ask call|session|stream] --seconds S [--warmup S] -- COMMAND ARGUMENTS..
//! bench-load ws    --http 127.0.0.1:PORT --depth K --seconds S [--warmup S] [--pid PID]
//! ```
//!
//! `once` prints the last reply, the others one line of JSON. With `--slow` that many calls of `wait` are open
//! meanwhile, on other connections, and with `--flood` that many threads send large requests. With `--ask session` each connection opens a session first.

use std::io::Write;
use std::time::Duration;

use anyhow::{Result, bail};
use rejoinder_bench::flags::Flags;
use rejoinder_bench::load::flood::Flood;
use rejoinder_bench::load::report::{Report, Window};
use rejoinder_bench::load::slow::Slow;
use rejoinder_bench::load::{http, stdio, websocket};
use rejoinder_bench::wire::Ask;

fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let command = match words.iter().position(|word| word == "--") {
        Some(at) => words.split_off(at).split_off(1),
        None => Vec::new(),
    };
    let mut words = words.into_iter();
    let verb = words.next().unwrap_or_default();
    let flags = Flags::parse(words)?;
    match verb.as_str() {
        "once" => {
            let body = http::once(flags.address()?, ask(&flags)?)?;
            Ok(std::io::stdout().write_all(&body)?)
        }
        "http" => {
            let connections = flags.get("connections")?.unwrap_or(1);
            let pid = flags.get("pid")?;
            let window = window(&flags)?;
            let mut slow = Slow::open(flags.address()?, flags.get("slow")?.unwrap_or(0))?;
            let flood = Flood::start(flags.address()?, flags.get("flood")?.unwrap_or(0));
            let report = http::run(flags.address()?, ask(&flags)?, connections, window, pid)?;
            drop(flood);
            slow.check()?;
            print(&report)
        }
        "stdio" => {
            let depth = flags.get("depth")?.unwrap_or(1);
            print(&stdio::run(&command, depth, ask(&flags)?, window(&flags)?)?)
        }
        "ws" => {
            let depth = flags.get("depth")?.unwrap_or(1);
            print(&websocket::run(flags.address()?, depth, window(&flags)?, flags.get("pid")?)?)
        }
        _ => bail!("say `once`, `http`, `stdio` or `ws`"),
    }
}

/// What to ask: `call` unless said otherwise.
fn ask(flags: &Flags) -> Result<Ask> {
    Ask::parse(&flags.get::<String>("ask")?.unwrap_or("call".to_owned()))
}

/// How long to ask it.
fn window(flags: &Flags) -> Result<Window> {
    Ok(Window {
        warmup: Duration::try_from_secs_f64(flags.get("warmup")?.unwrap_or(0.0))?,
        length: Duration::try_from_secs_f64(flags.get("seconds")?.unwrap_or(2.0))?,
    })
}

fn print(report: &Report) -> Result<()> {
    println!("{}", serde_json::to_string(report)?);
    Ok(())
}
