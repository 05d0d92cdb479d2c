// 16:21: unresolved import `memory::size`
use rejoinder::prelude::*;

mod disk {
    use rejoinder::prelude::*;

    #[resolver]
    pub fn size() -> usize {
        3
    }
}

mod memory {}

#[tool]
fn delete(#[resolve(memory::size)] size: usize, #[resolve(disk::sizes)] sizes: usize) -> String {
    format!("{size} {sizes}")
}

fn main() {
    let _ = tools![delete];
}
