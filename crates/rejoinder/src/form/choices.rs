//! Several of several things.

use serde_json::{Map, Value, json};

use super::{
    ChoicesField, ElicitEnum, ElicitField, Rules,
    choice::{is_titled, listed, titles, values},
    rules::{counts, within},
};

/// Any number of the choices.
#[diagnostic::do_not_recommend]
impl<E: ElicitEnum> ElicitField for Vec<E> {
    type Default = Vec<E>;
    const TYPE: &'static str = "array";

    fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
        let rules = [("minItems", rules.min_items), ("maxItems", rules.max_items)];
        schema.extend(rules.into_iter().filter_map(|(key, rule)| Some((key.into(), rule?.into()))));
        // There is no old way to tell the titles of these.
        let items = if is_titled(E::CHOICES) {
            json!({ "anyOf": titles(E::CHOICES) })
        } else {
            json!({ "type": "string", "enum": values(E::CHOICES) })
        };
        schema.insert("items".into(), items);
    }

    fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
        let of_these = || format!("must be a list of any of {}", listed(E::CHOICES));
        let items = value.as_array().ok_or_else(of_these)?;
        let chosen = items.iter().map(|item| item.as_str().and_then(E::from_value));
        let chosen = chosen.collect::<Option<Self>>().ok_or_else(of_these)?;
        let is_again = |i| items[..i].contains(&items[i]);
        if items.len() > E::CHOICES.len() || (1..items.len()).any(is_again) {
            return Err("must not have the same choice twice".to_owned());
        }
        if counts(chosen.len(), rules.min_items, rules.max_items) {
            return Ok(chosen);
        }
        let number = within(rules.min_items, rules.max_items);
        let plural = if number.ends_with(" 1") { "" } else { "s" };
        Err(format!("must have {number} choice{plural}"))
    }

    fn write(&self) -> Value {
        self.iter().map(E::value).collect()
    }

    fn from_default(default: Self) -> Self {
        default
    }
}

// Also for those that cannot be fields, which is one error and need not be two.
#[diagnostic::do_not_recommend]
impl<T> ChoicesField for Vec<T> {}
