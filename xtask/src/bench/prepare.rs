//! Makes sure that like is compared with like, before anything is measured.

use anyhow::{Result, ensure};
use serde_json::Value;

use super::measure::Bench;
use super::plan::{self, Kept, MANY, Subject, name};
use crate::tools;

/// Checks what the servers answer, and keeps what the floor is to send.
pub(super) fn prepare(bench: &Bench) -> Result<Kept> {
    let folder = tools::folder("bench");
    tools::make(&folder)?;
    let kept = Kept { list: folder.join("list.json"), question: folder.join("question.json") };
    let subjects = plan::subjects(&kept);
    let answer = |wanted: &str, ask: &str| -> Result<Vec<u8>> {
        let subject: Vec<&Subject> = subjects.iter().filter(|one| one.name == wanted).collect();
        ensure!(subject.len() == 1, "the plan has no {wanted}");
        bench.once(&bench.start(subject[0])?, ask)
    };

    for many in [name::REJOINDER_MANY, name::RMCP_MANY] {
        let bytes = answer(many, "list")?;
        let tools = tools_in(&bytes);
        ensure!(tools == MANY, "{many} lists {tools} tools, {MANY} were due");
        if many == name::REJOINDER_MANY {
            std::fs::write(&kept.list, bytes)?;
        }
    }
    std::fs::write(&kept.question, answer(name::REJOINDER_ROUNDS, "question")?)?;
    let ours = answer(name::REJOINDER, "call")?;
    let floor = answer(name::FLOOR, "call")?;
    ensure!(
        ours == floor,
        "rejoinder and the floor answer differently; put our bytes into bench/src/floor.rs\n  rejoinder {}\n  floor     {}",
        String::from_utf8_lossy(&ours),
        String::from_utf8_lossy(&floor)
    );
    for peer in [name::REJOINDER, name::RMCP, name::RMCP_ARC] {
        let bytes = answer(peer, "call")?;
        ensure!(
            text_in(&bytes).as_deref() == Some("3"),
            "{peer} does not answer 3: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
    for peer in [name::REJOINDER_ROUNDS, name::RMCP_ROUNDS, name::FLOOR] {
        let bytes = answer(peer, "rounds")?;
        ensure!(
            text_in(&bytes).as_deref() == Some("removed photos/2019"),
            "{peer} does not remove the folder: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
    Ok(kept)
}

/// How many tools a reply to `tools/list` has.
fn tools_in(reply: &[u8]) -> usize {
    serde_json::from_slice::<Value>(reply)
        .ok()
        .and_then(|reply| reply["result"]["tools"].as_array().map(Vec::len))
        .unwrap_or_default()
}

/// The text a reply to `tools/call` has.
fn text_in(reply: &[u8]) -> Option<String> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let text = reply["result"]["content"][0]["text"].as_str()?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_replies_and_takes_anything_else_for_nothing() {
        assert_eq!(tools_in(br#"{"result":{"tools":[{},{}]}}"#), 2);
        assert_eq!(tools_in(b"no"), 0);
        let reply = br#"{"result":{"content":[{"type":"text","text":"3"}]}}"#;
        assert_eq!(text_in(reply).as_deref(), Some("3"));
        assert_eq!(text_in(br#"{"error":{}}"#), None);
    }
}
