use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

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
