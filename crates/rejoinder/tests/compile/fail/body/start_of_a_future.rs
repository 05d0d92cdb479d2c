// 5:47: this must be a function of the `ServerHandle`, not a future: write `async |_| Pool::connect(url).await`
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").on_start(async {});
}
