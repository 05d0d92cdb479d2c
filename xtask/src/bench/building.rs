//! What a server costs to build: the same tools written with rejoinder and with rmcp, as each documents it.
//!
//! The sources are generated into `.tools/building`, a separate workspace with the default profiles: what a user of
//! either crate has.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::samples::median;
use crate::{cargo, process, tools};

/// The heading of the section, which is the last one of the page.
const HEADING: &str = "\n## Building\n";

/// Every server, beside its peer.
const PROJECTS: [(Kit, Shape); 6] = [
    (Kit::Rejoinder, Shape::Tools(1)),
    (Kit::Rmcp, Shape::Tools(1)),
    (Kit::Rejoinder, Shape::Tools(100)),
    (Kit::Rmcp, Shape::Tools(100)),
    (Kit::Rejoinder, Shape::StdioOnly),
    (Kit::Rmcp, Shape::StdioOnly),
];

/// Which crate a server is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kit {
    Rejoinder,
    Rmcp,
}

/// What a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// This many tools, over HTTP and stdio.
    Tools(usize),
    /// One tool, over stdio, and no feature of its crate that this does not need.
    StdioOnly,
}

/// A server that is built.
#[derive(Debug)]
struct Project {
    kit: Kit,
    shape: Shape,
    /// CPU seconds of `cargo build` where nothing is built yet, without the files that only a next build needs.
    clean: Option<f64>,
    /// CPU seconds of `cargo check` after a change, one for each round.
    check: Vec<f64>,
    /// The same for `cargo build --release`.
    release: Vec<f64>,
    /// Bytes of the stripped release binary.
    stripped: u64,
    /// How many crates it depends on.
    crates: usize,
}

/// What was measured.
#[derive(Debug)]
pub(super) struct Building(Vec<Project>);

impl Building {
    /// Builds everything once, then again and again after a change of one line.
    pub(super) fn measure(rounds: usize) -> Result<Self> {
        let folder = tools::folder("building");
        let mut projects: Vec<Project> = PROJECTS.into_iter().map(|(kit, shape)| Project::new(kit, shape)).collect();
        lay_out(&folder, &projects)?;
        for round in 0..=rounds {
            for project in &mut projects {
                project.write(&folder, round)?;
                let check = project.build(&folder, "check", &[])?;
                let release = project.build(&folder, "build", &["--release"])?;
                // The first build compiles the dependencies too.
                if round > 0 {
                    println!("building {:<24} check {check:.2} s, release {release:.2} s", project.name());
                    project.check.push(check);
                    project.release.push(release);
                }
            }
        }
        for project in &mut projects {
            project.weigh(&folder)?;
            project.build_clean(&folder)?;
        }
        Ok(Self(projects))
    }

    /// The section of the page.
    pub(super) fn section(&self) -> Result<String> {
        let mut out = format!(
            "{HEADING}\n\
             The same server written with both crates, as each documents it: every tool has three arguments, and the \
             program serves stdio and HTTP. Default profiles. CPU seconds are user and system time of cargo and the \
             compiler after one line of the server has changed; medians. The clean debug build is what a new user pays, once: \
             of all crates, with `CARGO_INCREMENTAL=0`, because cargo compiles crates of a registry so. The server for stdio only has one tool, and \
             its crate without the features that it does not use.\n\n"
        );
        let mut row = |title: &str, cell: &dyn Fn(&Project) -> Option<String>| -> Result<()> {
            let cells = self.0.iter().map(cell).collect::<Option<Vec<_>>>();
            let cells = cells.with_context(|| format!("{title} was not measured"))?;
            Ok(writeln!(out, "| {title} | {} |", cells.join(" | "))?)
        };
        let seconds = |times: &[f64]| median(times.iter().copied()).map(|time| format!("{time:.2}"));
        #[expect(clippy::cast_precision_loss, reason = "a binary is far smaller than 2^52 bytes")]
        let megabytes = |bytes: u64| Some(format!("{:.1}", bytes as f64 / 1e6));
        row("", &|one| Some(one.title()))?;
        row("---", &|_| Some("---".to_owned()))?;
        row("clean `cargo build`, CPU s", &|one| one.clean.map(|time| format!("{time:.1}")))?;
        row("`cargo check`, CPU s", &|one| seconds(&one.check))?;
        row("`cargo build --release`, CPU s", &|one| seconds(&one.release))?;
        row("release binary, stripped, MB", &|one| megabytes(one.stripped))?;
        row("crates in the tree", &|one| Some(one.crates.to_string()))?;
        Ok(out)
    }
}

/// The page with its section on building replaced by this one.
pub(super) fn replace_section(page: &str, section: &str) -> String {
    let (before, _) = page.split_once(HEADING).unwrap_or((page, ""));
    format!("{before}{section}")
}

impl Project {
    fn new(kit: Kit, shape: Shape) -> Self {
        Self { kit, shape, clean: None, check: Vec::new(), release: Vec::new(), stripped: 0, crates: 0 }
    }

