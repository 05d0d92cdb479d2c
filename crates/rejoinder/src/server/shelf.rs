use std::{collections::HashMap, sync::Arc};

/// Things in the order they were added, found by name at a cost that does not depend on how many there are.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    items: Vec<(Arc<str>, Arc<T>)>,
    index: HashMap<Arc<str>, usize>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { items: Vec::new(), index: HashMap::new() }
    }
}

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), index: self.index.clone() }
    }
}

impl<T> Shelf<T> {
    pub(super) fn get(&self, name: &str) -> Option<&Arc<T>> {
        self.index.get(name).map(|&at| &self.items[at].1)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Arc<T>)> {
        self.items.iter().map(|(name, item)| (&**name, item))
    }

    /// Adds an item; one of the same name keeps its place and is replaced.
    pub(super) fn insert(&mut self, name: Arc<str>, item: T) {
        self.put(name, Arc::new(item));
    }

    /// Adds everything that is on another one.
    pub(super) fn extend(&mut self, other: &Self) {
        other.items.iter().for_each(|(name, item)| self.put(Arc::clone(name), Arc::clone(item)));
    }

    fn put(&mut self, name: Arc<str>, item: Arc<T>) {
        match self.index.get(&name) {
            Some(&at) => self.items[at].1 = item,
            None => {
                self.index.insert(Arc::clone(&name), self.items.len());
                self.items.push((name, item));
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> bool {
        let Some(at) = self.index.remove(name) else { return false };
        self.items.remove(at);
        for (place, (name, _)) in self.items.iter().enumerate().skip(at) {
            self.index.insert(Arc::clone(name), place);
        }
        true
    }
}
