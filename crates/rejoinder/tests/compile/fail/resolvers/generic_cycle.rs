// 5:35: resolvers need each other in a cycle: `even` (generic_cycle.rs:5) -> `odd` (generic_cycle.rs:10) -> `even`; remove one of these parameters
use rejoinder::prelude::*;

#[resolver]
fn even<T: Send + Sync>(#[resolve(odd::<T>)] odd: bool) -> bool {
    !odd
}

#[resolver]
fn odd<T: Send + Sync>(#[resolve(even::<T>)] even: bool) -> bool {
    !even
}

#[tool]
async fn first(#[resolve(odd::<u8>)] odd: bool) -> bool {
    odd
}

fn main() {
    let _ = tools![first];
}
