// 14:21: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

mod disk {
    use rejoinder::prelude::*;

    #[resolver]
    pub(crate) fn size() -> usize {
        3
    }
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
