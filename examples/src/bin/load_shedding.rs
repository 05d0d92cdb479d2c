//! A long computation that any replica can continue: a busy replica returns what it has so far.

use std::sync::atomic::{AtomicUsize, Ordering};

use rejoinder::prelude::*;
use serde::{Deserialize, Serialize};

/// The load of this process.
struct Load {
    running: AtomicUsize,
    most: usize,
}

impl Load {
    fn is_too_much(&self) -> bool {
        self.running.load(Ordering::Relaxed) > self.most
    }
}

/// The progress so far. The client carries it, sealed, to the next replica.
#[derive(Serialize, Deserialize)]
struct Search {
    /// The smallest factor is at least this.
    from: u64,
}

/// Find the smallest factor of a number.
#[tool(read_only)]
async fn factor(number: u64, rounds: Rounds, scope: Scope, load: Dep<Load>) -> Result<Reply<u64>, CallError> {
    if number < 2 {
        return Err(CallError::new("`number` must be at least 2"));
    }
    load.running.fetch_add(1, Ordering::Relaxed);
    let ended = load.clone();
    scope.defer(move |_| async move {
        ended.running.fetch_sub(1, Ordering::Relaxed);
    });
    let Search { mut from } = rounds.state().unwrap_or(Search { from: 2 });
    while from.saturating_mul(from) <= number {
        for candidate in from..from + 1000 {
            if number.is_multiple_of(candidate) {
                return Ok(Reply::done(candidate));
            }
        }
        from += 1000;
        if load.is_too_much() {
            return Ok(Reply::resume(Search { from }));
        }
        tokio::task::yield_now().await;
    }
    Ok(Reply::done(number))
}

fn server(most: usize) -> Server {
    Server::new("factors", "1.0.0").provide(Load { running: AtomicUsize::new(0), most }).tools(tools![factor])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    // The number of searches that this replica runs at once.
    let most = std::env::var("AT_ONCE").ok().and_then(|most| most.parse().ok());
    server(most.unwrap_or(64)).serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{
        call::Era,
        state::{StateKeys, StatePolicy},
        testing::Client,
    };
    use serde_json::{Value, json};

    use super::*;

    /// The product of two primes.
    const NUMBER: u64 = 10_007 * 10_009;

    fn replica(most: usize) -> Client {
        let keys = StateKeys::new(["a key that both replicas have, for this test only"]).expect("long enough");
        Client::new(server(most).state(StatePolicy::new().keys(keys)))
    }

    async fn round(replica: &Client, state: Option<&Value>) -> Value {
        let mut params = json!({ "name": "factor", "arguments": { "number": NUMBER } });
        if let Some(state) = state {
            params["requestState"] = state.clone();
        }
        replica.request("tools/call", params).await.expect("a round")
    }

    #[tokio::test]
    async fn an_idle_replica_finishes_what_a_busy_one_began() {
        let (busy, idle) = (replica(0), replica(64));
        let first = round(&busy, None).await;
        assert_eq!(first["resultType"], "input_required");
        assert!(first.get("inputRequests").is_none(), "the user is not asked anything");
        let last = round(&idle, Some(&first["requestState"])).await;
        assert_eq!(last["content"][0]["text"], "10007");
    }

    #[tokio::test]
    async fn a_replica_that_is_always_busy_also_finishes() {
        for era in [Era::Stateless, Era::Session] {
            let reply = replica(0).era(era).call_tool("factor", json!({ "number": NUMBER })).await.expect("a reply");
            assert_eq!(reply.text(), "10007");
            assert!(reply.asked.concat().is_empty());
        }
    }

    #[tokio::test]
    async fn an_idle_replica_finishes_in_one_round() {
        let reply = replica(1).call_tool("factor", json!({ "number": 97 })).await.expect("a reply");
        assert_eq!((reply.text().as_str(), reply.asked.len()), ("97", 0));
    }
}
