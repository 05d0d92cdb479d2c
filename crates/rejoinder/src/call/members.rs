use std::{collections::HashSet, fmt, marker::PhantomData};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::BadArguments;

/// The members of a JSON object, in order. Unlike a map it knows which of them are there more than once: which value
/// counts would be anybody's guess.
///
/// ```
/// use rejoinder::Members;
///
/// let once: Members<u8> = serde_json::from_str(r#"{"b":1,"a":2}"#)?;
/// assert!(once.twice().is_none());
/// let twice: Members<u8> = serde_json::from_str(r#"{"a":1,"\u0061":2}"#)?;
/// let told = twice.twice().map(|bad| bad.to_string());
/// assert_eq!(told.as_deref(), Some("Invalid argument `a`: it was sent twice."));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub(crate) struct Members<V>(pub Vec<(String, V)>);

impl<V> Members<V> {
    /// The names that are there more than once, if any are.
    pub(crate) fn twice(&self) -> Option<BadArguments> {
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        let mut twice = BadArguments::default();
        for (name, _) in &self.0 {
            if !seen.insert(name) && told.insert(name) {
                twice.push(name, "it was sent twice");
            }
        }
        (!twice.0.is_empty()).then_some(twice)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Members<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Object<V> {
            type Value = Members<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object(PhantomData))
    }
}
