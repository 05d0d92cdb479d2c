//! A server that greets, with progress and an error for the model:
//! `cargo run -p rejoinder-examples --bin greeter -- --http 127.0.0.1:8000`.

use rejoinder::prelude::*;

struct Greetings(&'static str);

/// Greet a person.
#[tool(read_only)]
async fn greet(
    /// The name of the person
    name: String,
    /// The number of greetings
    #[arg(default = 1)]
    times: u8,
    greetings: Dep<Greetings>, // provided once, below; the model does not see it
    ctx: Context,              // progress, logs, the client
) -> Result<String, CallError> {
    if name.is_empty() {
        return Err(CallError::new("`name` is empty: give the name of a person, such as `Ada`"));
    }
    ctx.progress(1.0).total(1.0).message("found the greeting").await;
    Ok(format!("{}, {name}!\n", greetings.0).repeat(times.into()))
}

fn server() -> Server {
    Server::new("greeter", "1.0.0").provide(Greetings("Hello")).tools(tools![greet])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await // --stdio (the default), --http ADDR, --help
}

#[cfg(test)]
mod tests {
    use rejoinder::testing::Client;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn it_greets() {
        let client = Client::new(server());
        let reply = client.call_tool("greet", json!({ "name": "Ada", "times": 2 })).await.unwrap();
        assert_eq!(reply.text(), "Hello, Ada!\nHello, Ada!\n");
        assert_eq!(reply.progress.len(), 1);
        let reply = client.call_tool("greet", json!({ "name": "" })).await.unwrap();
        assert!(reply.is_error());
    }

    #[tokio::test]
    async fn a_tool_is_still_a_function() {
        let reply = greet("Ada".into(), 1, Dep::new(Greetings("Hi")), Context::detached()).await;
        assert_eq!(reply.unwrap(), "Hi, Ada!\n");
    }
}
