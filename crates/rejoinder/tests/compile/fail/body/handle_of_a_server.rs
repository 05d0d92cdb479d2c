// 5:34: a server that is built has a handle, `.build()?.handle()`, and a function takes one as a parameter, `server: ServerHandle`
use rejoinder::Server;

fn main() {
    Server::new("shop", "1.0.0").handle().gates_changed();
}
