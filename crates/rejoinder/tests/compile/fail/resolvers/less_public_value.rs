// 8:23: private type `Price` in public interface
mod shop {
    use rejoinder::prelude::*;

    struct Price(u8);

    #[resolver]
    pub fn price() -> Result<Price, CallError> {
        Ok(Price(1))
    }
}

fn main() {}
