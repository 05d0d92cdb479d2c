//! A tool that asks only what this update needs: resolving an item asks how, and a duplicate asks for the original.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum State {
    Active,
    Resolved,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct WorkItem {
    state: State,
    resolution: Option<Resolution>,
    duplicate_of: Option<u32>,
}

impl WorkItem {
    const ACTIVE: Self = Self { state: State::Active, resolution: None, duplicate_of: None };
}

struct WorkItems(Mutex<BTreeMap<u32, WorkItem>>);

impl Default for WorkItems {
    fn default() -> Self {
        Self(Mutex::new(BTreeMap::from([(4301, WorkItem::ACTIVE), (4522, WorkItem::ACTIVE)])))
    }
}

impl WorkItems {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, WorkItem>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, id: u32) -> Result<WorkItem, CallError> {
        self.lock().get(&id).cloned().ok_or_else(|| CallError::new(format!("there is no work item {id}")))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, ElicitEnum)]
enum Resolution {
    Fixed,
    #[elicit(title = "Won't fix")]
    WontFix,
    Duplicate,
    #[elicit(title = "By design")]
    ByDesign,
}

#[derive(Elicit)]
struct Resolved {
    /// How it was resolved
    resolution: Resolution,
}

#[derive(Elicit)]
struct DuplicateOf {
    /// The original item
    id: u32,
}

/// Only an item that becomes resolved needs a resolution.
#[resolver]
fn resolution(id: u32, state: State, items: Dep<WorkItems>) -> Result<Ask<Option<Resolution>>, CallError> {
    items.get(id)?;
    Ok(match state {
        State::Active => Ask::known(None),
        State::Resolved => Ask::user(format!("How was {id} resolved?")).map(|it: Resolved| Some(it.resolution)),
    })
}

/// Only a duplicate has an original. This resolver runs after `resolution`.
#[resolver]
fn duplicate_of(id: u32, #[resolve(resolution)] resolution: &Option<Resolution>) -> Ask<Option<u32>> {
    match resolution {
        Some(Resolution::Duplicate) => {
            Ask::user(format!("Which item is {id} a duplicate of?")).map(|it: DuplicateOf| Some(it.id))
        }
        _ => Ask::known(None),
    }
}

/// Change the state of a work item.
#[tool(idempotent)]
async fn update_work_item(
    /// The number of the item
    id: u32,
    /// The new state
    state: State,
    #[resolve(resolution)] resolution: &Option<Resolution>, // a decline ends the call
    #[resolve(duplicate_of)] duplicate_of: &Option<u32>,
    items: Dep<WorkItems>,
) -> Result<Json<WorkItem>, CallError> {
    if let Some(original) = duplicate_of {
        items.get(*original)?;
    }
    let item = WorkItem { state, resolution: *resolution, duplicate_of: *duplicate_of };
    items.lock().insert(id, item.clone());
    Ok(Json(item))
}

fn server() -> Server {
    Server::new("work-items", "1.0.0").provide(WorkItems::default()).tools(tools![update_work_item])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    server().serve_from_args().await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rejoinder::{call::Era, testing::Client};
    use serde_json::json;

    use super::*;

    /// Sets the state of 4522 in each era. Returns the reply, the questions and the item.
    async fn update(state: State, answers: impl Fn(Client) -> Client) -> [(String, String, WorkItem); 2] {
        let update = async |era| {
            let items = Arc::new(WorkItems::default());
            let client = answers(Client::new(server().provide_arc(Arc::clone(&items))).era(era));
            let reply = client.call_tool("update_work_item", json!({ "id": 4522, "state": state })).await.unwrap();
            let said = if reply.is_error() { reply.text() } else { "updated".into() };
            (said, reply.asked.concat().join(", "), items.get(4522).unwrap())
        };
        [update(Era::Stateless).await, update(Era::Session).await]
    }

    fn resolved(resolution: Resolution) -> impl Fn(Client) -> Client {
        move |client| client.answer("resolution", Resolved { resolution })
    }

    #[tokio::test]
    async fn an_active_item_asks_nothing() {
        for updated in update(State::Active, |client| client).await {
            assert_eq!(updated, ("updated".into(), String::new(), WorkItem::ACTIVE));
        }
    }

    #[tokio::test]
    async fn a_resolved_item_asks_how() {
        for resolution in [Resolution::Fixed, Resolution::WontFix, Resolution::ByDesign] {
            let item = WorkItem { state: State::Resolved, resolution: Some(resolution), duplicate_of: None };
            for updated in update(State::Resolved, resolved(resolution)).await {
                assert_eq!(updated, ("updated".into(), "resolution".into(), item.clone()));
            }
        }
    }

    #[tokio::test]
    async fn a_duplicate_asks_for_the_original() {
        let resolution = Some(Resolution::Duplicate);
        let item = WorkItem { state: State::Resolved, resolution, duplicate_of: Some(4301) };
        let answers = |client| resolved(Resolution::Duplicate)(client).answer("duplicate_of", DuplicateOf { id: 4301 });
        for updated in update(State::Resolved, answers).await {
            assert_eq!(updated, ("updated".into(), "resolution, duplicate_of".into(), item.clone()));
        }
    }

    #[tokio::test]
    async fn a_decline_changes_nothing() {
        for (said, asked, item) in update(State::Resolved, |client| client.decline("resolution")).await {
            assert_eq!(said, "the user declined `resolution`");
            assert_eq!((asked.as_str(), item), ("resolution", WorkItem::ACTIVE));
        }
        let late = |client| resolved(Resolution::Duplicate)(client).decline("duplicate_of");
        for (said, asked, item) in update(State::Resolved, late).await {
            assert_eq!(said, "the user declined `duplicate_of`");
            assert_eq!((asked.as_str(), item), ("resolution, duplicate_of", WorkItem::ACTIVE));
        }
    }

    #[tokio::test]
    async fn the_original_must_exist() {
        let answers = |client| resolved(Resolution::Duplicate)(client).answer("duplicate_of", DuplicateOf { id: 1 });
        for (said, _, item) in update(State::Resolved, answers).await {
            assert_eq!((said.as_str(), item), ("there is no work item 1", WorkItem::ACTIVE));
        }
    }
}
