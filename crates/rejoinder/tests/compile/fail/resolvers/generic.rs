// 8:40: `Store<T>` cannot be injected
use rejoinder::prelude::*;

struct Store<T>(Vec<T>);

// What depends on a type parameter is injected, unless it is marked `#[arg]`.
#[resolver]
fn load<T: Clone + Send + Sync>(store: Store<T>) -> Option<T> {
    store.0.first().cloned()
}

#[resolver]
fn length<T: Send + Sync>(path: &str, _store: Dep<Store<T>>) -> usize {
    path.len()
}

fn main() {}
