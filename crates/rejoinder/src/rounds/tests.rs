//! What a round makes of what it was told, and what it tells the next one.

use std::sync::Arc;

use crate::{
    ask::{Answer, Carrier, Fits, NextRound, Parked, Posed, Question, RawAnswer},
    error::Halt,
    form::{ConfirmForm, Elicit},
};
use futures_util::FutureExt;
use serde_json::{Value, json};

use super::{
    Progress, Round,
    by_key::ByKey,
    progress::{Given, Open},
    seal::Log,
};

fn question(message: &str) -> Question {
    Question::Form { message: message.to_owned(), form: ConfirmForm::form() }
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "yes": true } })
}

fn sent(answer: Value) -> Arc<RawAnswer> {
    Arc::new(answer.into())
}

fn given(message: &str, answer: Value) -> Given {
    Given { digest: question(message).digest(), answer: sent(answer) }
}

fn open(message: &str) -> Open {
    Open { digest: question(message).digest(), bad: 0, reworded: 0 }
}

fn by_key<T>(entries: impl IntoIterator<Item = (&'static str, T)>) -> ByKey<T> {
    entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

/// The answer under a key, or what there is instead.
fn ask(round: &Round, key: &str, message: &str) -> Result<Value, Halt> {
    let check = |answer: &RawAnswer| <ConfirmForm as Answer>::read(answer).map(|_| ());
    let fits = Fits { allow_unsolicited: false, check: &check };
    let answer = round.ask(key, question(message), fits).now_or_never().expect("it is there or it is not");
    answer.map(|answer| Arc::unwrap_or_clone(answer).into())
}

/// The keys that a round asks under in the end, and what the next one will know.
fn end(round: &Round) -> (Vec<String>, Progress) {
    let Parked { questions, state, .. } = round.parked().expect("it asks");
    (questions.into_iter().map(|(key, _)| key.to_string()).collect(), Progress::read(&state))
}

#[test]
fn d4_d5_d8_what_nobody_asks_any_more_is_left_out() {
    let before = Progress {
        answers: by_key([("used", given("Used?", yes())), ("unused", given("Unused?", yes()))]),
        questions: by_key([("open", open("Open?")), ("gone", open("Gone?"))]),
        ..Progress::default()
    };
    let round = Round::new(
        before,
        by_key([("open", yes()), ("gone", yes()), ("stranger", yes())].map(|(key, answer)| (key, sent(answer)))),
    );
    assert_eq!(ask(&round, "used", "Used?").unwrap(), yes());
    assert_eq!(ask(&round, "open", "Open?").unwrap(), yes());
    assert!(matches!(ask(&round, "new", "New?"), Err(Halt::Pending)));
    let (asked, after) = end(&round);
    assert_eq!(asked, ["new"]);
    let answers = by_key([("used", given("Used?", yes())), ("open", given("Open?", yes()))]);
    assert_eq!(after, Progress { answers, questions: by_key([("new", open("New?"))]), ..Progress::default() });
}

#[test]
fn d5_a_decline_is_to_the_words_that_were_declined() {
    let decline = json!({ "action": "decline" });
    let before = Progress { answers: by_key([("sure", given("Sure?", decline.clone()))]), ..Progress::default() };
    let same = Round::new(before.clone(), ByKey::default());
    assert_eq!(ask(&same, "sure", "Sure?").unwrap(), decline);
    let reworded = Round::new(before, ByKey::default());
    assert!(matches!(ask(&reworded, "sure", "Really sure?"), Err(Halt::Pending)));
    let (asked, after) = end(&reworded);
    assert_eq!(asked, ["sure"]);
    let questions = by_key([("sure", open("Really sure?"))]);
    assert_eq!(after, Progress { questions, ..Progress::default() }, "the old answer is gone");
}

#[test]
fn d5_d7_an_entry_that_no_longer_fits_is_asked_for_again() {
    let other = json!({ "action": "accept", "content": { "yes": "perhaps" } });
    let before = Progress { answers: by_key([("sure", given("Sure?", other))]), ..Progress::default() };
    let round = Round::new(before, ByKey::default());
    assert!(matches!(ask(&round, "sure", "Sure?"), Err(Halt::Pending)));
    assert_eq!(end(&round).0, ["sure"]);
}

#[test]
fn a_round_without_an_answer_changes_no_count() {
    let (bad, reworded) = (2, 1);
    let questions = by_key([("sure", Open { bad, reworded, ..open("Sure?") })]);
    let round = Round::new(Progress { questions: questions.clone(), ..Progress::default() }, ByKey::default());
    assert!(matches!(ask(&round, "sure", "Sure?"), Err(Halt::Pending)));
    assert_eq!(end(&round).1.questions, questions);
}

#[test]
fn steps_are_known_in_their_own_round_and_all_that_follow() {
    let round = Round::new(Progress::default(), ByKey::default());
    assert_eq!(round.recorded("charge"), None);
    round.record("charge", json!(100));
    assert_eq!(round.recorded("charge"), Some(json!(100)));
    let next = Round::new(end(&round).1, ByKey::default());
    assert_eq!(next.recorded("charge"), Some(json!(100)));
}

#[test]
fn d13_an_answer_to_other_words_is_logged_without_what_it_says() {
    let secret = json!({ "action": "accept", "content": { "yes": true, "note": "topsecret" } });
    let lines = Log::of(|| {
        let before = Progress {
            answers: by_key([("recorded", given("Old?", secret.clone()))]),
            questions: by_key([("late", open("Old?"))]),
            ..Progress::default()
        };
        let round = Round::new(before, by_key([("late", sent(secret))]));
        assert!(matches!(ask(&round, "recorded", "New?"), Err(Halt::Pending)));
        assert!(matches!(ask(&round, "late", "New?"), Err(Halt::Pending)));
    });
    assert!(
        lines.contains("a recorded answer is to other words than the question has now key=\"recorded\""),
        "{lines}"
    );
    assert!(lines.contains("an answer is to other words than the question has now: it is asked again key=\"late\""));
    assert!(!lines.contains("topsecret"), "{lines}");
}

#[test]
fn an_answer_that_nobody_has_looked_at_is_carried_on_and_no_progress() {
    let before = Progress {
        answers: by_key([("used", given("Used?", yes()))]),
        questions: by_key([("open", open("Open?"))]),
        ..Progress::default()
    };
    let junk = json!({ "action": "accept", "content": { "yes": "perhaps" } });
    for (answer, looked_at, further) in [(yes(), true, true), (yes(), false, false), (junk, false, false)] {
        let round = Round::new(before.clone(), by_key([("open", sent(answer.clone()))]));
        assert_eq!(ask(&round, "used", "Used?").unwrap(), yes());
        if looked_at {
            assert_eq!(ask(&round, "open", "Open?").unwrap(), answer);
        }
        assert!(matches!(ask(&round, "new", "New?"), Err(Halt::Pending)));
        round.cut_short();
        let parked = round.parked().expect("it asks");
        assert_eq!(parked.further, further, "{answer} looked at: {looked_at}");
        let answers = by_key([("used", given("Used?", yes())), ("open", given("Open?", answer))]);
        assert_eq!(Progress::read(&parked.state).answers, answers);
    }
}

#[test]
fn d12_what_is_asked_by_hand_has_its_key_to_itself() {
    let round = Round::new(Progress::default(), ByKey::default());
    let posed = Posed { key: "sure".to_owned(), question: question("Delete the copy?") };
    round.hand_on(NextRound { questions: vec![posed], state: None }).expect("it can be asked");
    // A task of the function's, which has returned.
    let Err(Halt::Mistake(mistake)) = ask(&round, "sure", "Delete everything?") else {
        panic!("an answer to the one would be one to the other")
    };
    assert!(mistake.to_string().starts_with("two questions are asked under the key `sure`"), "{mistake}");
}
