// 5:38: a `Server` is served with `.serve_from_args()`, `.serve_http(address)` or `.serve_stdio()`
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").into_service();
}
