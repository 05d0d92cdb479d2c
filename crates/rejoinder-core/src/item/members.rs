use std::{collections::BTreeMap, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::call::{BadArgument, BadArguments};

/// The members of a JSON object, each as it stands.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    pub(super) members: BTreeMap<String, &'a RawValue>,
    /// Those that are there more than once: which value counts would be anybody's guess.
    pub(super) twice: Vec<BadArgument>,
}

impl<'a> Members<'a> {
    pub(super) fn read(json: &'a RawValue) -> Result<Self, BadArguments> {
        serde_json::from_str(json.get()).map_err(|error| {
            BadArguments(vec![BadArgument { field: "arguments".to_owned(), message: error.to_string() }])
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut read = Members::default();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if read.members.insert(name.clone(), value).is_some() {
                        read.twice.push(BadArgument { field: name, message: "it was sent twice".to_owned() });
                    }
                }
                Ok(read)
            }
        }
        deserializer.deserialize_map(Object)
    }
}
