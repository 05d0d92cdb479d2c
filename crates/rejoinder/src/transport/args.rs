//! The command line of [`Server::serve_from_args`], and its logs.

use std::{
    io::{IsTerminal, Write},
    net::{Ipv4Addr, SocketAddr},
};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use futures_util::future::BoxFuture;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::{Error, http::listen_address, shutdown::exit_after};
use crate::{
    model::{meta_key, version::STATELESS},
    server::{FilterRule, Server, http},
};

/// An MCP server.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(super) struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    pub(super) serve: ServeArgs,
}

/// The flags of [`Server::serve_from_args`], for a program that has flags of its own.
///
/// Flatten it into your own clap parser (`cargo add clap --features derive`), and pass it to [`Server::serve_with`]. The command
/// `graph` is not part of it: print [`Server::graph`] yourself.
///
/// ```no_run
/// use clap::Parser;
/// use rejoinder::{ServeArgs, prelude::*};
///
/// #[derive(Parser)]
/// struct Flags {
///     /// The greeting
///     #[arg(long, default_value = "Hello")]
///     greeting: String,
///     #[command(flatten)]
///     serve: ServeArgs,
/// }
///
/// struct Greeting(String);
///
/// /// Greet someone.
/// #[tool]
/// async fn greet(name: String, greeting: Dep<Greeting>) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
///
/// #[tokio::main]
/// async fn main() -> rejoinder::Result<()> {
///     let flags = Flags::parse();
///     let server = Server::new("greeter", "1.0.0").provide(Greeting(flags.greeting)).tools(tools![greet]);
///     server.serve_with(flags.serve).await // --greeting, and --stdio (the default), --http ADDR, --help, ..
/// }
/// ```
// The description of the program is its own.
#[derive(Debug, Args)]
#[command(about = None, long_about = None)]
pub struct ServeArgs {
    /// Serve one client on standard input and output (the default)
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve Streamable HTTP at http://ADDR/mcp, such as 127.0.0.1:8000, or at a port of this machine
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    http: Option<SocketAddr>,
    /// Serve HTTP at this path instead of /mcp
    #[arg(long)]
    path: Option<String>,
    /// Serve WebSocket too, at /mcp/ws
    #[cfg(feature = "ws")]
    #[arg(long, conflicts_with = "stdio")]
    ws: bool,
    /// Serve HTTP+SSE too, at /sse, for clients of 2024-11-05
    #[cfg(feature = "sse")]
    #[arg(long, conflicts_with = "stdio")]
    sse: bool,
    /// Accept requests for this host name too, or for any with `*`; may be repeated
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Offer only these tools, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', global = true)]
    tools: Option<Vec<String>>,
    /// Offer only tools that are marked as changing nothing
    #[arg(long, global = true)]
    read_only: bool,
}

const AFTER_HELP: &str = "\
The environment variable REJOINDER_STATE_KEYS contains the keys that replicas share, so that a call can continue in another \
process: base64, separated by commas; `openssl rand -base64 32` makes one. REJOINDER_ALLOW_HOSTS contains host names as for --allow-host, separated by commas. \
RUST_LOG sets what is logged.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Print where the parameters of every tool, prompt and resource come from
    Graph {
        /// As a Mermaid flowchart instead of text
        #[arg(long)]
        mermaid: bool,
    },
}

impl Flags {
    /// Reads the command line; `--help` shows the server's own name and description.
    fn read(server: &Server) -> Self {
        let info = &server.info;
        let about = info.description.clone().unwrap_or_else(|| "An MCP server".to_owned());
        let name = program_name().unwrap_or_else(|| info.name.clone());
        let command = Self::command().name(name).version(info.version.clone()).about(about);
        let command = match server.options.http.default_address {
            Some(address) => command
                .mut_arg("stdio", |stdio| stdio.help("Serve one client on standard input and output"))
                .mut_arg("http", |http| http.default_value(address.to_string())),
            None => command,
        };
        Self::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }
}

impl ServeArgs {
    /// The server with the tools that the command line selects.
    fn select(&self, mut server: Server) -> Server {
        if let Some(names) = &self.tools {
            let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
            server = server.filter_tools(FilterRule::Named, names, "`--tools`");
        }
        if self.read_only { server.only_read_only() } else { server }
    }

