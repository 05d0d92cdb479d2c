// 5:38: a `Server` has no `auth`: authentication is a setting of HTTP, `.http(http::Config::new().auth(..))`
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").auth(());
}
