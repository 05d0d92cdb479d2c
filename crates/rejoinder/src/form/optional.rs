use serde_json::{Map, Value};

use super::{ChoicesField, ElicitField, NumberField, Rules, TextField};

/// A field that may be left out: absent, `null`, or an empty text where that means nothing to the field.
#[diagnostic::do_not_recommend]
impl<T: ElicitField> ElicitField for Option<T> {
    type Default = T::Default;
    const TYPE: &'static str = T::TYPE;

    fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
        T::describe(rules, schema);
    }

    fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
        match T::read(value, rules) {
            Ok(value) => Ok(Some(value)),
            // What many clients send for an input that was not touched.
            Err(_) if value.is_null() || value == "" => Ok(None),
            Err(message) => Err(message),
        }
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }

    fn from_default(default: T::Default) -> Self {
        Some(T::from_default(default))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

#[diagnostic::do_not_recommend]
impl<T: TextField> TextField for Option<T> {}

#[diagnostic::do_not_recommend]
impl<T: NumberField> NumberField for Option<T> {
    type Bound = T::Bound;
}

#[diagnostic::do_not_recommend]
impl<T: ChoicesField> ChoicesField for Option<T> {}
