//! Random programs of questions, steps, progress, tasks and concurrent branches have the same outcome in both eras.
//!
//! Listed differences, because a session waits for answers where a stateless call starts again:
//!
//! * if a program makes several mistakes, another one of them may end the call;
//! * if one place uses a key with `once` and another one with `once_shared`, it depends on their order whether that is a mistake
//!   (no program here does).

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use proptest::{collection::vec, prelude::*, test_runner::Config};
use rejoinder::BoxFuture;

use super::*;

#[derive(Debug, Clone)]
enum Statement {
    /// Asks under a key; a second text under the same key is a mistake.
    Ask { key: &'static str, text: &'static str },
    /// Takes a step; a second step under the same key is a mistake unless the key is one of [`SHARED`].
    Once { key: &'static str, inside: Program },
    /// Reports progress.
    Progress,
    /// Waits for nothing.
    Yield,
    /// Runs in a spawned task, and waits for it.
    Spawn(Program),
    /// Runs both concurrently.
    Join(Program, Program),
}

type Program = Vec<Statement>;

const STEPS: [&str; 4] = ["one", "two", "three", "four"];

/// The steps that several places use. They are the same in each.
const SHARED: [&str; 2] = ["three", "four"];

fn shared(key: &'static str) -> Program {
    match key {
        "three" => vec![Statement::Yield, Statement::Once { key: "four", inside: shared("four") }],
        _ => vec![Statement::Yield],
    }
}

fn ask() -> impl Strategy<Value = Statement> {
    let text = prop_oneof![9 => Just("Who?"), 1 => Just("Who else?")];
    (prop_oneof![Just("accepted"), Just("declined"), Just("cancelled")], text)
        .prop_map(|(key, text)| Statement::Ask { key, text })
}

/// A statement without tasks: a step that waits for a task which asks never ends.
fn in_a_step() -> impl Strategy<Value = Statement> {
    prop_oneof![ask(), Just(Statement::Progress), Just(Statement::Yield)]
        .prop_recursive(2, 6, 3, |inner| step(vec(inner, 0..3)))
}

fn step(inside: impl Strategy<Value = Program>) -> impl Strategy<Value = Statement> {
    (prop::sample::select(&STEPS[..]), inside).prop_map(|(key, inside)| Statement::Once { key, inside })
}

fn program() -> impl Strategy<Value = Program> {
    let leaf = prop_oneof![3 => ask(), 3 => step(vec(in_a_step(), 0..3)), 1 => Just(Statement::Progress), 1 => Just(Statement::Yield)];
    let statement = leaf.prop_recursive(3, 16, 4, |inner| {
        let program = || vec(inner.clone(), 0..4);
        prop_oneof![
            program().prop_map(Statement::Spawn),
            (program(), program()).prop_map(|(one, other)| Statement::Join(one, other)),
        ]
    });
    vec(statement, 0..6).prop_map(|program| in_order(program, 0))
}

/// Lets steps contain only steps that come after them in [`STEPS`]: concurrent steps that contain each other never end.
fn in_order(program: Program, first: usize) -> Program {
    let statements = program.into_iter().filter_map(|statement| match statement {
        Statement::Once { key, inside } => {
            let at = STEPS.iter().position(|step| *step == key)?.max(first);
            let key = STEPS.get(at)?;
            let inside = if SHARED.contains(key) { shared(key) } else { in_order(inside, at + 1) };
            Some(Statement::Once { key, inside })
        }
        Statement::Spawn(program) => Some(Statement::Spawn(in_order(program, first))),
        Statement::Join(one, other) => Some(Statement::Join(in_order(one, first), in_order(other, first))),
        other => Some(other),
    });
    statements.collect()
}

/// How often each step was completed.
#[derive(Default)]
struct Completed(Mutex<BTreeMap<&'static str, u32>>);

/// Runs a program; its value shows everything that it has seen.
fn run(program: Program, ctx: Context, completed: Arc<Completed>) -> BoxFuture<'static, Result<String, CallError>> {
    Box::pin(async move {
        let mut seen = Vec::new();
        for statement in program {
            let (ctx, completed) = (ctx.clone(), Arc::clone(&completed));
            seen.push(match statement {
                Statement::Ask { key, text } => format!("{key} {:?}", ctx.try_ask::<Name>(key, Ask::user(text)).await?),
                Statement::Once { key, inside } => {
                    let inner = ctx.clone();
                    let step = move || async move {
                        let value = run(inside, inner, Arc::clone(&completed)).await?;
                        *completed.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
                        Ok(value)
                    };
                    let is_shared = SHARED.contains(&key);
                    let taken = if is_shared { ctx.once_shared(key, step).await } else { ctx.once(key, step).await };
                    format!("{key} ({})", taken?)
                }
                Statement::Progress => {
                    ctx.progress(1.0).await;
                    "progress".to_owned()
                }
                Statement::Yield => {
                    tokio::task::yield_now().await;
                    "yield".to_owned()
                }
                Statement::Spawn(program) => format!("task ({})", tokio::spawn(run(program, ctx, completed)).await??),
                Statement::Join(one, other) => {
                    let (one, other) =
                        tokio::try_join!(run(one, ctx.clone(), Arc::clone(&completed)), run(other, ctx, completed))?;
                    format!("both ({one}; {other})")
                }
            });
        }
        Ok(seen.join(", "))
    })
}

#[tool]
async fn interpret(program: Dep<Program>, completed: Dep<Completed>, ctx: Context) -> Result<String, CallError> {
    run(Program::clone(&program), ctx, completed.into_inner()).await
}

/// What a program returns, and how often it completed its steps; `None` if a mistake ends the call.
type Outcomes = Option<(String, BTreeMap<&'static str, u32>)>;

async fn outcome(program: &Program, era: Era) -> Outcomes {
    let completed = Arc::new(Completed::default());
    let server = Server::new("programs", "1").provide(program.clone()).provide_arc(Arc::clone(&completed));
    let client = Client::new(server.tools(tools![interpret])).era(era);
    let client = client.answer("accepted", ada()).decline("declined").cancel("cancelled");
    // The clock is paused: it moves only if nothing else can.
    let called = tokio::time::timeout(Duration::from_secs(3600), client.call_tool("interpret", json!({})));
    let reply = called.await.expect("it ends").unwrap();
    let completed = completed.0.lock().unwrap().clone();
    (!reply.is_error()).then(|| (reply.text(), completed))
}

fn in_both_eras(program: &Program) -> [Outcomes; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    [Era::Stateless, Era::Session].map(|era| runtime.block_on(outcome(program, era)))
}

/// In the last round the step is taken from the record before the one that contains another of its key.
#[test]
fn a_key_for_two_steps_is_a_mistake_also_if_both_are_recorded() {
    let two = || Statement::Once { key: "two", inside: vec![] };
    let asks = Statement::Ask { key: "accepted", text: "Who?" };
    let contains_it = Statement::Once { key: "one", inside: vec![two()] };
    let program = vec![Statement::Join(vec![asks, two()], vec![contains_it])];
    assert_eq!(in_both_eras(&program), [None, None]);
}

proptest! {
    #![proptest_config(Config { cases: 300, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_program_has_the_same_outcome_in_both_eras(program in program()) {
        let [stateless, session] = in_both_eras(&program);
        prop_assert_eq!(stateless, session);
    }
}
