//! How often a call allocates, by how many resolvers it has, printed as JSON.
//!
//! A separate program: counting takes time, so nothing is timed here.

use allocation_counter::measure;
use rejoinder_bench::inside::nodes;
use serde_json::{Map, Value, json};

fn main() {
    let mut counts = Map::<String, Value>::new();
    for (name, tool) in nodes::tools() {
        // The first call makes what later ones share.
        nodes::call(&tool);
        let found = measure(|| nodes::call(&tool));
        counts.insert(name, json!({ "allocations": found.count_total, "bytes": found.bytes_total }));
    }
    println!("{}", Value::Object(counts));
}
