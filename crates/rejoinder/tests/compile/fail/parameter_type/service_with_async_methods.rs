// 9:26: the trait `Store` is not dyn compatible
use rejoinder::prelude::*;

trait Store: Send + Sync {
    async fn get(&self) -> u8;
}

#[tool]
async fn read(store: Dep<dyn Store>) -> u8 {
    store.get().await
}

fn main() {}
