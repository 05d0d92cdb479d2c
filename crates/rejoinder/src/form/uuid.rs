//! Fields that are UUIDs, with the feature `uuid`.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{ElicitField, Rules};

/// A UUID with hyphens, `67e55044-10b1-426f-9247-bb680e5fe0c8`. MCP has no format for it.
#[diagnostic::do_not_recommend]
impl ElicitField for Uuid {
    type Default = Self;
    const TYPE: &'static str = "string";

    fn describe(_: &Rules, schema: &mut Map<String, Value>) {
        schema.extend([("minLength".to_owned(), 36.into()), ("maxLength".to_owned(), 36.into())]);
    }

    fn read(value: &Value, _: &Rules) -> Result<Self, String> {
        let uuid = value.as_str().filter(|text| text.len() == 36).and_then(|text| text.parse().ok());
        uuid.ok_or_else(|| "must be a UUID such as `67e55044-10b1-426f-9247-bb680e5fe0c8`".to_owned())
    }

    fn write(&self) -> Value {
        self.to_string().into()
    }

    fn from_default(default: Self) -> Self {
        default
    }
}
