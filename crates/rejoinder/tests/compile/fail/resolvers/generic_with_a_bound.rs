// 17:26: the trait bound `String: Copy` is not satisfied
use std::rc::Rc;

use rejoinder::prelude::*;

#[resolver]
fn load<T: Default>() -> Vec<T> {
    vec![T::default()]
}

#[resolver]
fn filled<T: Copy + Default + Send + Sync, const N: usize>() -> [T; N] {
    [T::default(); N]
}

#[tool]
async fn first(#[resolve(filled::<String, 3>)] all: &[String; 3]) -> String {
    all[0].clone()
}

fn main() {}
