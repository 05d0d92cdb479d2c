//! A state is good for ten minutes, and each round that gets further makes another one.

use std::{
    sync::Mutex,
    time::{Duration, SystemTime},
};

use super::*;
use crate::rounds::seal::StatePolicy;

/// A server, and how late it is there.
struct Shop {
    engine: Arc<Engine>,
    now: Arc<Mutex<SystemTime>>,
}

impl Shop {
    fn open() -> Self {
        let now = Arc::new(Mutex::new(SystemTime::now()));
        let clock = Arc::clone(&now);
        let server = server().state(StatePolicy::new().clock(move || *clock.lock().expect("nobody panics")));
        Self { engine: server.build().expect("wired right").0, now }
    }

    fn wait(&self, minutes: u64) {
        *self.now.lock().expect("nobody panics") += Duration::from_secs(60 * minutes);
    }

    /// One round, with yes to those questions; its state, or the code of its error.
    async fn round(&self, state: Option<&Value>, yes: &[&str]) -> Result<Value, i64> {
        self.round_with(state, yes, json!(true)).await
    }

    /// One round, with that answer to those questions; its state, or the code of its error.
    async fn round_with(&self, state: Option<&Value>, keys: &[&str], yes: Value) -> Result<Value, i64> {
        let answer = |key: &&str| ((*key).to_owned(), json!({ "action": "accept", "content": { "yes": yes } }));
        let answers: serde_json::Map<String, Value> = keys.iter().map(answer).collect();
        let mut params = json!({ "name": "buy", "inputResponses": answers });
        params["requestState"] = state.cloned().unwrap_or_default();
        let mut reply = reply(&self.engine, "tools/call", params).await;
        match reply["error"]["code"].as_i64() {
            Some(code) => Err(code),
            None => Ok(reply["result"]["requestState"].take()),
        }
    }
}

const REFUSED: i64 = -32602;

#[tokio::test]
async fn a_consent_cannot_be_kept_alive_by_sending_it_again_and_again() {
    let shop = Shop::open();
    let asked = shop.round(None, &[]).await.unwrap();
    let agreed = shop.round(Some(&asked), &["sure"]).await.unwrap();
    shop.wait(9);
    let mut again = shop.round(Some(&agreed), &[]).await.unwrap();
    // An answer to something that was not asked is not progress either.
    again = shop.round(Some(&again), &["sure", "no such question"]).await.unwrap();
    shop.wait(2);
    assert_eq!(shop.round(Some(&again), &[]).await, Err(REFUSED));
    assert_eq!(shop.round(Some(&again), &["really"]).await, Err(REFUSED));
}

#[tokio::test]
async fn a_round_that_gets_further_has_ten_minutes_of_its_own() {
    let shop = Shop::open();
    let mut state = shop.round(None, &[]).await.unwrap();
    for question in ["sure", "really"] {
        shop.wait(9);
        state = shop.round(Some(&state), &[question]).await.unwrap();
    }
    shop.wait(9);
    assert_eq!(shop.round(Some(&state), &["gift"]).await, Ok(Value::Null), "it is done");
}

#[tokio::test]
async fn a_call_that_has_recorded_nothing_may_take_its_time() {
    let shop = Shop::open();
    let mut state = shop.round(None, &[]).await.unwrap();
    for _ in 0..3 {
        shop.wait(9);
        state = shop.round(Some(&state), &[]).await.unwrap();
    }
    assert!(shop.round(Some(&state), &["sure"]).await.is_ok());
}

#[tokio::test]
async fn r_m3_an_answer_that_does_not_fit_leaves_ten_minutes_to_correct_it() {
    let shop = Shop::open();
    let asked = shop.round(None, &[]).await.unwrap();
    let mut state = shop.round(Some(&asked), &["sure"]).await.unwrap();
    for _ in 0..2 {
        shop.wait(9);
        state = shop.round_with(Some(&state), &["really"], json!("perhaps")).await.unwrap();
    }
    shop.wait(9);
    let corrected = shop.round(Some(&state), &["really"]).await;
    assert!(matches!(&corrected, Ok(Value::String(_))), "the next question is asked: {corrected:?}");
    let third = shop.round_with(Some(&state), &["really"], json!("perhaps")).await;
    assert_eq!(third, Ok(Value::Null), "the third such answer ends the call");
}
