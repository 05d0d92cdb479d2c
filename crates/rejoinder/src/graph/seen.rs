//! Sets and paths of nodes that constant evaluation can use.

use super::Node;

/// The nodes that a walk has met: open addressing on their ids, so that a walk is linear in the edges.
pub(super) struct Seen {
    slots: [u64; Self::SLOTS],
    length: usize,
}

impl Seen {
    const SLOTS: usize = 1024;
    const MOST: usize = 768;

    pub(super) const fn new() -> Self {
        Self { slots: [0; Self::SLOTS], length: 0 }
    }

    /// Adds a node; tells whether it is new.
    pub(super) const fn add(&mut self, node: &Node) -> bool {
        let mut i = (node.id >> 20) as usize % Self::SLOTS;
        while self.slots[i] != 0 {
            if self.slots[i] == node.id {
                return false;
            }
            i = (i + 1) % Self::SLOTS;
        }
        assert!(self.length < Self::MOST, "more than 768 resolvers are needed here");
        self.slots[i] = node.id;
        self.length += 1;
        true
    }
}

/// The nodes from where a walk began to where it is.
pub(super) struct Path {
    nodes: [Option<&'static Node>; Self::LONGEST],
    pub(super) length: usize,
}

impl Path {
    const LONGEST: usize = 256;

    pub(super) const fn new() -> Self {
        Self { nodes: [None; Self::LONGEST], length: 0 }
    }

    pub(super) const fn push(&mut self, node: &'static Node) {
        assert!(self.length < Self::LONGEST, "more than 256 resolvers need each other in a row");
        self.nodes[self.length] = Some(node);
        self.length += 1;
    }

    pub(super) const fn pop(&mut self) {
        self.length -= 1;
    }

    pub(super) const fn get(&self, index: usize) -> &'static Node {
        match self.nodes[index] {
            Some(node) => node,
            None => panic!("the path is shorter than this"),
        }
    }

    pub(super) const fn contains(&self, node: &Node) -> bool {
        let mut i = 0;
        while i < self.length {
            if self.get(i).id == node.id {
                return true;
            }
            i += 1;
        }
        false
    }
}
