//! Tools and a prompt that ask the client.

use rejoinder::{
    Ask, Outcome,
    ask::{Roots, Sample, Sampling},
    prelude::*,
};

/// The name of the user.
#[derive(Elicit)]
pub struct UserName {
    pub name: String,
}

/// Yes or no.
#[derive(Elicit)]
pub struct Fine {
    ok: bool,
}

/// A subject.
#[derive(Elicit)]
pub struct About {
    context: String,
}

/// A colour.
#[derive(Elicit)]
pub struct Colour {
    color: String,
}

/// An account.
#[derive(Elicit, Debug)]
pub struct Account {
    username: String,
    email: String,
}

/// Fields with defaults of every kind.
#[derive(Elicit, Debug)]
pub struct Defaults {
    #[elicit(default = "John Doe")]
    name: String,
    #[elicit(default = 30)]
    age: i64,
    #[elicit(default = 95.5)]
    score: f64,
    #[elicit(default = Status::Active)]
    status: Status,
    #[elicit(default = true)]
    verified: bool,
}

#[derive(ElicitEnum, Debug)]
#[elicit(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

#[derive(ElicitEnum, Debug)]
#[elicit(rename_all = "lowercase")]
enum Plain {
    Option1,
    Option2,
    Option3,
}

#[derive(ElicitEnum, Debug)]
#[elicit(rename_all = "lowercase")]
enum Titled {
    #[elicit(title = "First")]
    Value1,
    #[elicit(title = "Second")]
    Value2,
}

#[derive(ElicitEnum, Debug)]
#[elicit(rename_all = "lowercase", legacy_names)]
enum Legacy {
    #[elicit(title = "Option one")]
    Opt1,
    #[elicit(title = "Option two")]
    Opt2,
}

/// Choices of every kind.
#[derive(Elicit, Debug)]
pub struct Choices {
    #[elicit(name = "untitledSingle")]
    untitled_single: Plain,
    #[elicit(name = "titledSingle")]
    titled_single: Titled,
    #[elicit(name = "legacyEnum")]
    legacy: Legacy,
    #[elicit(name = "untitledMulti")]
    untitled_multi: Vec<Plain>,
    #[elicit(name = "titledMulti")]
    titled_multi: Vec<Titled>,
}

/// Asks the client's model.
#[tool]
pub async fn test_sampling(prompt: String, ctx: Context) -> Result<String, CallError> {
    let sample = ctx.ask("sample", Ask::sample(Sampling::new(prompt).max_tokens(100))).await?;
    Ok(format!("LLM response: {}", sample.text()))
}

/// Asks the user for an account.
#[tool]
pub async fn test_elicitation(message: String, ctx: Context) -> Result<String, CallError> {
    let outcome: Outcome<Account> = ctx.try_ask("account", Ask::user(message)).await?;
    Ok(format!("User response: {outcome:?}"))
}

/// Asks with a default for everything.
#[tool]
pub async fn test_elicitation_sep1034_defaults(ctx: Context) -> Result<String, CallError> {
    let outcome: Outcome<Defaults> = ctx.try_ask("defaults", Ask::user("Please review the defaults")).await?;
    Ok(format!("Elicitation completed: {outcome:?}"))
}

/// Asks with choices of every kind.
#[tool]
pub async fn test_elicitation_sep1330_enums(ctx: Context) -> Result<String, CallError> {
    let outcome: Outcome<Choices> = ctx.try_ask("choices", Ask::user("Please choose")).await?;
    Ok(format!("Elicitation completed: {outcome:?}"))
}

/// Asks for a name. The question goes out with the reply, not on a stream.
#[tool]
pub async fn test_streaming_elicitation(ctx: Context) -> Result<String, CallError> {
    Ok(ctx.ask::<UserName>("user_name", Ask::user("What is your name?")).await?.name)
}

/// One question.
#[tool]
pub async fn test_input_required_result_elicitation(ctx: Context) -> Result<String, CallError> {
    let UserName { name } = ctx.ask("user_name", Ask::user("What is your name?").allow_unsolicited()).await?;
    Ok(format!("Hello, {name}!"))
}

/// A question to the client's model.
#[tool]
pub async fn test_input_required_result_sampling(ctx: Context) -> Result<String, CallError> {
    let question = Sampling::new("What is the capital of France?").max_tokens(100);
    Ok(ctx.ask("capital_question", Ask::sample(question)).await?.text())
}

/// The client's roots.
#[tool]
pub async fn test_input_required_result_list_roots(ctx: Context) -> Result<String, CallError> {
    let roots = ctx.ask("client_roots", Ask::roots()).await?.roots;
    Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(", "))
}

/// A question whose state is checked.
#[tool]
pub async fn test_input_required_result_request_state(ctx: Context) -> Result<&'static str, CallError> {
    let _: Fine = ctx.ask("confirm", Ask::user("Please confirm")).await?;
    Ok("state-ok")
}

/// A question whose state the suite tampers with.
#[tool]
pub async fn test_input_required_result_tampered_state(ctx: Context) -> Result<&'static str, CallError> {
    let _: Fine = ctx.ask("confirm", Ask::user("Please confirm")).await?;
    Ok("state-ok")
}

/// Three questions of three kinds at once.
#[tool]
pub async fn test_input_required_result_multiple_inputs(ctx: Context) -> Result<String, CallError> {
    let greeting = Sampling::new("Generate a greeting").max_tokens(50);
    let (name, greeting, roots): (Result<UserName, _>, Result<Sample, _>, Result<Roots, _>) = tokio::join!(
        ctx.ask("user_name", Ask::user("What is your name?")),
        ctx.ask("greeting", Ask::sample(greeting)),
        ctx.ask("client_roots", Ask::roots()),
    );
    Ok(format!("{}: {} ({} roots)", name?.name, greeting?.text(), roots?.roots.len()))
}

/// A question that waits for the answer to another.
#[tool]
pub async fn test_input_required_result_multi_round(ctx: Context) -> Result<String, CallError> {
    let UserName { name } = ctx.ask("step1", Ask::user("Step 1: What is your name?")).await?;
    let Colour { color } = ctx.ask("step2", Ask::user(format!("Step 2: {name}, what is your favorite color?"))).await?;
    Ok(format!("Hi {name}, your favorite color is {color}."))
}

/// Asks only what the client can answer.
#[tool]
pub async fn test_input_required_result_capabilities(ctx: Context) -> Result<String, CallError> {
    let stranger = UserName { name: "stranger".into() };
    let (name, greeting): (Result<UserName, _>, Result<Sample, _>) = tokio::join!(
        ctx.ask("user_name", Ask::user("What is your name?").fallback(stranger)),
        ctx.ask("greeting", Ask::sample(Sampling::new("Generate a greeting").max_tokens(50))),
    );
    Ok(format!("{}, {}", greeting?.text(), name?.name))
}

/// A prompt that asks.
#[prompt]
pub async fn test_input_required_result_prompt(ctx: Context) -> Result<String, CallError> {
    let About { context } = ctx.ask("user_context", Ask::user("What is this about?")).await?;
    Ok(format!("Write something about {context}."))
}
