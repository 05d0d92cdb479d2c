//! Tasks whose process dies, sleeps that last, and times that are up.

use std::{sync::atomic::Ordering, time::Duration};

use rejoinder::{
    call::CallEnd,
    prelude::*,
    tasks::Tasks,
    testing::{Client, Cut},
};
use serde_json::json;

use super::{Counter, client, journal, yes};
use crate::journal::Journal;

/// Submits, asks, and replaces: the world outside counts how often each is done.
#[tool(task(ttl = "48h"))]
async fn render(ctx: Context, scope: Scope, journal: Dep<Journal>) -> Result<String, CallError> {
    let ended = journal.clone();
    scope.defer(move |end: CallEnd| async move { ended.note(format!("{end:?}")) });
    let job = ctx
        .once("submit", || async {
            journal.note(format!("submit {}", ctx.idempotency_key("submit").len()));
            Ok(7)
        })
        .await?;
    let font = ctx.ask("font", Ask::text("Which font instead?")).await?;
    ctx.once("replace", || async {
        journal.note(format!("replace {font}"));
        Ok(())
    })
    .await?;
    Ok(format!("{job} {font}"))
}

fn inter() -> rejoinder::form::TextForm {
    rejoinder::form::TextForm { text: "Inter".into() }
}

fn server() -> Server {
    Server::new("studio", "1.0.0").tools(tools![render])
}

const LEASE: Duration = Duration::from_secs(12);

#[tokio::test]
async fn p2_p3_a_step_that_was_recorded_never_runs_again_and_one_in_flight_may() {
    for (cut, submits) in [(Cut::BeforeRecord, 2), (Cut::AfterRecord, 1)] {
        let client = client(server()).kill_at("submit", cut);
        let task = client.start_task("render", json!({})).await.unwrap();
        client.advance(LEASE).await;
        task.until_asked("font").await.unwrap();
        task.answer("font", inter()).await.unwrap();
        assert_eq!(task.finish().await.unwrap().text(), "7 Inter");
        let notes = journal(&client).take();
        assert_eq!(notes.iter().filter(|note| *note == "submit 22").count(), submits, "{notes:?}");
        assert!(!notes.contains(&"Cancelled".to_owned()), "no teardown of the dead process: {notes:?}");
        assert_eq!(task.steps().last().map(String::as_str), Some("replace"));
    }
}

#[tokio::test]
async fn p6_a_question_is_asked_once_wherever_the_process_dies() {
    for cut in [Cut::BeforeRecord, Cut::AfterRecord] {
        let client = client(server()).kill_at("font", cut);
        let task = client.start_task("render", json!({})).await.unwrap();
        client.advance(LEASE).await;
        task.until_asked("font").await.unwrap();
        task.answer("font", inter()).await.unwrap();
        assert_eq!(task.finish().await.unwrap().text(), "7 Inter");
    }
}

#[tokio::test]
async fn p7_nobody_goes_on_before_the_lease_has_ended() {
    let client = client(server()).kill_at("submit", Cut::AfterRecord);
    let task = client.start_task("render", json!({})).await.unwrap();
    client.advance(Duration::from_secs(5)).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!((task.runs(), task.show().await.unwrap().status), (1, rejoinder::model::TaskStatus::Working));
    client.advance(Duration::from_secs(7)).await;
    task.until_asked("font").await.unwrap();
    assert_eq!(task.runs(), 2);
}

#[tokio::test]
async fn a_task_whose_process_dies_three_times_without_a_new_step_fails() {
    /// Kills its process in every run.
    #[tool(task)]
    async fn poison(ctx: Context) -> Result<(), CallError> {
        ctx.once("drink", || async { Ok(()) }).await
    }
    let mut client = client(Server::new("apothecary", "1.0.0").tools(tools![poison]));
    for _ in 0..3 {
        client = client.kill_at("drink", Cut::BeforeRecord);
    }
    let task = client.start_task("poison", json!({})).await.unwrap();
    for _ in 0..3 {
        client.advance(LEASE).await;
    }
    let shown = task.until(|_| false).await.unwrap();
    assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(-32603)), "{shown}");
    assert!(shown["statusMessage"].as_str().unwrap().contains("died"), "{shown}");
}

#[tokio::test]
async fn a_long_sleep_parks_and_the_function_runs_again_when_it_is_over() {
    /// Sleeps twice.
    #[tool(task(ttl = "48h"))]
    async fn remind(ctx: Context, journal: Dep<Journal>) -> Result<&'static str, CallError> {
        journal.note("runs");
        ctx.sleep("first night", Duration::from_secs(8 * 3600)).await?;
        ctx.sleep("second night", Duration::from_secs(8 * 3600)).await?;
        Ok("good morning")
    }
    let client = client(Server::new("clock", "1.0.0").tools(tools![remind]));
    let task = client.start_task("remind", json!({})).await.unwrap();
    for run in 1..3 {
        while task.steps().len() < run {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(task.runs(), run);
        client.advance(Duration::from_secs(8 * 3600)).await;
    }
    assert_eq!(task.finish().await.unwrap().text(), "good morning");
    assert_eq!(task.steps(), ["first night", "second night"]);
    assert_eq!(journal(&client).take(), ["runs"; 3]);
}

