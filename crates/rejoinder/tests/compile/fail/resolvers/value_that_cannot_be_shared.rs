// 7:14: `Cell<usize>` cannot be the value of a resolver, which is shared by everything that takes it
use std::{cell::Cell, rc::Rc};

use rejoinder::prelude::*;

#[resolver]
fn size() -> Cell<usize> {
    Cell::new(3)
}

#[resolver]
async fn name() -> Result<Ask<Rc<str>>, CallError> {
    Ok(Ask::known("Ada".into()))
}

// The functions that take them do not report it again, whether they could hold them or not.
#[resolver]
async fn length(#[resolve(name)] name: &Rc<str>) -> usize {
    name.len()
}

#[tool]
async fn delete(#[resolve(size)] size: &Cell<usize>, #[resolve(length)] length: usize) -> String {
    format!("{} {length}", size.get())
}

fn main() {
    let _ = tools![delete];
}
