use serde_json::{Map, Value};

use super::{
    ElicitField, Rules, TextField,
    choice::{describe_one, must_be_one_of},
    rules::{counts, within},
};

/// A text.
#[diagnostic::do_not_recommend]
impl ElicitField for String {
    type Default = &'static str;
    const TYPE: &'static str = "string";

    fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
        if let Some(choices) = &rules.one_of {
            return describe_one(&borrowed(choices), false, schema);
        }
        let rules = [
            ("minLength", rules.min_length.map(Value::from)),
            ("maxLength", rules.max_length.map(Value::from)),
            ("pattern", rules.pattern.as_ref().map(|pattern| pattern.as_str().into())),
            ("format", rules.format.map(|format| format.name().into())),
        ];
        schema.extend(rules.into_iter().filter_map(|(key, rule)| Some((key.into(), rule?))));
    }

    fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
        let text = value.as_str().ok_or("must be a text")?;
        if let Some(choices) = rules.one_of.as_ref().filter(|choices| !choices.iter().any(|(value, _)| value == text)) {
            return Err(must_be_one_of(&borrowed(choices)));
        }
        if !counts(text.chars().count(), rules.min_length, rules.max_length) {
            let length = within(rules.min_length, rules.max_length);
            let plural = if length.ends_with(" 1") { "" } else { "s" };
            return Err(format!("must be {length} character{plural} long"));
        }
        match (rules.format, &rules.pattern) {
            (Some(format), _) if !format.fits(text) => Err(format!("must be {}", format.expected())),
            (_, Some(pattern)) if !pattern.is_match(text) => Err(format!("must match `{}`", pattern.as_str())),
            _ => Ok(text.to_owned()),
        }
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }

    fn from_default(default: &'static str) -> Self {
        default.to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl TextField for String {}

fn borrowed(choices: &[(String, Option<String>)]) -> Vec<(&str, Option<&str>)> {
    choices.iter().map(|(value, title)| (value.as_str(), title.as_deref())).collect()
}
