//! A server with a flag of its own, beside those of every server.
//!
//! `cargo run --bin own_flags -- --greeting Welcome --http 8000`

use clap::Parser;
use rejoinder::{ServeArgs, prelude::*};

/// Greets people.
#[derive(Debug, Parser)]
struct Flags {
    /// What to say before the name
    #[arg(long, default_value = "Hello")]
    greeting: String,
    #[command(flatten)]
    serve: ServeArgs,
}

struct Greeting(String);

/// Greet someone.
#[tool]
async fn greet(name: String, greeting: Dep<Greeting>) -> String {
    format!("{}, {name}!", greeting.0)
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    let Flags { greeting, serve } = Flags::parse();
    Server::new("greeter", "1.0.0").provide(Greeting(greeting)).tools(tools![greet]).serve_with(serve).await
}
