// 7:6: `#[handlers]` does not support generic types yet: write the types out
use rejoinder::prelude::*;

struct Shop<T>(T);

#[handlers]
impl<T: ToString> Shop<T> {
    #[tool]
    fn buy(&self) -> String {
        self.0.to_string()
    }
}

fn main() {}
