use std::{
    any::TypeId,
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// Values by type. A type's id is a hash already, so it is not hashed again.
#[derive(Debug)]
pub(super) struct ByType<V>(HashMap<TypeId, V, BuildHasherDefault<AsItIs>>);

impl<V> ByType<V> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self(HashMap::with_capacity_and_hasher(capacity, BuildHasherDefault::new()))
    }

    /// The value of a type, which is made if there is none.
    pub(super) fn get_or_insert<T: 'static>(&mut self, make: impl FnOnce() -> V) -> &V {
        self.0.entry(TypeId::of::<T>()).or_insert_with(make)
    }
}

/// Takes the number that a type's id gives for the hash.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    // How an id is hashed is not promised; should it change, this is slower and as right.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, Hash};

    use super::*;

    #[test]
    fn each_type_has_its_value() {
        let mut values = ByType::with_capacity(0);
        assert_eq!(*values.get_or_insert::<u8>(|| 1), 1);
        assert_eq!(*values.get_or_insert::<u16>(|| 2), 2);
        assert_eq!(*values.get_or_insert::<u8>(|| 3), 1);
    }

    #[test]
    fn a_hash_is_what_it_is_given() {
        let hash = |value: &dyn Fn(&mut AsItIs)| {
            let mut hasher = BuildHasherDefault::<AsItIs>::new().build_hasher();
            value(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&|hasher| 7_u64.hash(hasher)), 7);
        assert_eq!(hash(&|hasher| hasher.write(&[1, 2])), 0x0102);
    }
}