#[tokio::test]
async fn a_question_beside_a_sleep_stays_open_and_its_answer_counts() {
    /// Asks, and goes on without an answer after an hour.
    #[tool(task(ttl = "48h"))]
    async fn patient(ctx: Context) -> Result<String, CallError> {
        tokio::select! {
            // A task goes on when all of its open questions are answered: after the hour, `sure` is not asked any more.
            biased;
            slept = ctx.sleep("an hour", Duration::from_secs(3600)) => {
                slept?;
                let late = ctx.ask("late", Ask::confirm("Still there?")).await?;
                Ok(format!("late {late}"))
            }
            sure = ctx.ask("sure", Ask::confirm("Sure?")) => Ok(format!("answered {}", sure?)),
        }
    }
    let client = client(Server::new("desk", "1.0.0").tools(tools![patient])).allow_other_paths();
    let answered = client.start_task("patient", json!({})).await.unwrap();
    answered.until_asked("sure").await.unwrap();
    answered.answer("sure", yes()).await.unwrap();
    assert_eq!(answered.finish().await.unwrap().text(), "answered true");
    let late = client.start_task("patient", json!({})).await.unwrap();
    late.until_asked("sure").await.unwrap();
    client.advance(Duration::from_secs(3601)).await;
    late.until_asked("late").await.unwrap();
    late.answer("late", yes()).await.unwrap();
    assert_eq!(late.finish().await.unwrap().text(), "late true");
}

#[tokio::test]
async fn t20_a_task_fails_at_its_ttl_and_can_be_read_for_a_while() {
    /// Waits for its user.
    #[tool(task)]
    async fn wait(ctx: Context, scope: Scope, journal: Dep<Journal>) -> Result<bool, CallError> {
        let journal = journal.clone();
        scope.defer(move |end: CallEnd| async move { journal.note(format!("{end:?}")) });
        ctx.ask("go", Ask::confirm("Go on?")).await
    }
    let client = client(Server::new("short", "1.0.0").tools(tools![wait]));
    let task = client.start_task("wait", json!({})).await.unwrap();
    task.until_asked("go").await.unwrap();
    client.advance(Duration::from_secs(3590)).await;
    assert_eq!(task.show().await.unwrap().status, rejoinder::model::TaskStatus::InputRequired);
    client.advance(Duration::from_secs(20)).await;
    let shown = task.until(|_| false).await.unwrap();
    assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert!(shown["statusMessage"].as_str().unwrap().contains("ttlMs"), "{shown}");
    client.advance(Duration::from_secs(9 * 60)).await;
    task.get().await.expect("it is kept for ten minutes");
    client.advance(Duration::from_secs(30 * 60)).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let gone = client.request("tasks/get", json!({ "taskId": task.id() })).await.unwrap_err();
    assert_eq!(gone.code(), Some(-32602));
}

#[tokio::test]
async fn a_task_that_no_process_runs_waits() {
    let serves_only = Tasks::default().at_once(0);
    let server = server().provide(Journal::default()).provide(Counter::default()).tasks(serves_only);
    let client = Client::new(server).tasks().capabilities(super::askable());
    let task = client.start_task("render", json!({})).await.unwrap();
    let shown = task.get().await.unwrap();
    assert_eq!((&shown["status"], shown.get("statusMessage")), (&json!("working"), None));
}

#[tokio::test]
async fn cut_everywhere_finds_nothing_in_a_body_that_may_run_again() {
    let client = client(server()).answer("font", inter());
    let reply = client.cut_everywhere().call_tool("render", json!({})).await.unwrap();
    assert_eq!((reply.text().as_str(), &*reply.asked), ("7 Inter", &[vec!["font".to_owned()]][..]));
}

#[tokio::test]
async fn cut_everywhere_names_the_place_where_a_body_differs() {
    /// What it counts is not a step.
    #[tool(task)]
    async fn count(ctx: Context, counter: Dep<Counter>) -> Result<u32, CallError> {
        let number = counter.next();
        ctx.once("noted", || async { Ok(()) }).await?;
        Ok(number.min(2))
    }
    let client = client(Server::new("counter", "1.0.0").tools(tools![count]));
    let error = client.cut_everywhere().call_tool("count", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("dies before `noted` is kept") && error.contains("`2`"), "{error}");
}