    /// Where HTTP is served, or `None` for standard input and output.
    ///
    /// # Errors
    ///
    /// If a flag adds something to HTTP, which is not served.
    fn address(&self, default: Option<SocketAddr>) -> Result<Option<SocketAddr>, Error> {
        let address = self.http.or(default).filter(|_| !self.stdio);
        let only_http = [
            ("--path", self.path.is_some()),
            ("--allow-host", !self.allow_host.is_empty()),
            #[cfg(feature = "ws")]
            ("--ws", self.ws),
            #[cfg(feature = "sse")]
            ("--sse", self.sse),
        ];
        match only_http.into_iter().find(|(_, is_set)| *is_set && address.is_none()) {
            Some((flag, _)) => Err(Error::Other(format!("`{flag}` needs `--http ADDR`").into())),
            None => Ok(address),
        }
    }

    /// The configuration with what the command line and the environment add to it.
    fn apply(&self, mut http: http::Config, hosts_from_env: &str) -> http::Config {
        let from_env = hosts_from_env.split(',').map(str::trim).filter(|host| !host.is_empty());
        for host in self.allow_host.iter().map(String::as_str).chain(from_env) {
            http = if host == "*" { http.allow_any_host() } else { http.allow_host(host) };
        }
        if let Some(path) = &self.path {
            http = http.path(path);
        }
        #[cfg(feature = "ws")]
        if self.ws && http.websocket.is_none() {
            let path = format!("{}/ws", http.path.trim_end_matches('/'));
            http = http.websocket(path);
        }
        #[cfg(feature = "sse")]
        if self.sse && http.sse.is_none() {
            http = http.sse("/sse");
        }
        http
    }
}

/// Logs a command that sends a first request, unless the program greets its user itself or needs credentials.
fn with_hint(http: http::Config) -> http::Config {
    #[cfg(feature = "auth")]
    if http.auth.is_some() {
        return http;
    }
    if http.on_listening.0.is_some() {
        return http;
    }
    let path = http.path.clone();
    http.on_listening(move |mut address| {
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let meta =
            format!(r#"{{"{}":"{STATELESS}","{}":{{}}}}"#, meta_key::PROTOCOL_VERSION, meta_key::CLIENT_CAPABILITIES);
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{meta}}}}}"#);
        tracing::info!(
            "try it: curl -s http://{address}{path} -H 'Content-Type: application/json' -H 'Accept: application/json, \
             text/event-stream' -H 'MCP-Protocol-Version: {STATELESS}' -H 'Mcp-Method: server/discover' -d '{message}'"
        );
    })
}

/// The file name of this program, which `--version` prints.
fn program_name() -> Option<String> {
    let path = std::path::PathBuf::from(std::env::args_os().next()?);
    let name = path.file_name()?.to_str()?;
    Some(name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(name).to_owned())
}

impl Server {
    /// Serves as the command line says: `--stdio` (the default, unless there is a
    /// [default address](crate::http::Config::default_address)), `--http ADDR`, `--path PATH`, `--allow-host HOST`,
    /// `--tools NAMES` ([`allow_tools`](Server::allow_tools)), `--read-only` ([`only_read_only`](Server::only_read_only)),
    /// `--ws` and `--sse` (with these cargo features), `--help`, `--version`; `graph` prints the server's
    /// [graph](Server::graph) instead.
    ///
    /// Logs go to standard error; `RUST_LOG` sets what is logged. Over HTTP the log begins with the address and a `curl` command
    /// to try, unless the program has [`on_listening`](crate::http::Config::on_listening). The [keys](crate::state::StatePolicy::keys) that replicas
    /// share are taken from `REJOINDER_STATE_KEYS`, unless the server sets them; `REJOINDER_ALLOW_HOSTS` adds
    /// [host names](crate::http::Config::allow_host). On SIGINT and SIGTERM the server accepts no
    /// more requests, and running calls have the [grace period](Server::grace_period) to finish. Whatever functions do,
    /// [`on_stop`](Server::on_stop) runs within three grace periods after the signal, and the process ends within one more for each
    /// function of `on_stop`. A second signal ends the process at once, and so does a thread that is still blocked a grace period
    /// after this has returned.
    ///
    /// Await the future to its end: if it is dropped, what [`on_stop`](Server::on_stop) was given does not run.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or cannot listen on the address.
    pub fn serve_from_args(self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            let Flags { command, serve } = Flags::read(&self);
            let Some(Command::Graph { mermaid }) = command else { return self.serve_with(serve).await };
            let graph = serve.select(self).graph();
            let drawn = if mermaid { graph.mermaid() } else { graph.to_string() };
            Ok(std::io::stdout().write_all(drawn.as_bytes())?)
        })
    }

    /// Serves as these flags say, for a program with flags of its own: as [`serve_from_args`](Self::serve_from_args), whose
    /// command line is read already. See [`ServeArgs`].
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or cannot listen on the address, or if a flag needs another one.
    pub fn serve_with(self, args: ServeArgs) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            let address = args.address(self.options.http.default_address)?;
            let mut server = args.select(self);
            log_to_stderr();
            server.options.state = server.options.state.keys_from_env()?;
            let hosts = std::env::var("REJOINDER_ALLOW_HOSTS").unwrap_or_default();
            server.options.http = with_hint(args.apply(server.options.http, &hosts));
            let grace = server.options.grace;
            server.options.ends_process = true;
            let served = match address {
                Some(address) => server.serve_http(address).await,
                None => {
                    if std::io::stdin().is_terminal() {
                        tracing::info!("serving one client on standard input and output; `--http ADDR` serves HTTP");
                    }
                    server.serve_stdio().await
                }
            };
            exit_after(grace);
            served
        })
    }
}

