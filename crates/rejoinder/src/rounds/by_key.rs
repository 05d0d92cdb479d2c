use std::{fmt, marker::PhantomData, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor},
};
use smallvec::SmallVec;

/// What a round knows, by key, in the order of the keys.
///
/// Most calls ask one question, and few ask many, so a list is smaller than a tree, and quicker; and one that a client
/// sends with very many keys is sorted once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ByKey<V>(SmallVec<[(Arc<str>, V); 1]>);

impl<V> ByKey<V> {
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (**other).cmp(key))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, key: &str) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Puts a value there, and gives the one that was.
    pub(super) fn insert(&mut self, key: Arc<str>, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Puts a value there, unless one is.
    pub(super) fn fill(&mut self, key: &Arc<str>, value: impl FnOnce() -> V) {
        if let Err(at) = self.find(key) {
            self.0.insert(at, (Arc::clone(key), value()));
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<V> {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

impl<V> Default for ByKey<V> {
    fn default() -> Self {
        Self(SmallVec::new())
    }
}

/// Of two values under one key, the last counts.
impl<V> FromIterator<(Arc<str>, V)> for ByKey<V> {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, V)>>(entries: I) -> Self {
        let mut entries: SmallVec<[_; 1]> = entries.into_iter().collect();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        entries.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Self(entries)
    }
}

impl<V: Serialize> Serialize for ByKey<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for ByKey<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
    type Value = ByKey<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByKey<V>, A::Error> {
        let entries =
            std::iter::from_fn(|| map.next_key_seed(Key).transpose().map(|key| Ok((key?, map.next_value()?))));
        entries.collect()
    }
}

/// A key is read straight into what it is kept as.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Arc<str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Arc<str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Arc<str>, E> {
        Ok(key.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_tree_would(
            entries in proptest::collection::vec(("[a-c]{0,2}", any::<u8>()), 0..12),
            more in "[a-c]{0,2}",
            value: u8,
        ) {
            let mut tree: BTreeMap<String, u8> = entries.iter().cloned().collect();
            let mut list: ByKey<u8> = entries.iter().map(|(key, value)| (key.as_str().into(), *value)).collect();
            prop_assert_eq!(list.insert(more.as_str().into(), value), tree.insert(more.clone(), value));
            list.fill(&more.as_str().into(), || unreachable!("it is there"));
            for (key, _) in &entries {
                prop_assert_eq!(list.get(key), tree.get(key));
            }
            let json = serde_json::to_string(&tree).expect("JSON");
            prop_assert_eq!(&serde_json::to_string(&list).expect("JSON"), &json);
            prop_assert_eq!(&serde_json::from_str::<ByKey<u8>>(&json).expect("a map"), &list);
            prop_assert_eq!(list.remove(&more), tree.remove(&more));
            prop_assert!(!list.contains(&more));
            prop_assert_eq!(list.iter().map(|(key, value)| (key.to_string(), *value)).collect::<BTreeMap<_, _>>(), tree);
        }
    }

    #[test]
    fn of_two_under_one_key_the_last_counts() {
        let list: ByKey<u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3,"b":4}"#).expect("a map");
        assert_eq!(list.iter().map(|(key, value)| (&**key, *value)).collect::<Vec<_>>(), [("a", 2), ("b", 4)]);
    }
}
