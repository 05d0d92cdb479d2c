// 6:22: a gate is not a method: move the resolver out of the `impl` block
use rejoinder::prelude::*;

struct Plant;

#[handlers(enabled = Self::is_admin)]
impl Plant {
    #[resolver]
    fn is_admin(&self) -> bool {
        true
    }

    #[tool]
    async fn restart(&self) {}
}

fn main() {
    let _ = std::sync::Arc::new(Plant).tools();
}