    /// What the report calls it.
    fn title(&self) -> String {
        let kit = if self.kit == Kit::Rejoinder { "rejoinder" } else { "rmcp" };
        match self.shape {
            Shape::Tools(1) => format!("{kit}, 1 tool"),
            Shape::Tools(many) => format!("{kit}, {many} tools"),
            Shape::StdioOnly => format!("{kit}, stdio only"),
        }
    }

    /// The name of its package.
    fn name(&self) -> String {
        format!("building-{}", self.title().replace(", ", "-").replace(' ', "-"))
    }

    /// Writes its source. Each `edit` differs from the others in one line.
    fn write(&self, folder: &Path, edit: usize) -> Result<()> {
        Ok(std::fs::write(folder.join(self.name()).join("src/main.rs"), source(self.kit, self.shape, edit))?)
    }

    /// Runs cargo on it and returns the CPU seconds that took.
    fn build(&self, folder: &Path, verb: &str, flags: &[&str]) -> Result<f64> {
        cpu_seconds(self.cargo(folder, &[verb, "--quiet"]).args(flags))
    }

    /// Builds it and everything that it depends on.
    fn build_clean(&mut self, folder: &Path) -> Result<()> {
        let target = folder.join("clean");
        if target.exists() {
            std::fs::remove_dir_all(&target).with_context(|| format!("removing {}", target.display()))?;
        }
        let mut command = self.cargo(folder, &["build", "--quiet"]);
        let clean = cpu_seconds(command.env("CARGO_TARGET_DIR", &target).env("CARGO_INCREMENTAL", "0"))?;
        println!("building {:<24} clean {clean:.1} s", self.name());
        self.clean = Some(clean);
        Ok(())
    }

    /// Measures what does not depend on time.
    fn weigh(&mut self, folder: &Path) -> Result<()> {
        let binary = folder.join("target/release").join(self.name());
        let stripped = folder.join("stripped");
        process::run(Command::new("strip").arg("-o").arg(&stripped).arg(&binary))?;
        self.stripped = std::fs::metadata(&stripped).context("reading the stripped binary")?.len();
        let tree = process::output(&mut self.cargo(folder, &["tree", "--edges", "normal,build", "--prefix", "none"]))?;
        self.crates = crates_in(&String::from_utf8_lossy(&tree));
        Ok(())
    }

    fn cargo(&self, folder: &Path, words: &[&str]) -> Command {
        let mut command = cargo::command(words);
        command.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
        command.args(["--package", &self.name()]);
        command
    }
}

/// Writes the manifests, and takes over the versions of this workspace.
fn lay_out(folder: &Path, projects: &[Project]) -> Result<()> {
    let root = tools::root();
    let rejoinder = root.join("crates/rejoinder");
    for project in projects {
        let package = folder.join(project.name());
        tools::make(&package.join("src"))?;
        let dependencies = match (project.kit, project.shape) {
            (Kit::Rejoinder, Shape::Tools(_)) => format!("rejoinder = {{ path = {rejoinder:?} }}\n"),
            (Kit::Rejoinder, Shape::StdioOnly) => {
                format!("rejoinder = {{ path = {rejoinder:?}, default-features = false, features = [\"stdio\"] }}\n")
            }
            (Kit::Rmcp, Shape::Tools(_)) => format!("{RMCP}{RMCP_HTTP}"),
            (Kit::Rmcp, Shape::StdioOnly) => format!("{RMCP}{RMCP_STDIO}"),
        };
        let name = project.name();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n{dependencies}"
        );
        std::fs::write(package.join("Cargo.toml"), manifest)?;
        project.write(folder, 0)?;
    }
    let names: Vec<String> = projects.iter().map(Project::name).collect();
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n");
    std::fs::write(folder.join("Cargo.toml"), workspace)?;
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).context("copying Cargo.lock")?;
    Ok(())
}

/// What every server with rmcp needs beside rmcp itself.
const RMCP: &str = r#"anyhow = "1"
schemars = "1"
serde = { version = "1", features = ["derive"] }
"#;

const RMCP_STDIO: &str = r#"rmcp = { version = "=3.8.0", features = ["transport-io"] }
"#;

const RMCP_HTTP: &str = r#"axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
rmcp = { version = "=3.8.0", features = ["transport-io", "transport-streamable-http-server"] }
tracing-subscriber = { version = "0.3", features = ["env-filter"] }
"#;

/// The source of a server. Each `edit` changes one line.
fn source(kit: Kit, shape: Shape, edit: usize) -> String {
    let tools = if let Shape::Tools(many) = shape { many } else { 1 };
    // In the body of the first tool.
    let edits = (0..tools).map(|tool| (tool, if tool == 0 { edit } else { 0 }));
    match kit {
        Kit::Rejoinder => rejoinder_source(shape, edits),
        Kit::Rmcp => rmcp_source(shape, edits),
    }
}

