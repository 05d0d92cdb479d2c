// 14:29: `Self::load` is generic: name its types, `#[resolve(Self::load::<..>)]`
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
