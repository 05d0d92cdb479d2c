//! Fields that are dates and times, with the feature `chrono`.

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use serde_json::{Map, Value};

use super::{ElicitField, Format, Rules};

/// A calendar date, `2026-01-31`.
#[diagnostic::do_not_recommend]
impl ElicitField for NaiveDate {
    type Default = Self;
    const TYPE: &'static str = "string";

    fn describe(_: &Rules, schema: &mut Map<String, Value>) {
        schema.insert("format".into(), Format::Date.name().into());
    }

    fn read(value: &Value, _: &Rules) -> Result<Self, String> {
        let text = value.as_str().filter(|text| Format::Date.fits(text));
        text.and_then(|text| text.parse().ok()).ok_or_else(|| format!("must be {}", Format::Date.expected()))
    }

    fn write(&self) -> Value {
        self.to_string().into()
    }

    fn from_default(default: Self) -> Self {
        default
    }
}

/// A moment, `2026-01-31T14:30:00Z`. An answer with another offset is converted.
#[diagnostic::do_not_recommend]
impl ElicitField for DateTime<Utc> {
    type Default = Self;
    const TYPE: &'static str = "string";

    fn describe(_: &Rules, schema: &mut Map<String, Value>) {
        schema.insert("format".into(), Format::DateTime.name().into());
    }

    fn read(value: &Value, _: &Rules) -> Result<Self, String> {
        let time = value.as_str().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        time.map(|time| time.to_utc()).ok_or_else(|| format!("must be {}", Format::DateTime.expected()))
    }

    fn write(&self) -> Value {
        self.to_rfc3339_opts(SecondsFormat::AutoSi, true).into()
    }

    fn from_default(default: Self) -> Self {
        default
    }
}
