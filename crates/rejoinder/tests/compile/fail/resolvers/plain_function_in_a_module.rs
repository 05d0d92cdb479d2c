// 30:42: `#[resolve(..)]` does not name a resolver
//! A function of a module is not taken for the resolver of its name that is known here.

use rejoinder::prelude::*;

mod disk {
    pub fn size() -> usize {
        9
    }
}

#[resolver]
fn size() -> usize {
    3
}

fn user() -> String {
    String::new()
}

mod tools {
    use rejoinder::prelude::*;

    #[resolver]
    fn user() -> String {
        String::new()
    }

    #[tool]
    pub fn of_the_module_above(#[resolve(super::user)] user: String) {
        let _ = user;
    }

    #[tool]
    pub fn of_the_crate(#[resolve(crate::user)] user: String) {
        let _ = user;
    }
}

#[tool]
fn delete(#[resolve(disk::size)] size: usize) {
    let _ = size;
}

mod path {
    pub fn path() -> String {
        String::new()
    }
}

#[tool]
fn of_a_module_of_its_name(#[resolve(path::path)] path: String) {
    let _ = path;
}

fn main() {}
