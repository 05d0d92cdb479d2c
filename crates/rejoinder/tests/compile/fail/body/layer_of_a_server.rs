// 5:42: a `Server` takes functions around its operations, `.middleware(..)`; tower layers are for `.build()?.into_service()`
use rejoinder::Server;

fn main() {
    let _ = Server::new("shop", "1.0.0").layer(());
}
