use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error},
};
use serde_json::Value;

use crate::JsonObject;

/// The members of an object that this crate does not know. Most objects have none, which costs one pointer.
///
/// ```
/// use rejoinder_wire::ContentBlock;
/// use serde_json::json;
///
/// let sent = json!({ "type": "text", "text": "hi", "x-colour": "red" });
/// let block: ContentBlock = serde_json::from_value(sent.clone())?;
/// assert_eq!(block.as_text().and_then(|text| text.other.get("x-colour")), Some(&json!("red")));
/// assert_eq!(json!(block), sent);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Other(Option<Box<JsonObject>>);

impl Other {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The member with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Sets a member. A name that the protocol defines for the object belongs into its field instead.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.get_or_insert_default().insert(name.into(), value.into());
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().flat_map(|members| members.iter())
    }
}

impl Serialize for Other {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Other {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = JsonObject::deserialize(deserializer)?;
        Ok(Self((!members.is_empty()).then(|| Box::new(members))))
    }
}

/// An object whose type is in one of its members. Serde would take a known type with a mistake in it for an unknown one.
pub(crate) struct Tagged {
    name: &'static str,
    members: JsonObject,
}

impl Tagged {
    /// Reads it; without the member its type is the default, if there is one.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        name: &'static str,
        default: Option<&str>,
    ) -> Result<Self, D::Error> {
        let mut members = JsonObject::deserialize(deserializer)?;
        if let (None, Some(default)) = (members.get(name), default) {
            members.insert(name.to_owned(), default.into());
        }
        match members.get(name) {
            Some(Value::String(_)) => Ok(Self { name, members }),
            Some(other) => Err(D::Error::custom(format_args!("`{name}` must be a string, got `{other}`"))),
            None => Err(D::Error::missing_field(name)),
        }
    }

    pub(crate) fn tag(&self) -> &str {
        self.members[self.name].as_str().unwrap_or_default()
    }

    /// Reads the members beside the type.
    pub(crate) fn into_known<T: DeserializeOwned, E: Error>(mut self) -> Result<T, E> {
        self.members.shift_remove(self.name);
        serde_json::from_value(self.members.into()).map_err(E::custom)
    }

    pub(crate) fn into_object(self) -> JsonObject {
        self.members
    }
}
