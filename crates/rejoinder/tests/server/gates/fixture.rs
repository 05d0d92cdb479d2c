//! A server whose callers have plans: `x-plan: pro` opens what is `pro`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rejoinder::{prelude::*, testing::Client};

/// How often the gate ran.
#[derive(Default)]
pub struct Runs(pub AtomicUsize);

impl Runs {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[resolver]
pub fn plan(#[header("x-plan")] plan: Option<String>, runs: Option<Dep<Runs>>) -> String {
    if let Some(runs) = runs {
        runs.0.fetch_add(1, Ordering::SeqCst);
    }
    plan.unwrap_or_else(|| "free".to_owned())
}

#[resolver]
pub fn is_pro(#[resolve(plan)] plan: &str) -> bool {
    plan == "pro"
}

/// What a test switches, also where there are no headers.
#[derive(Default)]
pub struct Switch(pub AtomicBool);

#[resolver]
pub fn is_on(switch: Dep<Switch>) -> bool {
    switch.0.load(Ordering::SeqCst)
}

/// For everybody.
#[tool]
pub async fn everyday_tool() -> &'static str {
    "open"
}

/// For some.
#[tool(enabled = is_pro)]
pub async fn gold_tool(#[arg(header = "Place")] place: String, #[resolve(plan)] plan: &str) -> String {
    format!("{plan} in {place}")
}

/// For everybody, and last.
#[tool]
pub async fn everyday_tool_two() -> &'static str {
    "open"
}

#[prompt]
pub async fn everyday_prompt() -> &'static str {
    "open"
}

#[prompt(enabled = is_pro)]
pub async fn gold_prompt(#[arg(complete = places)] place: String) -> String {
    place
}

#[completion]
async fn places(_typed: rejoinder::call::CompletionRequest) -> Vec<String> {
    vec!["Rome".to_owned()]
}

#[resource("text://open")]
pub async fn open_resource() -> &'static str {
    "open"
}

#[resource("text://gold", enabled = is_pro, public)]
pub async fn gold_resource() -> &'static str {
    "pro"
}

#[resource("open://{id}")]
pub async fn open_template(id: String) -> String {
    id
}

#[resource("gold://{id}", enabled = is_pro)]
pub async fn gold_template(id: String) -> String {
    id
}

pub fn server() -> Server {
    Server::new("plans", "1.0.0")
        .tools(tools![everyday_tool, gold_tool, everyday_tool_two])
        .prompts(prompts![everyday_prompt, gold_prompt])
        .resources(resources![open_resource, gold_resource, open_template, gold_template])
}

pub fn client() -> Client {
    Client::new(server())
}

/// The names in all four lists.
pub async fn seen(client: &Client) -> Vec<String> {
    let mut seen = Vec::new();
    seen.extend(client.list_tools().await.unwrap().into_iter().map(|tool| tool.name));
    seen.extend(client.list_prompts().await.unwrap().into_iter().map(|prompt| prompt.name));
    seen.extend(client.list_resources().await.unwrap().into_iter().map(|resource| resource.uri));
    seen.extend(client.list_resource_templates().await.unwrap().into_iter().map(|it| it.uri_template));
    seen
}
