//! Sets of JSON types.

use std::fmt;

use serde_json::{Number, Value};

/// A set of JSON types. A number is an integer, or it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Default for Types {
    /// All of them.
    fn default() -> Self {
        Self(0x7f)
    }
}

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    const BOOLEAN: Self = Self(1 << 1);
    const INTEGER: Self = Self(1 << 2);
    const REAL: Self = Self(1 << 3);
    pub(crate) const STRING: Self = Self(1 << 4);
    const ARRAY: Self = Self(1 << 5);
    pub(crate) const OBJECT: Self = Self(1 << 6);

    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::REAL),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() && whole(number).is_none() => Self::REAL,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn meet(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }

    /// The value of these types that another one stands for: a number or a boolean that came as a string, or the integer
    /// that came as `2.0`.
    pub(crate) fn meant_by(self, value: &Value) -> Option<Value> {
        let integer = |number: &Number| whole(number).filter(|_| self.meet(Self::INTEGER) && !self.meet(Self::REAL));
        let meant = match value {
            Value::Number(number) => return integer(number).map(Value::from),
            Value::String(text) if !self.meet(Self::STRING) => match text.trim() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                text => {
                    let number: Number = serde_json::from_str(text).ok()?;
                    integer(&number).map_or(Value::Number(number), Value::from)
                }
            },
            _ => return None,
        };
        self.meet(Self::of(&meant)).then_some(meant)
    }
}

/// "a string or null".
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::STRING, "a string"),
            (Self::REAL, "a number"),
            (Self::INTEGER, "an integer"),
            (Self::BOOLEAN, "a boolean"),
            (Self::ARRAY, "an array"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ];
        let is_named = |types: Self| self.meet(types) && !(types == Self::INTEGER && self.meet(Self::REAL));
        let names: Vec<_> = names.into_iter().filter(|(types, _)| is_named(*types)).map(|(_, name)| name).collect();
        match &*names {
            [] => f.write_str("nothing"),
            [names @ .., last] if !names.is_empty() => write!(f, "{} or {last}", names.join(", ")),
            names => f.write_str(names[0]),
        }
    }
}

/// The integer that a number with a zero fraction is, if a float has exactly this one.
fn whole(number: &Number) -> Option<i64> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT)?;
    Some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_zero_fraction_is_dropped() {
        let integers = Types::INTEGER.or(Types::NULL);
        for (value, meant) in [
            (json!(9.0), Some(json!(9))),
            (json!(-0.0), Some(json!(0))),
            (json!(2.5), None),
            (json!(3), None),
            // A float has no room for this one.
            (json!(9_007_199_254_740_993.0), None),
        ] {
            assert_eq!(integers.meant_by(&value), meant, "{value}");
        }
        assert_eq!(integers.or(Types::REAL).meant_by(&json!(9.0)), None);
    }

    #[test]
    fn a_text_spells_a_number_or_a_boolean_where_no_text_is_allowed() {
        let types = |names: &[&str]| names.iter().filter_map(|name| Types::named(name)).fold(Types::NONE, Types::or);
        for (names, text, value) in [
            (&["integer"][..], "50", Some(json!(50))),
            (&["integer"], " -3 ", Some(json!(-3))),
            (&["integer"], "2.0", Some(json!(2))),
            (&["integer"], "2.5", None),
            (&["integer"], "", None),
            (&["integer"], "0x10", None),
            (&["integer"], "+1", None),
            (&["number"], "2.5", Some(json!(2.5))),
            (&["number"], "NaN", None),
            (&["integer", "null"], "null", None),
            (&["integer", "null"], "1", Some(json!(1))),
            (&["integer", "string"], "50", None),
            (&["boolean"], "true", Some(json!(true))),
            (&["boolean"], "yes", None),
            (&["boolean", "number"], "false", Some(json!(false))),
            (&["boolean", "number"], "1", Some(json!(1))),
            (&["array"], "[]", None),
        ] {
            assert_eq!(types(names).meant_by(&text.into()), value, "{names:?} {text:?}");
        }
    }
}
