use std::collections::BTreeSet;

use super::{Change, registry::LONGEST_URI};

/// What a subscriber wants to hear.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) updated: Uris,
}

/// The resources whose updates are told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Uris {
    uris: BTreeSet<String>,
    /// How many bytes they have together.
    length: usize,
}

/// A subscriber wants to hear of too many resources, or of one that cannot be: it would fill the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMuch {
    #[error(
        "more than {MOST_RESOURCES} resources, or URIs of more than {MOST_BYTES} bytes together, cannot be subscribed to \
         at once"
    )]
    Resources,
    #[error("a URI of more than {LONGEST_URI} bytes is no resource's")]
    Uri,
}

const MOST_RESOURCES: usize = 10_000;
const MOST_BYTES: usize = 1024 * 1024;

impl Filter {
    /// Wants to hear of updates of this resource too.
    pub(crate) fn add_resource(&mut self, uri: String) -> Result<(), TooMuch> {
        if uri.len() > LONGEST_URI {
            return Err(TooMuch::Uri);
        }
        let Uris { uris, length } = &mut self.updated;
        if uris.contains(&uri) {
            return Ok(());
        }
        if uris.len() >= MOST_RESOURCES || *length + uri.len() > MOST_BYTES {
            return Err(TooMuch::Resources);
        }
        *length += uri.len();
        uris.insert(uri);
        Ok(())
    }

    /// No longer wants to hear of updates of this resource.
    pub(crate) fn remove_resource(&mut self, uri: &str) {
        if self.updated.uris.remove(uri) {
            self.updated.length -= uri.len();
        }
    }

    /// The resources whose updates it wants to hear of.
    pub(crate) fn updated(&self) -> &BTreeSet<String> {
        &self.updated.uris
    }

    pub(super) fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Updated(uri) => self.updated.uris.contains(uri),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uris_of_one_subscriber_are_bounded_in_number_and_together() {
        let mut filter = Filter::default();
        for number in 0..MOST_RESOURCES {
            filter.add_resource(format!("a://{number}")).expect("not too many");
        }
        assert_eq!(filter.add_resource("a://more".into()), Err(TooMuch::Resources));
        filter.add_resource("a://1".into()).expect("it is there already");
        filter.remove_resource("a://1");
        filter.add_resource("a://more".into()).expect("there is room again");

        let mut filter = Filter::default();
        let long = |number: usize| format!("{number:0>LONGEST_URI$}");
        for number in 0..MOST_BYTES / LONGEST_URI {
            filter.add_resource(long(number)).expect("they fit");
        }
        assert_eq!(filter.add_resource("a".into()), Err(TooMuch::Resources));
        filter.remove_resource(&long(0));
        filter.remove_resource("never there");
        filter.add_resource(long(0)).expect("there is room again");
        assert_eq!(filter.add_resource("a".into()), Err(TooMuch::Resources));
        assert_eq!(filter.add_resource("x".repeat(LONGEST_URI + 1)), Err(TooMuch::Uri));
    }
}
