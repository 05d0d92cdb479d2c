use serde_json::{Map, Value};

use super::{ElicitField, Rules};

/// A yes-or-no question. The words `true`, `false`, `yes` and `no` are read as what they spell.
#[diagnostic::do_not_recommend]
impl ElicitField for bool {
    type Default = bool;
    const TYPE: &'static str = "boolean";

    fn describe(_: &Rules, _: &mut Map<String, Value>) {}

    fn read(value: &Value, _: &Rules) -> Result<Self, String> {
        let spelled = || match value.as_str()?.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        };
        value.as_bool().or_else(spelled).ok_or_else(|| "must be true or false".into())
    }

    fn write(&self) -> Value {
        (*self).into()
    }

    fn from_default(default: bool) -> Self {
        default
    }
}
