// 14:29: missing generics for struct `__rj_Shop_load`
use rejoinder::prelude::*;

struct Shop;

#[handlers]
impl Shop {
    #[resolver]
    fn load<T: Default>() -> T {
        T::default()
    }

    #[tool]
    fn buy(&self, #[resolve(Self::load)] price: u32) -> u32 {
        price
    }
}

fn main() {
    let _ = std::sync::Arc::new(Shop).tools();
}
