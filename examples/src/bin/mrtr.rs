//! One tool for each way to ask in rounds, and one for each way in which a task can go. Tests of clients can use them all.

use std::time::Duration;

use rejoinder::{
    Outcome,
    ask::{Roots, Sample, Sampling},
    model::error_code,
    prelude::*,
};
use serde::{Deserialize, Serialize};

#[derive(Elicit)]
struct UserName {
    name: String,
}

#[derive(Elicit)]
struct Colour {
    #[elicit(name = "color")]
    colour: String,
}

#[derive(Elicit)]
struct Fine {
    ok: bool,
}

#[derive(Elicit)]
struct Deletion {
    confirm: bool,
}

fn whats_your_name() -> Ask<UserName> {
    Ask::user("What is your name?")
}

// Rounds: the client gets the question with the reply, and sends the request again with the answer.

/// Greet the user.
#[tool(read_only)]
async fn test_tool_with_elicitation(ctx: Context) -> Result<String, CallError> {
    let UserName { name } = ctx.ask("user_name", whats_your_name()).await?;
    Ok(format!("Hello, {name}!"))
}

/// Ask the client's model.
#[tool(read_only)]
async fn test_incomplete_result_sampling(ctx: Context) -> Result<String, CallError> {
    let question = Sampling::new("What is the capital of France?").max_tokens(100);
    let said = ctx.ask("capital_question", Ask::sample(question)).await?;
    Ok(format!("model said: {}", said.text()))
}

/// List the folders of the client.
#[tool(read_only)]
async fn test_incomplete_result_list_roots(ctx: Context) -> Result<String, CallError> {
    let roots = ctx.ask("client_roots", Ask::roots()).await?;
    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
    Ok(format!("client roots: {}", uris.join(", ")))
}

/// Ask, and keep something of its own in the state that the client carries.
#[tool(read_only)]
async fn test_incomplete_result_request_state(rounds: Rounds) -> Result<Reply<&'static str>, CallError> {
    let asks = || Reply::ask("confirm", Ask::<Fine>::user("Please confirm"));
    match (rounds.state(), rounds.answer::<Fine>("confirm")) {
        (Some(Asked { times }), Some(Outcome::Accepted(Fine { ok: true }))) if times > 0 => Ok(Reply::done("state-ok")),
        (_, Some(_)) => Err(CallError::new("the user does not agree")),
        (before, None) => Ok(asks().with_state(Asked { times: before.map_or(0, |Asked { times }| times) + 1 })),
    }
}

/// How often it has asked.
#[derive(Serialize, Deserialize)]
struct Asked {
    times: u32,
}

/// Ask three things of three kinds at once.
#[tool(read_only)]
async fn test_incomplete_result_multiple_inputs(ctx: Context) -> Result<&'static str, CallError> {
    let greeting = Sampling::new("Write a greeting").max_tokens(50);
    let (_, _, _): (UserName, Sample, Roots) = tokio::try_join!(
        ctx.ask("user_name", whats_your_name()),
        ctx.ask("greeting", Ask::sample(greeting)),
        ctx.ask("client_roots", Ask::roots()),
    )?;
    Ok("got name + greeting + roots")
}

/// Ask for a name, and then a question that depends on it.
#[tool(read_only)]
async fn test_incomplete_result_multi_round(ctx: Context) -> Result<String, CallError> {
    let UserName { name } = ctx.ask("step1", Ask::user("Step 1: What is your name?")).await?;
    let second = Ask::user(format!("Step 2: {name}, what is your favorite color?"));
    let Colour { colour } = ctx.ask("step2", second).await?;
    Ok(format!("Hi {name}, your favorite color is {colour}."))
}

/// Ask until there is an answer under the right key.
#[tool(read_only)]
async fn test_incomplete_result_elicitation(ctx: Context) -> Result<String, CallError> {
    let UserName { name } = ctx.ask("user_name", whats_your_name()).await?;
    Ok(format!("Hello, {name}!"))
}

// Tasks: the client gets an id, and asks how the task is.

#[resolver]
fn user_name() -> Ask<UserName> {
    whats_your_name()
}

/// Ask in a round, and then greet in a task.
#[tool(task(required))]
async fn test_tool_with_task(#[resolve(user_name)] user: &UserName) -> String {
    format!("Hello, {}! (computed in task)", user.name)
}

/// Ask in a round, and then once more in a task.
#[tool(task(required))]
async fn paint_room(#[resolve(user_name)] user: &UserName, ctx: Context) -> Result<String, CallError> {
    let question = Ask::user(format!("{}, what is your favorite color?", user.name));
    let Colour { colour } = ctx.ask("color", question).await?;
    ctx.once("paint", || async { Ok(()) }).await?;
    Ok(format!("{}'s room is {colour} now", user.name))
}

