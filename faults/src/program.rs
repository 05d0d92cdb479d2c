//! The program that every process runs: tools that become tasks. Its editions differ by a step.

use std::{collections::BTreeMap, time::Duration};

use rejoinder::{Tool, prelude::*};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::world::{Kind, World};

/// What the process is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Edition {
    First,
    /// With two steps more, in another order.
    Added,
    /// With a step less.
    Removed,
}

impl Edition {
    /// The steps before the question, and those after it.
    fn steps(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::First => (&["reserve", "pay"], &["ship"]),
            Self::Added => (&["audit", "pay", "reserve"], &["notify", "ship"]),
            Self::Removed => (&["reserve"], &["ship"]),
        }
    }
}

/// The key of the question.
pub(crate) const QUESTION: &str = "count";

/// How many.
#[derive(Debug, Serialize, Deserialize, Elicit)]
pub(crate) struct Count {
    count: u32,
}

/// What a task returns.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Ordered {
    pub(crate) count: u32,
    /// The values of its steps.
    pub(crate) steps: BTreeMap<String, String>,
}

/// Has a few steps, a question, and a step after it.
#[tool(task(required, ttl = "24h"))]
async fn order(
    order: String,
    pause: u32,
    padding: Option<String>,
    world: Dep<World>,
    edition: Dep<Edition>,
    ctx: Context,
) -> Result<Json<Ordered>, CallError> {
    let _ = padding;
    let (before, after) = edition.steps();
    let mut steps = BTreeMap::new();
    world.note(Kind::Run, &order, "", ("", ""));
    world.pass(&order, "start").await;
    let step = async |name: &str| {
        let key = ctx.idempotency_key(name);
        let work = || async {
            let value = World::new_value();
            world.note(Kind::Did, &order, name, (&key, &value));
            world.pass(&order, &format!("in {name}")).await;
            sleep(Duration::from_millis(pause.into())).await;
            Ok::<_, CallError>(value)
        };
        let value: String = ctx.once(name, work).await?;
        world.note(Kind::Has, &order, name, (&key, &value));
        world.pass(&order, &format!("after {name}")).await;
        Ok::<_, CallError>((name.to_owned(), value))
    };
    for name in before {
        steps.extend([step(name).await?]);
    }
    world.pass(&order, "before the question").await;
    let Count { count } = ctx.ask(QUESTION, Ask::user("How many?")).await?;
    world.note(Kind::Answer, &order, "", ("", &count.to_string()));
    world.pass(&order, "answered").await;
    for name in after {
        steps.extend([step(name).await?]);
    }
    world.note(Kind::Returns, &order, "", ("", ""));
    Ok(Json(Ordered { count, steps }))
}

/// Ends its process, when the client knows of the task.
#[tool(task(required, ttl = "24h"))]
async fn poison(order: String, pause: u32, world: Dep<World>) -> &'static str {
    world.note(Kind::Run, &order, "", ("", ""));
    sleep(Duration::from_millis(pause.into())).await;
    std::process::abort()
}

/// All of them.
pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    rejoinder::tools![order, poison]
}
