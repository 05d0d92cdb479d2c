//! rmcp's own server, to compare with.
//!
//! `bench-rmcp --http 127.0.0.1:PORT [--arc] [--tools N] [--sessions]`, `bench-rmcp --stdio`, `bench-rmcp --stdio-pipes`.
//! Without `--arc` it is the server that rmcp's documentation shows, which builds its router for every request; with
//! `--arc` the router is built once and shared, the best that is possible from outside. With `--sessions` clients before
//! 2026-07-28 get sessions.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rejoinder_bench::{flags::Flags, serve};
use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `add`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// As documented: the macro implements the handler, the router is made at each use.
#[derive(Debug, Clone)]
struct Documented;

#[tool_router(server_handler)]
impl Documented {
    #[tool(description = "Add two integers")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

/// At its best: one router for all requests.
#[derive(Debug, Clone)]
struct Shared {
    tool_router: Arc<ToolRouter<Self>>,
}

#[tool_router]
impl Shared {
    /// `add` and as many more tools beside it as make `tools`.
    fn with_tools(tools: usize) -> Result<Self> {
        let mut router = Self::tool_router();
        let add = router.map.get("add").context("the macro made no route for `add`")?.clone();
        for number in 1..tools {
            let mut route = add.clone();
            route.attr.name = format!("tool_{number:04}").into();
            router.add_route(route);
        }
        Ok(Self { tool_router: Arc::new(router) })
    }

    #[tool(description = "Add two integers")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Shared {}

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let tools = flags.get("tools")?.unwrap_or(1);
    serve::runtime()?.block_on(async {
        if flags.has("stdio") {
            let service = Shared::with_tools(tools)?.serve(rmcp::transport::stdio());
            service.await?.waiting().await?;
            return Ok(());
        }
        if flags.has("stdio-pipes") {
            let service = Shared::with_tools(tools)?.serve(rmcp::transport::stdio_pipes());
            service.await?.waiting().await?;
            return Ok(());
        }
        let app = if flags.has("arc") {
            let server = Shared::with_tools(tools)?;
            serve::rmcp(move || Ok(server.clone()))
        } else if flags.has("sessions") {
            serve::rmcp_sessions(|| Ok(Documented))
        } else {
            ensure!(tools == 1, "the documented server has one tool");
            serve::rmcp(|| Ok(Documented))
        };
        serve::serve(flags.address()?, app).await
    })
}
