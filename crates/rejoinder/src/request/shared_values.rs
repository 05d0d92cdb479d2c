//! What the functions of a call share, and the calls of a session.

use std::{
    any::{Any, TypeId},
    fmt,
    sync::{Arc, Mutex},
};

use crate::error::{Panicked, lock};

/// Values by a type. There are few, so the first that fits is found faster than by a hash.
#[derive(Default)]
pub(crate) struct SharedValues(Mutex<Vec<(TypeId, Arc<dyn Any + Send + Sync>)>>);

impl SharedValues {
    /// The value under the type `K`, which begins as the default.
    pub(crate) fn get<K: 'static, T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let (mut values, id) = (lock(&self.0), TypeId::of::<K>());
        if let Some((_, value)) = values.iter().find(|(of, _)| *of == id) {
            return Arc::clone(value).downcast().expect("it was added under this type");
        }
        let value = Arc::<T>::default();
        values.push((id, Arc::clone(&value) as _));
        value
    }

    /// Drops the values. They are the author's, whose `Drop` may panic.
    pub(crate) fn forget(&self) {
        let values = std::mem::take(&mut *lock(&self.0));
        drop(values);
    }
}

impl Drop for SharedValues {
    fn drop(&mut self) {
        // A session ends in a future of its transport, which goes on. The panic is in the log.
        let _ = Panicked::catch(|| self.forget());
    }
}

impl fmt::Debug for SharedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedValues")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }

    #[test]
    fn a_value_that_panics_when_it_is_dropped_does_not_keep_the_others() {
        let values = SharedValues::default();
        drop(values.get::<Bomb, Bomb>());
        let kept = values.get::<u8, Mutex<u8>>();
        drop(values);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
