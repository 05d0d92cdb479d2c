// 5:47: `T` cannot be an argument
use rejoinder::prelude::*;

#[resolver]
fn twice<T: Clone + Send + Sync>(#[arg] path: T) -> (T, T) {
    (path.clone(), path)
}

#[tool]
fn delete(path: String, #[resolve(twice::<String>)] twice: (String, String)) -> String {
    path + &twice.0
}

fn main() {
    let _ = tools![delete];
}
