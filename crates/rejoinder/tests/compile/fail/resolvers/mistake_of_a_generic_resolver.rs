use rejoinder::prelude::*;

// What is wrong with a resolver is told where it is; its types, where it is named, are no matter then.
#[resolver(kye = "loaded")]
fn load<T: Default + Send + Sync>() -> Vec<T> {
    vec![T::default()]
}

#[tool]
fn first(#[resolve(load::<String>)] all: Vec<String>, #[resolve(load)] others: Vec<u8>) -> usize {
    all.len() + others.len()
}

fn main() {
    let _ = tools![first];
}