fn rejoinder_source(shape: Shape, edits: impl Iterator<Item = (usize, usize)>) -> String {
    let (mut tools, mut names) = (String::new(), String::new());
    for (tool, edit) in edits {
        tools += &format!(
            r#"
/// Describe item {tool}
#[tool]
async fn tool_{tool}(
    /// Its name
    name: String,
    /// How many there are
    count: u32,
    /// Whether it is new
    new: Option<bool>,
) -> String {{
    format!("{{name}} {{count}} {{new:?}} {edit}")
}}
"#
        );
        names += &format!("tool_{tool}, ");
    }
    let serve = if shape == Shape::StdioOnly { "serve_stdio" } else { "serve_from_args" };
    format!(
        r#"use rejoinder::prelude::*;
{tools}
#[tokio::main]
async fn main() -> rejoinder::Result<()> {{
    Server::new("building", "1.0.0").tools(tools![{names}]).{serve}().await
}}
"#
    )
}

fn rmcp_source(shape: Shape, edits: impl Iterator<Item = (usize, usize)>) -> String {
    let (mut arguments, mut methods) = (String::new(), String::new());
    for (tool, edit) in edits {
        arguments += &format!(
            r#"
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments{tool} {{
    /// Its name
    name: String,
    /// How many there are
    count: u32,
    /// Whether it is new
    new: Option<bool>,
}}
"#
        );
        methods += &format!(
            r#"
    /// Describe item {tool}
    #[tool]
    async fn tool_{tool}(&self, Parameters(Arguments{tool} {{ name, count, new }}): Parameters<Arguments{tool}>) -> String {{
        format!("{{name}} {{count}} {{new:?}} {edit}")
    }}
"#
        );
    }
    let http = if shape == Shape::StdioOnly { "" } else { RMCP_MAIN_HTTP };
    format!(
        r#"use rmcp::handler::server::wrapper::Parameters;
use rmcp::{{ServiceExt, tool, tool_router}};
use schemars::JsonSchema;
use serde::Deserialize;
{arguments}
#[derive(Debug, Clone)]
struct Building;

#[tool_router(server_handler)]
impl Building {{{methods}}}

#[tokio::main]
async fn main() -> anyhow::Result<()> {{{http}
    Building.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}}
"#
    )
}

/// What `main` does first in a server with rmcp that serves HTTP too.
const RMCP_MAIN_HTTP: &str = r#"
    use rmcp::transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    };

    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    if let Some(address) = std::env::args().nth(1) {
        let sessions = std::sync::Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(|| Ok(Building), sessions, StreamableHttpServerConfig::default());
        let listener = tokio::net::TcpListener::bind(address).await?;
        return Ok(axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?);
    }"#;

/// Runs a command and returns the CPU seconds that took.
fn cpu_seconds(command: &mut Command) -> Result<f64> {
    let before = children_cpu_seconds()?;
    process::run(command)?;
    Ok(children_cpu_seconds()? - before)
}

/// User and system time of all processes that this one has started and waited for.
fn children_cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("processor time is measured on Linux only")?;
    children_ticks(&stat).map(|ticks| ticks / 100.0).context("unexpected /proc/self/stat")
}

/// The sum of `cutime` and `cstime`, in hundredths of a second. The second field, a name, may contain spaces.
fn children_ticks(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

/// How many packages the output of `cargo tree` names, without the first one, which is the project itself.
fn crates_in(tree: &str) -> usize {
    let package = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let packages: std::collections::BTreeSet<_> = tree.lines().skip(1).map(package).collect();
    packages.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_changes_one_line() {
        for (kit, shape) in PROJECTS {
            let (one, other) = (source(kit, shape, 1), source(kit, shape, 2));
            assert_eq!(one.lines().zip(other.lines()).filter(|(one, other)| one != other).count(), 1);
        }
    }

    #[test]
    fn the_section_is_replaced_or_added() {
        let section = format!("{HEADING}new");
        assert_eq!(replace_section("# Page\n", &section), "# Page\n\n## Building\nnew");
        assert_eq!(replace_section("# Page\n\n## Building\nold", &section), "# Page\n\n## Building\nnew");
    }

    #[test]
    fn rows_have_a_cell_for_each_project() {
        let mut project = Project::new(Kit::Rmcp, Shape::Tools(100));
        (project.check, project.release) = (vec![1.0, 3.0, 2.0], vec![4.0]);
        (project.clean, project.stripped, project.crates) = (Some(61.24), 12_340_000, 70);
        let page = Building(vec![project]).section().unwrap();
        for row in [
            "|  | rmcp, 100 tools |",
            "| clean `cargo build`, CPU s | 61.2 |",
            "| `cargo check`, CPU s | 2.00 |",
            "| release binary, stripped, MB | 12.3 |",
        ] {
            assert!(page.contains(row), "{page}");
        }
        let error = Building(vec![Project::new(Kit::Rmcp, Shape::StdioOnly)]).section().unwrap_err().to_string();
        assert_eq!(error, "clean `cargo build`, CPU s was not measured");
    }

    #[test]
    fn reads_the_times_of_children_and_counts_crates() {
        let stat = "1 (a b) S 1 2 3 4 5 6 7 8 9 10 11 12 250 150 20 0";
        assert_eq!(children_ticks(stat), Some(400.0));
        assert_eq!(crates_in("me v0.1.0 (/x)\na v1.0.0\nb v1.0.0 (proc-macro)\na v1.0.0 (*)\na v2.0.0\n"), 3);
    }
}
