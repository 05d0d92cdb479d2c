// 5:46: `Rc<{integer}>` cannot be a service, because calls on several threads share it
use rejoinder::prelude::*;

fn main() {
    let _ = Server::new("shop", "1").provide(std::rc::Rc::new(1));
}
