// 11:40: missing generics for struct `load`
use rejoinder::prelude::*;

#[resolver]
fn load<T: Default + Clone + Send + Sync>(path: &str) -> T {
    let _ = path;
    T::default()
}

#[tool]
async fn first(path: String, #[resolve(load)] user: String) -> String {
    path + &user
}

fn main() {
    let _ = tools![first];
}