/// Greet. Never a task.
#[tool(read_only)]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Compute for some seconds.
#[tool(read_only, task)]
async fn slow_compute(
    #[arg(min = 0.0, max = 3600.0)] seconds: f64,
    #[arg(default)] label: String,
    ctx: Context,
) -> Result<String, CallError> {
    ctx.status(format!("computing {label}")).await;
    ctx.sleep("compute", Duration::from_secs_f64(seconds)).await?;
    Ok(format!("Computation \"{label}\" completed after {seconds} seconds. Result: 42."))
}

/// Fail with an error that the model reads: the task completes.
#[tool(task(required))]
async fn failing_job() -> Result<(), CallError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(CallError::new("this job always fails"))
}

/// Fail with an error of the protocol: the task fails.
#[tool(task)]
async fn protocol_error_job() -> Result<(), CallError> {
    Err(CallError::protocol(error_code::INTERNAL_ERROR, "this job breaks the protocol", None))
}

/// Delete a file if the user agrees.
#[tool(destructive, task)]
async fn confirm_delete(filename: String, ctx: Context) -> Result<String, CallError> {
    let Deletion { confirm } = ctx.ask("confirm", Ask::user(format!("Delete '{filename}'?"))).await?;
    Ok(format!("{} '{filename}'", if confirm { "deleted" } else { "kept" }))
}

/// Ask two things at once.
#[tool(read_only, task)]
async fn multi_input(ctx: Context) -> Result<String, CallError> {
    let (UserName { name }, Deletion { confirm }) =
        tokio::try_join!(ctx.ask("name", whats_your_name()), ctx.ask("confirm", Ask::user("Do you agree?")),)?;
    Ok(format!("name=\"{name}\" confirmed={confirm}"))
}

/// Wait for a job that runs elsewhere.
#[tool(task)]
async fn external_job(
    #[arg(default = 3, max = 100)] looks: u32,
    #[arg(default = 1.0, min = 0.0, max = 60.0)] every: f64,
    ctx: Context,
) -> Result<String, CallError> {
    let job = ctx.once("submit", || async { Ok(ctx.idempotency_key("submit")) }).await?;
    for look in 1..=looks {
        // Each sleep is a step, so that a later run does not begin to wait anew.
        ctx.sleep(format!("look {look}"), Duration::from_secs_f64(every)).await?;
        ctx.progress(look).total(looks).await;
    }
    Ok(format!("the job is done after {looks} looks; its key has {} characters", job.len()))
}

