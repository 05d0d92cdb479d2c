//! Calls that ask, what is answered, and what every client must see of them.

use serde_json::{Value, json};

use crate::program::{LOAD_SHEDDING, RELEASE_NOTES, TRIP, WORK_ITEMS};

/// How a client talks to the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Era {
    /// 2026-07-28: questions come with the reply of a round.
    Stateless,
    /// 2025-11-25: questions come over the session.
    Session,
}

/// A call, from its first request to its last reply.
pub(crate) struct Call {
    pub(crate) program: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// What the user, the model and the client answer, by what they are asked.
    pub(crate) answers: Value,
    /// How many rounds there are before the last; where there is one, the questions have no order.
    pub(crate) rounds: usize,
    /// What was asked: the words of a form, the words to the model, `roots/list`.
    pub(crate) asked: Vec<&'static str>,
    pub(crate) said: &'static str,
    pub(crate) failed: bool,
}

impl Call {
    /// The number of questions that the client waits for before it answers any.
    ///
    /// On a session, independent questions are sent at once. An answer that ends the call withdraws the other questions, so
    /// a client that answers immediately may never see them.
    pub(crate) fn together(&self, era: Era) -> usize {
        if self.rounds == 1 && era == Era::Session { self.asked.len() } else { 1 }
    }

    /// Compares the questions and the reply with what is expected.
    pub(crate) fn check(&self, mut asked: Vec<String>, said: &str, failed: bool) {
        let mut expected = self.asked.clone();
        if self.rounds == 1 {
            asked.sort();
            expected.sort_unstable();
        }
        assert_eq!(asked, expected, "{}", self.tool);
        assert_eq!((said, failed), (self.said, self.failed), "{}", self.tool);
    }
}

pub(crate) fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// The answers of Ada, who goes to Rome.
pub(crate) fn rome() -> Value {
    json!({
        "Where to, Ada?": accept(json!({ "country": "Italy" })),
        "Which city of Italy?": accept(json!({ "city": "Rome" })),
        "How many nights in Rome?": accept(json!({ "nights": 3 })),
        "3 nights in Rome are 270 EUR.": accept(json!({ "yes": true })),
    })
}

fn trip(answers: Value, asked: usize, said: &'static str, failed: bool) -> Call {
    let all = ["Where to, Ada?", "Which city of Italy?", "How many nights in Rome?", "3 nights in Rome are 270 EUR."];
    Call {
        program: TRIP,
        tool: "book_trip",
        arguments: json!({ "traveller": "Ada" }),
        answers,
        rounds: asked,
        asked: all[..asked].to_vec(),
        said,
        failed,
    }
}

fn notes(answers: [Value; 3], said: &'static str, failed: bool) -> Call {
    let asked =
        vec!["Who reads the notes of 1.2?", "Summarize these changes in one sentence: no more locks", "roots/list"];
    Call {
        program: RELEASE_NOTES,
        tool: "release_notes",
        arguments: json!({ "version": "1.2", "changes": "no more locks" }),
        answers: asked.iter().copied().zip(answers).map(|(words, answer)| (words.to_owned(), answer)).collect(),
        rounds: 1,
        asked,
        said,
        failed,
    }
}

pub(crate) fn calls() -> Vec<Call> {
    let but = |words: &str, answer: Value| {
        let mut answers = rome();
        answers[words] = answer;
        answers
    };
    let decline = json!({ "action": "decline" });
    let left = but("Which city of Italy?", json!({ "action": "cancel" }));
    let declined = but("How many nights in Rome?", decline.clone());
    let refused = but("3 nights in Rome are 270 EUR.", accept(json!({ "yes": false })));
    let sample = json!({
        "role": "assistant", "content": { "type": "text", "text": "Faster." }, "model": "m", "stopReason": "endTurn",
    });
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b", "name": "b" }] });
    let developers = accept(json!({ "readers": "developers" }));
    let duplicate = Call {
        program: WORK_ITEMS,
        tool: "update_work_item",
        arguments: json!({ "id": 4522, "state": "Resolved" }),
        answers: json!({
            "How was 4522 resolved?": accept(json!({ "resolution": "Duplicate" })),
            "Which item is 4522 a duplicate of?": accept(json!({ "id": 4301 })),
        }),
        rounds: 2,
        asked: vec!["How was 4522 resolved?", "Which item is 4522 a duplicate of?"],
        said: r#"{"state":"Resolved","resolution":"Duplicate","duplicate_of":4301}"#,
        failed: false,
    };
    // Two rounds bring it to 2002, and the third finds it. The user is not asked anything.
    let shed = Call {
        program: LOAD_SHEDDING,
        tool: "factor",
        arguments: json!({ "number": 3001 * 3011 }),
        answers: json!({}),
        rounds: 2,
        asked: Vec::new(),
        said: "3001",
        failed: false,
    };
    vec![
        shed,
        trip(rome(), 4, "Ada goes to Rome, Italy, for 3 nights", false),
        trip(refused, 4, "Ada stays at home", false),
        trip(declined, 3, "the user declined `nights`", true),
        trip(left, 2, "the user cancelled `city`", true),
        duplicate,
        notes(
            [developers, sample.clone(), roots.clone()],
            "1.2 for developers\nFaster.\n(no more locks; in file:///a, file:///b)",
            false,
        ),
        notes([decline, sample, roots], "the user declined `audience`", true),
    ]
}
