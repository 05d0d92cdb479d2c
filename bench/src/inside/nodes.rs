//! Tools whose parameters are filled by resolvers that do nothing but add.
//!
//! In a chain each resolver needs the one before it; in a fan none needs another, and all of them run at once.

use rejoinder::Tool;
use rejoinder::prelude::*;

/// The two ways in which resolvers can need each other, and how many there are: a tool takes at most 16 parameters.
pub const SHAPES: [(&str, [usize; 4]); 2] = [("chain", [0, 1, 8, 32]), ("fan", [0, 1, 8, 16])];

/// Every tool, under its shape and the number of its resolvers.
pub fn tools() -> impl Iterator<Item = (String, Tool)> {
    let tools = tools![none, chain_1, chain_8, chain_32, none, fan_1, fan_8, fan_16];
    let names = SHAPES.into_iter().flat_map(|(shape, counts)| counts.map(|count| format!("{shape} {count}")));
    names.zip(tools)
}

/// Calls a tool as the server does, but for the network: reads its arguments, fills its parameters, runs it.
///
/// # Panics
///
/// If it does not succeed at once.
pub fn call(tool: &Tool) {
    rejoinder::__private::call_at_once(tool);
}

/// No resolver.
#[tool]
async fn none() -> u64 {
    0
}

macro_rules! chain {
    ($first:ident $($rest:ident)*) => {
        #[resolver]
        fn $first() -> u64 {
            1
        }
        chain!(after $first, $($rest)*);
    };
    (after $before:ident, $next:ident $($rest:ident)*) => {
        #[resolver]
        fn $next(#[resolve($before)] before: u64) -> u64 {
            before + 1
        }
        chain!(after $next, $($rest)*);
    };
    (after $last:ident,) => {};
}

chain! {
        c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 c20 c21 c22 c23 c24 c25
        c26 c27 c28 c29 c30 c31 c32
}

/// The first of the chain.
#[tool]
async fn chain_1(#[resolve(c1)] last: u64) -> u64 {
    last
}

/// Eight of the chain.
#[tool]
async fn chain_8(#[resolve(c8)] last: u64) -> u64 {
    last
}

/// The whole chain.
#[tool]
async fn chain_32(#[resolve(c32)] last: u64) -> u64 {
    last
}

macro_rules! leaves {
    ($($leaf:ident)*) => { $(
        #[resolver]
        fn $leaf() -> u64 {
            1
        }
    )* };
}

macro_rules! fan {
    ($tool:ident of $($leaf:ident)*) => {
        #[tool]
        #[expect(clippy::too_many_arguments, reason = "many resolvers are the point")]
        async fn $tool($(#[resolve($leaf)] $leaf: u64),*) -> u64 {
            0 $(+ $leaf)*
        }
    };
}

leaves! {
    leaf_1 leaf_2 leaf_3 leaf_4 leaf_5 leaf_6 leaf_7 leaf_8 leaf_9 leaf_10 leaf_11 leaf_12 leaf_13 leaf_14 leaf_15 leaf_16
}

/// One leaf.
#[tool]
async fn fan_1(#[resolve(leaf_1)] leaf: u64) -> u64 {
    leaf
}

fan!(fan_8 of leaf_1 leaf_2 leaf_3 leaf_4 leaf_5 leaf_6 leaf_7 leaf_8);

fan!(fan_16 of leaf_1 leaf_2 leaf_3 leaf_4 leaf_5 leaf_6 leaf_7 leaf_8 leaf_9 leaf_10 leaf_11 leaf_12 leaf_13 leaf_14 leaf_15 leaf_16);

#[cfg(test)]
mod tests {
    use rejoinder::testing::Client;

    use super::*;

    #[test]
    fn every_tool_runs_without_a_server() {
        let names: Vec<String> = tools().inspect(|(_, tool)| call(tool)).map(|(name, _)| name).collect();
        assert_eq!(names.len(), 8);
    }

    #[tokio::test]
    async fn each_resolver_runs_and_adds_one() {
        let client = Client::new(Server::new("bench", "1.0.0").tools(tools![chain_32, fan_16]));
        for (tool, resolvers) in [("chain_32", 32), ("fan_16", 16)] {
            let reply = client.call_tool(tool, serde_json::json!({})).await.unwrap();
            assert_eq!((reply.text(), reply.ran[0].len()), (resolvers.to_string(), resolvers));
        }
    }
}
