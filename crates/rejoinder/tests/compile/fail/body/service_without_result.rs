// 7:38: a service is made with a `Result`: write `async |_| Pool::connect(url).await`, or `async |_| Ok::<_, CallError>(service)`
use rejoinder::prelude::*;

struct Pool;

fn main() {
    let _ = Server::new("shop", "1").provide_async(async |_| Pool);
}
