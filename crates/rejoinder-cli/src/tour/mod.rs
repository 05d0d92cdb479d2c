//! The tour: a small server with one of everything, to call and to read.

mod notes;
mod tools;

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// The server of the tour.
pub fn server() -> Server {
    Server::new("rejoinder-tour", env!("CARGO_PKG_VERSION"))
        .title("The rejoinder tour")
        .description("The rejoinder tour: a small MCP server with one example of everything")
        .instructions("Small examples of everything that rejoinder offers. Start with the tool `add`.")
        .provide(notes::Notes::default())
        .tools(tools![tools::add, tools::count_to, tools::roll, notes::write_note, notes::delete_note])
        .prompts(prompts![review])
        .resources(resources![notes::index, notes::note])
}

/// How strict a review is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Kind,
    Strict,
}

/// Ask for a review of some code.
#[prompt]
pub async fn review(
    /// The code
    code: String,
    /// How strict to be
    tone: Option<Tone>,
) -> String {
    let how = match tone {
        Some(Tone::Strict) => "Be strict: name every flaw.",
        Some(Tone::Kind) | None => "Be kind: praise what is good, then name the flaws.",
    };
    format!("Review this code. {how}\n\n{code}")
}
