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
