// 17:28: `#[resolve(..)]` does not name a resolver
use rejoinder::prelude::*;

fn user() -> String {
    String::new()
}

mod tools {
    use rejoinder::prelude::*;

    #[resolver]
    fn user() -> String {
        String::new()
    }

    #[tool]
    pub fn greet(#[resolve(crate::user)] user: String) {
        let _ = user;
    }
}

fn main() {}
