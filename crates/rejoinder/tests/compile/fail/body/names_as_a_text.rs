// 5:50: these are several names: write a list, `["name"]`
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").allow_tools("read");
}
