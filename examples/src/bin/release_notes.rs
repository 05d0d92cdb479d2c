//! Three kinds of question in one round: a form for the user, a sample of the client's model, the client's roots.

use rejoinder::{
    ask::{Roots, Sample, Sampling},
    prelude::*,
};

#[derive(Elicit)]
struct Audience {
    /// Developers, customers, ..
    readers: String,
}

#[resolver]
fn audience(version: &str) -> Ask<Audience> {
    Ask::user(format!("Who reads the notes of {version}?"))
}

#[resolver]
fn summary(changes: &str) -> Ask<Sample> {
    Ask::sample(Sampling::new(format!("Summarize these changes in one sentence: {changes}")).max_tokens(200))
}

#[resolver]
fn folders() -> Ask<Roots> {
    Ask::roots()
}

/// Write release notes.
#[tool(read_only)]
async fn release_notes(
    /// The version
    version: String,
    /// What changed
    changes: String,
    #[resolve(audience)] audience: &Audience,
    #[resolve(summary)] summary: &Sample,
    #[resolve(folders)] folders: &Roots,
) -> String {
    let projects: Vec<_> = folders.roots.iter().map(|root| root.uri.as_str()).collect();
    format!("{version} for {}\n{}\n({changes}; in {})", audience.readers, summary.text(), projects.join(", "))
}

fn server() -> Server {
    Server::new("release-notes", "1.0.0").tools(tools![release_notes])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{call::Era, testing::Client};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn all_questions_go_out_in_one_round() {
        let sample = json!({ "role": "assistant", "content": { "type": "text", "text": "Faster." }, "model": "m" });
        let client = Client::new(server())
            .answer("audience", Audience { readers: "developers".into() })
            .answer_with("summary", sample)
            .answer_with("folders", json!({ "roots": [{ "uri": "file:///project" }] }));
        for era in [Era::Stateless, Era::Session] {
            let arguments = json!({ "version": "1.2", "changes": "no more locks" });
            let notes = client.clone().era(era).call_tool("release_notes", arguments).await.unwrap();
            assert_eq!(notes.text(), "1.2 for developers\nFaster.\n(no more locks; in file:///project)");
            if era == Era::Stateless {
                assert_eq!(notes.asked, [["audience", "summary", "folders"]]);
            }
        }
    }
}