#[tokio::test]
async fn cut_everywhere_sends_the_rounds_of_other_calls_again() {
    /// Charges, asks, and ships.
    #[tool]
    async fn order(ctx: Context, counter: Dep<Counter>) -> Result<String, CallError> {
        let receipt: u32 = ctx.once("charge", || async { Ok(7) }).await?;
        let sure = ctx.ask("sure", Ask::confirm("Ship?")).await?;
        ctx.once("ship", || async {
            counter.next();
            Ok(())
        })
        .await?;
        Ok(format!("{receipt} {sure}"))
    }
    let server = Server::new("shop", "1.0.0").provide(Counter::default()).tools(tools![order]);
    let client = Client::new(server).answer("sure", yes());
    let reply = client.clone().cut_everywhere().call_tool("order", json!({})).await.unwrap();
    assert_eq!(reply.text(), "7 true");
    // Without a death, before and after `charge`, and twice each before and after `ship`.
    assert_eq!(client.dependency::<Counter>().0.load(Ordering::SeqCst), 1 + 2 + 2 + 2);
}

#[tokio::test]
async fn a_question_that_was_asked_again_stays_open_when_the_task_wakes() {
    /// Asks, and is patient for an hour at a time.
    #[tool(task(ttl = "48h"))]
    async fn patient(ctx: Context) -> Result<bool, CallError> {
        let asks = ctx.ask("sure", Ask::confirm("Sure?"));
        let sleeps = async {
            for hour in 0..3 {
                ctx.sleep(format!("hour {hour}"), Duration::from_secs(3600)).await?;
            }
            Ok::<_, CallError>(false)
        };
        tokio::select! { sure = asks => sure, late = sleeps => late }
    }
    let client = client(Server::new("patience", "1.0.0").tools(tools![patient])).allow_other_paths();
    let task = client.start_task("patient", json!({})).await.unwrap();
    task.until_asked("sure").await.unwrap();
    let bad = json!({ "action": "accept", "content": { "yes": "maybe" } });
    task.answer_with("sure", rejoinder::testing::ClientAnswer::with(bad)).await.unwrap();
    let again = task.until_asked("sure~2").await.unwrap();
    let runs = task.runs();
    client.advance(Duration::from_secs(3601)).await;
    while task.runs() == runs {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let shown = task.get().await.unwrap();
    assert_eq!(
        shown["inputRequests"].as_object().unwrap().iter().collect::<Vec<_>>(),
        [(&"sure~2".to_owned(), &again)]
    );
    task.answer("sure~2", yes()).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "true");
}

#[tokio::test]
async fn steps_are_shown_with_those_of_a_process_that_died_and_sleeps_are_skipped() {
    /// Takes steps, and sleeps for two nights.
    #[tool(task(ttl = "48h"))]
    async fn nights(ctx: Context) -> Result<&'static str, CallError> {
        ctx.once("one", || async { Ok(()) }).await?;
        ctx.sleep("night", Duration::from_secs(8 * 3600)).await?;
        ctx.sleep("nap", Duration::from_secs(3)).await?;
        ctx.once("two", || async { Ok(()) }).await?;
        Ok("awake")
    }
    let client = client(Server::new("bed", "1.0.0").tools(tools![nights]));
    let reply = client.clone().cut_everywhere().call_tool("nights", json!({})).await.unwrap();
    assert_eq!(reply.text(), "awake");
    let client = client.kill_at("one", Cut::AfterRecord);
    let task = client.start_task("nights", json!({})).await.unwrap();
    client.advance(LEASE).await;
    while task.runs() < 2 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    while task.steps().len() < 2 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    client.advance(Duration::from_secs(8 * 3600)).await;
    while task.steps().len() < 3 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    client.advance(Duration::from_secs(4)).await;
    assert_eq!(task.finish().await.unwrap().text(), "awake");
    assert_eq!(task.steps(), ["one", "night", "nap", "two"]);
}

#[tokio::test]
async fn short_sleeps_are_skipped_too() {
    /// Naps for longer than a test waits.
    #[tool(task)]
    async fn naps(ctx: Context) -> Result<&'static str, CallError> {
        for nap in 0..20 {
            ctx.sleep(format!("nap {nap}"), Duration::from_secs(5)).await?;
        }
        Ok("awake")
    }
    let client = client(Server::new("sofa", "1.0.0").tools(tools![naps]));
    assert_eq!(client.call_tool("naps", json!({})).await.unwrap().text(), "awake");
}

#[tokio::test]
async fn a_process_that_was_to_die_and_did_not_fails_the_test() {
    let client = client(server()).answer("font", inter()).kill_at("sumbit", Cut::AfterRecord);
    let error = client.call_tool("render", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("no process has died at `sumbit`"), "{error}");
}

#[tokio::test]
async fn finish_says_what_the_task_asks() {
    let client = client(server());
    let task = client.start_task("render", json!({})).await.unwrap();
    let error = task.finish().await.unwrap_err().to_string();
    assert!(error.contains("it asks `font`: answer it with `ClientTask::answer`"), "{error}");
}
