//! Finds numbers that JSON does not have. serde_json writes them as `null`, which the schema of a result does not allow.

use std::fmt::Display;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use crate::error::CallError;

/// The value as JSON.
///
/// # Errors
///
/// If it has no form in JSON, or contains a number that is not finite.
pub(super) fn to_finite_value(value: &impl Serialize) -> Result<Value, CallError> {
    let json = serde_json::to_value(value)?;
    // Most results have no `null` at all.
    if contains_null(&json) {
        value.serialize(Finite)?;
    }
    Ok(json)
}

fn contains_null(json: &Value) -> bool {
    match json {
        Value::Null => true,
        Value::Array(items) => items.iter().any(contains_null),
        Value::Object(members) => members.values().any(contains_null),
        _ => false,
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the result contains a number that is infinite or not a number, which JSON does not have")]
struct NotFinite;

impl Error for NotFinite {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

/// Writes nothing, and fails at a number that is not finite.
struct Finite;

type Checked = Result<Finite, NotFinite>;

macro_rules! accepts {
    ($($method:ident($($part:ty),*))*) => { $(
        fn $method(self, $(_: $part),*) -> Checked {
            Ok(self)
        }
    )* };
}

impl Serializer for Finite {
    type Ok = Self;
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    accepts! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_none() serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
        serialize_seq(Option<usize>) serialize_tuple(usize) serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize) serialize_map(Option<usize>)
        serialize_struct(&'static str, usize) serialize_struct_variant(&'static str, u32, &'static str, usize)
    }

    fn serialize_f32(self, number: f32) -> Checked {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Checked {
        if number.is_finite() { Ok(self) } else { Err(NotFinite) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }
}

macro_rules! parts {
    ($($trait:ident $method:ident($($name:ty)?) $(key $key:ident)?;)*) => { $(
        impl $trait for Finite {
            type Ok = Self;
            type Error = NotFinite;

            $(fn $key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), NotFinite> {
                // A key that JSON does not have is an error of serde_json.
                Ok(())
            })?

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), NotFinite> {
                value.serialize(Self).map(drop)
            }

            fn end(self) -> Checked {
                Ok(self)
            }
        }
    )* };
}

parts! {
    SerializeSeq serialize_element();
    SerializeTuple serialize_element();
    SerializeTupleStruct serialize_field();
    SerializeTupleVariant serialize_field();
    SerializeMap serialize_value() key serialize_key;
    SerializeStruct serialize_field(&'static str);
    SerializeStructVariant serialize_field(&'static str);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    enum Part {
        Unit,
        One(f64),
        Two(f32, u8),
        Named { number: Option<f64> },
    }

    #[derive(Serialize)]
    struct Whole {
        parts: Vec<Part>,
        by_name: BTreeMap<&'static str, [f64; 2]>,
    }

    fn is_finite(part: Part, number: f64) -> bool {
        let whole = Whole { parts: vec![Part::Unit, part], by_name: BTreeMap::from([("a", [0.5, number])]) };
        to_finite_value(&whole).is_ok()
    }

    #[test]
    fn a_number_that_is_not_finite_is_found_wherever_it_is() {
        for part in [Part::Unit, Part::One(1.0), Part::Two(f32::MAX, 1), Part::Named { number: None }] {
            assert!(is_finite(part, f64::MIN));
        }
        for part in [Part::One(f64::NAN), Part::Two(f32::INFINITY, 1), Part::Named { number: Some(f64::NEG_INFINITY) }]
        {
            assert!(!is_finite(part, 0.0));
        }
        assert!(!is_finite(Part::Unit, f64::NAN));
    }
}
