// 7:20: `Rc<str>` cannot be the value of a resolver, which is shared by everything that takes it
use std::{cell::Cell, rc::Rc};

use rejoinder::prelude::*;

#[resolver]
async fn name() -> Result<Ask<Rc<str>>, CallError> {
    Ok(Ask::known("Ada".into()))
}

fn main() {}
