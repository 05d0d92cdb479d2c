// 5:10: future cannot be sent between threads safely
use rejoinder::prelude::*;

#[resolver]
async fn size() -> usize {
    let size = std::rc::Rc::new(3);
    tokio::task::yield_now().await;
    *size
}

#[tool]
fn delete(#[resolve(size)] size: usize) -> String {
    size.to_string()
}

fn main() {
    let _ = tools![delete];
}
