//! Functions and types are looked up apart: a plain function that is nearer than a resolver is what its name means.

use rejoinder::prelude::*;

mod resolvers {
    use rejoinder::prelude::*;

    #[resolver]
    pub fn size() -> usize {
        3
    }

    #[resolver]
    pub async fn load<T: Default + Send + Sync>(path: &str) -> Vec<T> {
        let _ = path;
        vec![T::default()]
    }

    // Called like a crate that the program depends on.
    #[resolver]
    pub fn serde() -> usize {
        3
    }
}

mod beside_a_glob {
    pub use super::resolvers::*;
    use rejoinder::prelude::*;

    pub fn size() -> usize {
        4
    }

    fn serde() -> usize {
        4
    }

    fn load<T>() {}

    #[tool]
    fn by_its_name(#[resolve(size)] size: usize) -> usize {
        size
    }

    #[tool]
    fn by_its_path(#[resolve(self::size)] size: usize) -> usize {
        size
    }

    #[prompt]
    fn of_a_crates_name(#[resolve(serde)] size: usize) -> String {
        size.to_string()
    }

    #[tool]
    fn generic(path: String, #[resolve(load::<String>)] all: &[String]) -> usize {
        path.len() + all.len()
    }

    #[resolver]
    fn depends_on_a_type<T: Default + Send + Sync>(#[resolve(load::<T>)] all: &[T]) -> usize {
        all.len()
    }

    pub mod below {
        use rejoinder::prelude::*;

        #[resource("sizes://{path}")]
        fn sized(path: String, #[resolve(super::size)] size: usize) -> String {
            format!("{path}: {size}")
        }
    }
}

mod imported_beside_a_glob {
    use super::resolvers::*;
    use rejoinder::prelude::*;
    use std::mem::size_of_val as size;
    use std::mem::take as load;

    struct Shop;

    #[handlers]
    impl Shop {
        #[resolver]
        fn doubled(&self, #[resolve(size)] size: usize) -> usize {
            2 * size
        }

        #[tool]
        fn buy(&self, path: String, #[resolve(load::<u8>)] all: &[u8], #[resolve(Self::doubled)] size: usize) -> usize {
            path.len() + all.len() + size
        }
    }
}

#[tool]
fn in_a_module(#[resolve(beside_a_glob::size)] size: usize) -> usize {
    size
}

use resolvers::size;

fn main() {
    const fn size() -> u8 {
        4
    }

    #[tool]
    fn in_a_function(#[resolve(size)] size: usize) -> usize {
        size
    }
}