/// Writes logs to standard error, as [`Server::serve_from_args`] does: standard output belongs to the protocol.
///
/// `RUST_LOG` sets what is logged, `info` by default: a level (`off`, `error`, `warn`, `info`, `debug`, `trace`), a target, which
/// is a crate or a module, or a target with a level, separated by commas, such as `warn,my_server=debug`. Filters by span and
/// field are not supported; set up a [subscriber](tracing::subscriber) of your own for these. This function does nothing in a
/// program that has set up its own logging.
pub fn log_to_stderr() {
    use tracing_subscriber::{fmt::layer, layer::SubscriberExt, registry, util::SubscriberInitExt};
    let (filter, mistake) = match log_filter(&std::env::var("RUST_LOG").unwrap_or_default()) {
        Ok(filter) => (filter, None),
        Err(mistake) => (Targets::new().with_default(LevelFilter::INFO), Some(mistake)),
    };
    // A client that starts this process may write its logs to a file, where colours are noise.
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    let log = registry().with(layer().with_ansi(colours).with_writer(std::io::stderr)).with(filter);
    // An error means that the program has set up its own logging.
    if let (Ok(()), Some(mistake)) = (log.try_init(), mistake) {
        tracing::warn!("{mistake}; logging at `info`");
    }
}

/// Reads what `RUST_LOG` contains. The error names the part that is wrong.
fn log_filter(written: &str) -> Result<Targets, String> {
    let parts: Vec<&str> = written.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Ok(Targets::new().with_default(LevelFilter::INFO));
    }
    // `Targets` takes the name of a span for a target.
    let read = |part: &&str| part.parse::<Targets>().ok().filter(|_| !part.contains('['));
    match parts.iter().find(|part| read(part).is_none()) {
        None => parts.join(",").parse().map_err(|error| format!("RUST_LOG: {error}")),
        Some(part) => Err(format!(
            "`{part}` in RUST_LOG is not a level, a target, or a target with a level such as `my_server=debug`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        process::{Command, Stdio},
        time::Duration,
    };

    use super::*;
    use crate::prelude::*;

    /// Blocks its thread, as no function should.
    #[tool]
    fn block() {
        loop {
            std::thread::park();
        }
    }

    /// Set in the process that the test starts: this program once more.
    const BLOCKED: &str = "REJOINDER_BLOCKED_SERVER";

    #[test]
    fn a_m11_a_thread_that_is_blocked_does_not_keep_the_process() {
        if std::env::var_os(BLOCKED).is_some() {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let server = Server::new("blocked", "1.0.0").tools(tools![block]).grace_period(Duration::from_millis(100));
            let flags = Flags::try_parse_from(["server", "--stdio"]).expect("good flags");
            // The runtime is dropped when this returns, and waits for its threads.
            return runtime.expect("a runtime").block_on(server.serve_with(flags.serve)).expect("it serves");
        }
        let name = "transport::args::tests::a_m11_a_thread_that_is_blocked_does_not_keep_the_process";
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", name, "--nocapture"]).env(BLOCKED, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = command.spawn().expect("it starts");
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let call =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"block","_meta":{meta}}}}}"#);
        // The end of the input stops the server.
        server.stdin.take().expect("a pipe").write_all(format!("{call}\n").as_bytes()).expect("it reads");
        let ended = (0..600).find_map(|_| {
            std::thread::sleep(Duration::from_millis(100));
            server.try_wait().expect("a child")
        });
        let _ = server.kill();
        assert_eq!(ended.expect("it ends").code(), Some(1));
    }

    #[test]
    fn hosts_and_the_path_come_from_the_command_line_and_the_environment() {
        let apply = |arguments: &[&str], hosts| {
            let arguments = ["server"].iter().chain(arguments);
            Flags::try_parse_from(arguments).expect("good flags").serve.apply(http::Config::new(), hosts)
        };
        let plain = apply(&[], "");
        assert_eq!((plain.path.as_str(), plain.allowed_hosts.len(), plain.any_host), ("/mcp", 3, false));
        let more =
            apply(&["--allow-host", "a.example", "--allow-host=b.example", "--path", "/x"], " c.example,,d.example ");
        assert_eq!(more.allowed_hosts[3..], ["a.example", "b.example", "c.example", "d.example"]);
        assert_eq!((more.path.as_str(), more.any_host), ("/x", false));
        assert!(apply(&["--allow-host", "*"], "").any_host && apply(&[], "*").any_host);
    }

    #[test]
    fn transports_beside_http_have_paths_beside_its_own() {
        let flags = |arguments: &[&str]| Flags::try_parse_from(["server"].iter().chain(arguments));
        let paths = |arguments: &[&str], config| {
            let http = flags(arguments).expect("good flags").serve.apply(config, "");
            (http.websocket, http.sse)
        };
        let some = |path: &str| Some(path.to_owned());
        for (arguments, expected) in [
            (&["--http=1"][..], (None, None)),
            (&["--http=1", "--ws", "--sse"], (some("/mcp/ws"), some("/sse"))),
            (&["--http=1", "--ws", "--path=/x/"], (some("/x/ws"), None)),
        ] {
            assert_eq!(paths(arguments, http::Config::new()), expected, "{arguments:?}");
        }
        let own = http::Config::new().websocket("/own");
        assert_eq!(paths(&["--http=1", "--ws"], own), (some("/own"), None));
        let address = |arguments: &[&str], default| flags(arguments).expect("good flags").serve.address(default);
        for only_http in [&["--ws"][..], &["--sse"], &["--path=/x"], &["--allow-host=x"]] {
            let error = address(only_http, None).expect_err("nothing to add to").to_string();
            assert!(error.ends_with("` needs `--http ADDR`"), "{error}");
            let default = Some(([127, 0, 0, 1], 8000).into());
            assert_eq!(address(only_http, default).expect("HTTP is the default"), default);
        }
        flags(&["--stdio", "--ws"]).expect_err("they contradict each other");
    }

    #[test]
    fn what_is_logged_is_levels_and_targets() {
        let would = |written: &str, target: &str, level| {
            log_filter(written).map(|filter| filter.would_enable(target, &level)).expect("a filter")
        };
        use tracing::Level;
        for written in ["", " , "] {
            assert!(would(written, "any", Level::INFO) && !would(written, "any", Level::DEBUG), "{written}");
        }
        assert!(would("debug", "any", Level::DEBUG) && !would("off", "any", Level::ERROR));
        let some = "warn, shop=debug,shop::db=off";
        assert!(would(some, "shop::cart", Level::DEBUG) && !would(some, "shop::cart", Level::TRACE));
        assert!(!would(some, "shop::db", Level::ERROR) && !would(some, "any", Level::INFO));
        assert!(would("shop", "shop", Level::TRACE) && !would("shop", "any", Level::ERROR));
        for (written, wrong) in [
            ("info,shop=loud", "shop=loud"),
            ("shop=info=debug", "shop=info=debug"),
            ("info,[call]=debug", "[call]=debug"),
            ("shop[{name}]=debug", "shop[{name}]=debug"),
        ] {
            let error = log_filter(written).expect_err("no filter");
            assert!(error.starts_with(&format!("`{wrong}` in RUST_LOG is not a level")), "{error}");
        }
    }

    #[test]
    fn a_port_without_an_address_is_local() {
        let http = |address| Flags::try_parse_from(["server", "--http", address]).map(|flags| flags.serve.http);
        assert_eq!(http("8000").expect("a port"), Some("127.0.0.1:8000".parse().expect("an address")));
        assert_eq!(http("[::1]:1").expect("both"), Some("[::1]:1".parse().expect("an address")));
        for name in ["localhost:9130", "LocalHost:9130"] {
            assert_eq!(http(name).expect("this machine"), Some("127.0.0.1:9130".parse().expect("an address")));
        }
        for bad in ["localhost", "localhost:", "localhost:80000", "example.com:80", "127.0.0.1", "80000", ""] {
            let error = http(bad).expect_err("no address").to_string();
            assert!(error.contains("an address and a port, such as 127.0.0.1:8000"), "{error}");
        }
    }
}