fn server() -> Server {
    Server::new("rounds-and-tasks", "1.0.0")
        .tools(tools![
            test_tool_with_elicitation,
            test_incomplete_result_sampling,
            test_incomplete_result_list_roots,
            test_incomplete_result_request_state,
            test_incomplete_result_multiple_inputs,
            test_incomplete_result_multi_round,
            test_incomplete_result_elicitation,
        ])
        .tools(tools![
            test_tool_with_task,
            paint_room,
            greet,
            slow_compute,
            failing_job,
            protocol_error_job,
            confirm_delete,
            multi_input,
            external_job,
        ])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{
        model::TaskStatus,
        testing::{Client, ClientAnswer, in_both_eras},
    };
    use serde_json::{Value, json};

    use super::*;

    fn ada() -> UserName {
        UserName { name: "Ada".into() }
    }

    /// A client that answers everything.
    fn client() -> Client {
        let sample = |text: &str| json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": text }, "stopReason": "endTurn" });
        Client::new(server())
            .answer("user_name", ada())
            .answer("step1", ada())
            .answer("step2", Colour { colour: "blue".into() })
            .answer("color", Colour { colour: "blue".into() })
            .answer("confirm", Deletion { confirm: true })
            .answer("name", ada())
            .answer_with("capital_question", sample("Paris"))
            .answer_with("greeting", sample("Hi!"))
            .answer_with("client_roots", json!({ "roots": [{ "uri": "file:///home" }] }))
    }

    async fn said(client: &Client, tool: &str, arguments: Value) -> (String, Vec<Vec<String>>) {
        let reply = client.call_tool(tool, arguments).await.expect(tool);
        assert!(!reply.is_error(), "{tool}: {}", reply.text());
        (reply.text(), reply.asked)
    }

    #[tokio::test]
    async fn every_tool_that_asks_in_rounds_does_so_in_both_eras() {
        in_both_eras(
            client().answer_with("confirm", json!({ "action": "accept", "content": { "ok": true } })),
            async |client| {
                for (tool, text, rounds) in [
                    ("test_tool_with_elicitation", "Hello, Ada!", 1),
                    ("test_incomplete_result_sampling", "model said: Paris", 1),
                    ("test_incomplete_result_list_roots", "client roots: file:///home", 1),
                    ("test_incomplete_result_request_state", "state-ok", 1),
                    ("test_incomplete_result_multi_round", "Hi Ada, your favorite color is blue.", 2),
                    ("test_incomplete_result_elicitation", "Hello, Ada!", 1),
                ] {
                    let (said, asked) = said(&client, tool, json!({})).await;
                    assert_eq!((said.as_str(), asked.len()), (text, rounds), "{tool}");
                }
                let (said, asked) = said(&client, "test_incomplete_result_multiple_inputs", json!({})).await;
                assert_eq!((said.as_str(), asked.concat().len()), ("got name + greeting + roots", 3));
            },
        )
        .await;
    }

    #[tokio::test]
    async fn an_answer_under_another_key_is_asked_again() {
        let client = client();
        let call = json!({ "name": "test_incomplete_result_elicitation" });
        let asked = client.request("tools/call", call.clone()).await.expect("a question");
        let mut retry = call;
        retry["requestState"] = asked["requestState"].clone();
        retry["inputResponses"] = json!({ "wrong": { "action": "accept", "content": { "name": "Ada" } } });
        let again = client.request("tools/call", retry).await.expect("a question");
        assert_eq!(again["inputRequests"], asked["inputRequests"]);
    }

    #[tokio::test]
    async fn a_tool_asks_in_rounds_then_makes_a_task_then_asks_in_it() {
        let client = client().tasks();
        let (said, asked) = said(&client, "test_tool_with_task", json!({})).await;
        assert_eq!((said.as_str(), asked), ("Hello, Ada! (computed in task)", vec![vec!["user_name".to_owned()]]));

        let task = client.start_task("paint_room", json!({})).await.expect("a task, after a round");
        let question = task.until_asked("color").await.expect("it asks");
        assert_eq!(question["params"]["message"], "Ada, what is your favorite color?");
        task.answer("color", Colour { colour: "green".into() }).await.expect("it is taken");
        assert_eq!(task.finish().await.expect("an end").text(), "Ada's room is green now");
        assert_eq!((task.steps(), task.runs()), (vec!["paint".to_owned()], 2));
    }

    #[tokio::test]
    async fn tasks_end_in_every_way() {
        let client = client().tasks();
        for (tool, arguments, text) in [
            ("greet", json!({ "name": "Ada" }), "Hello, Ada!"),
            ("confirm_delete", json!({ "filename": "a.txt" }), "deleted 'a.txt'"),
            ("multi_input", json!({}), "name=\"Ada\" confirmed=true"),
            (
                "slow_compute",
                json!({ "seconds": 0, "label": "L" }),
                "Computation \"L\" completed after 0 seconds. Result: 42.",
            ),
            ("external_job", json!({ "every": 0 }), "the job is done after 3 looks; its key has 22 characters"),
        ] {
            assert_eq!(said(&client, tool, arguments).await.0, text, "{tool}");
        }
        let failed = client.call_tool("failing_job", json!({})).await.expect("a result");
        assert!(failed.is_error() && failed.text() == "this job always fails", "{}", failed.text());
        let error = client.call_tool("protocol_error_job", json!({})).await.expect_err("an error");
        assert_eq!(error.code(), Some(error_code::INTERNAL_ERROR));

        let task = client.start_task("slow_compute", json!({ "seconds": 3600 })).await.expect("a task");
        task.cancel().await.expect("it is cancelled");
        assert_eq!(task.show().await.expect("the task").status, TaskStatus::Cancelled);
    }

    #[tokio::test]
    async fn two_questions_are_answered_one_by_one() {
        let client = client().tasks();
        let task = client.start_task("multi_input", json!({})).await.expect("a task");
        task.until_asked("confirm").await.expect("it asks");
        task.answer_with("confirm", ClientAnswer::decline()).await.expect("it is taken");
        let shown = task.get().await.expect("the task");
        assert_eq!(shown["inputRequests"].as_object().expect("questions").keys().collect::<Vec<_>>(), ["name"]);
        task.answer("name", ada()).await.expect("it is taken");
        let reply = task.finish().await.expect("an end");
        assert!(reply.is_error() && reply.text() == "the user declined `confirm`", "{}", reply.text());
    }

    #[tokio::test]
    async fn a_client_without_tasks_gets_plain_calls() {
        let client = client();
        assert_eq!(said(&client, "confirm_delete", json!({ "filename": "a.txt" })).await.0, "deleted 'a.txt'");
        assert_eq!(client.call_tool("failing_job", json!({})).await.expect_err("it needs a task").code(), Some(-32021));
    }
}
