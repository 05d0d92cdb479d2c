use std::any::TypeId;

use smallvec::SmallVec;

/// Values by type. An item has a few resolvers, which are sooner compared than hashed.
#[derive(Debug)]
pub(super) struct ByType<V>(SmallVec<[(TypeId, V); 4]>);

impl<V> ByType<V> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self(SmallVec::with_capacity(capacity))
    }

    /// The value of a type, which is made if there is none.
    pub(super) fn get_or_insert<T: 'static>(&mut self, make: impl FnOnce() -> V) -> &V {
        let id = TypeId::of::<T>();
        let place = self.0.iter().position(|(other, _)| *other == id).unwrap_or_else(|| {
            self.0.push((id, make()));
            self.0.len() - 1
        });
        &self.0[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_value() {
        let mut values = ByType::with_capacity(0);
        assert_eq!(*values.get_or_insert::<u8>(|| 1), 1);
        assert_eq!(*values.get_or_insert::<u16>(|| 2), 2);
        assert_eq!(*values.get_or_insert::<u8>(|| 3), 1);
    }
}
