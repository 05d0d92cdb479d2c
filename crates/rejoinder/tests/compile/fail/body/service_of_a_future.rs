// 13:52: this must be a function of the `ServerHandle`, not a future: write `async |_| Pool::connect(url).await`
use rejoinder::prelude::*;

struct Pool;

impl Pool {
    async fn connect(_: &str) -> Result<Self, std::io::Error> {
        Ok(Self)
    }
}

fn main() {
    let _ = Server::new("shop", "1").provide_async(Pool::connect("db://"));
}
