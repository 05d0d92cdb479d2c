// 9:17: `(dyn Store + 'static)` cannot be a service, because calls on several threads share it
use rejoinder::prelude::*;

trait Store {
    fn count(&self) -> u64;
}

#[tool]
fn count(store: Dep<dyn Store>) -> u64 {
    store.count()
}

fn main() {
    let _ = tools![count];
}
