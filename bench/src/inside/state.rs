//! How long a `requestState` becomes while a call collects answers.

use anyhow::{Context, Result};
use rejoinder::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};

/// How many answers a state is measured with, at most.
pub const ANSWERS: usize = 4;

/// A small form: a text, a yes or no, a choice and a number.
#[derive(Debug, Clone, Elicit)]
struct Guest {
    /// The name on the ticket
    name: String,
    /// A seat at the window?
    window: bool,
    meal: Meal,
    /// Pieces of luggage
    bags: u8,
}

/// What is served.
#[derive(Debug, Clone, Copy, ElicitEnum)]
enum Meal {
    Vegan,
    Fish,
}

macro_rules! guest {
    ($name:ident, $message:literal $(, after $before:ident)?) => {
        #[resolver]
        fn $name($(#[resolve($before)] _before: &Guest)?) -> Ask<Guest> {
            Ask::user($message)
        }
    };
}

guest!(first, "The first guest?");
guest!(second, "The second guest?", after first);
guest!(third, "The third guest?", after second);
guest!(fourth, "The fourth guest?", after third);
guest!(fifth, "The fifth guest?", after fourth);

/// Book seats
#[tool]
async fn book(flight: String, #[resolve(fifth)] last: &Guest) -> String {
    format!("{flight}: {} has {} bags, {:?}, window {}", last.name, last.bags, last.meal, last.window)
}

/// The length of the state after no answer, one, and so on up to [`ANSWERS`], each with one question still open.
///
/// # Errors
///
/// When the server does not ask.
pub async fn lengths() -> Result<Vec<usize>> {
    let server = Server::new("bench", "1.0.0").tools(tools![book]).build()?;
    let (here, there) = duplex(64 * 1024);
    let (reads, writes) = split(there);
    let served = tokio::spawn(server.serve_io(reads, writes));
    let (replies, mut requests) = split(here);
    let mut replies = BufReader::new(replies).lines();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let mut params = json!({ "name": "book", "arguments": { "flight": "LH 400" }, "_meta": meta });
    let mut lengths = Vec::new();
    for id in 0..=ANSWERS {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        requests.write_all(format!("{request}\n").as_bytes()).await?;
        let reply: Value = serde_json::from_str(&replies.next_line().await?.context("expected a reply")?)?;
        let reply = &reply["result"];
        let state = reply["requestState"].as_str().with_context(|| format!("expected a question, got {reply}"))?;
        lengths.push(state.len());
        params["requestState"] = state.into();
        params["inputResponses"] = answered(&reply["inputRequests"]);
    }
    drop((requests, replies));
    served.await??;
    Ok(lengths)
}

/// The answers to all that is asked.
fn answered(asked: &Value) -> Value {
    let content = json!({ "name": "Ada Lovelace", "window": true, "meal": "Vegan", "bags": 2 });
    let keys = asked.as_object().into_iter().flat_map(|asked| asked.keys());
    keys.map(|key| (key.clone(), json!({ "action": "accept", "content": content }))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_answer_makes_the_state_longer_by_about_the_same() {
        let lengths = lengths().await.unwrap();
        assert_eq!(lengths.len(), ANSWERS + 1);
        let longer: Vec<_> = lengths.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        // Keys are not equally long, base64 rounds up, and the first answer brings the name of the list along.
        let (least, most) = (longer.iter().min().unwrap(), longer.iter().max().unwrap());
        assert!(*least > 0 && most - least <= 16, "{lengths:?}");
    }

    #[tokio::test]
    async fn four_answers_stay_under_a_kibibyte() {
        let lengths = lengths().await.unwrap();
        assert!(lengths[4] < 1024, "{lengths:?}");
    }
}
