//! Fields of types of other crates, with the features of their names: dates and times of `chrono`, and UUIDs of `uuid`.

use serde_json::{Map, Value, json};

use super::ElicitField;
use crate::schema::Format;

/// Implements the fields whose answers are strings of one format.
macro_rules! strings {
    ($($(#[$doc:meta])* $type:ty: $format:ident, $schema:tt, $read:expr, $write:expr;)*) => { $(
        $(#[$doc])*
        #[diagnostic::do_not_recommend]
        impl ElicitField for $type {
            type Default = Self;

            fn schema() -> Map<String, Value> {
                json!($schema).as_object().cloned().unwrap_or_default()
            }

            fn read(value: &Value) -> Result<Self, String> {
                value.as_str().and_then($read).ok_or_else(|| format!("must be {}", Format::$format.expected()))
            }

            fn write(&self) -> Value {
                let write: fn(&Self) -> String = $write;
                write(self).into()
            }

            fn from_default(default: Self) -> Self {
                default
            }
        }
    )* };
}

#[cfg(feature = "chrono")]
strings! {
    /// A calendar date, `2026-01-31`.
    chrono::NaiveDate: Date, { "type": "string", "format": "date" }, |text| text.parse().ok(), ToString::to_string;
    /// A moment, `2026-01-31T14:30:00Z`. An answer with another offset is converted.
    chrono::DateTime<chrono::Utc>: DateTime, { "type": "string", "format": "date-time" },
        |text| Some(chrono::DateTime::parse_from_rfc3339(text).ok()?.to_utc()),
        |time| time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
}

#[cfg(feature = "uuid")]
strings! {
    /// A UUID with hyphens, `67e55044-10b1-426f-9247-bb680e5fe0c8`. MCP has no format for it.
    uuid::Uuid: Uuid, { "type": "string", "format": "uuid", "minLength": 36, "maxLength": 36 },
        |text| text.parse().ok(), ToString::to_string;
}
