//! Fields that are integers or floating-point numbers. A string is read as the number that it spells.
//!
//! `do_not_recommend` keeps the compiler from listing every number type; the notes of the traits say what is allowed.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ElicitField, NumberField};
use crate::schema::Number;

macro_rules! numbers {
    ($json_type:literal, $expected:literal, $($type:ident $format:literal)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $type {
            type Default = Self;

            fn schema() -> Map<String, Value> {
                // The format says which bounds the type has.
                Map::from_iter([("type".into(), $json_type.into()), ("format".into(), $format.into())])
            }

            fn read(value: &Value) -> Result<Self, String> {
                Self::deserialize(value).map_err(|_| $expected.into())
            }

            fn write(&self) -> Value {
                Number::from(*self).to_value()
            }

            fn from_default(default: Self) -> Self {
                default
            }
        }

        #[diagnostic::do_not_recommend]
        impl NumberField for $type {
            type Bound = Self;
        }
    )* };
}

numbers!("integer", "must be a whole number",
    i8 "int8" i16 "int16" i32 "int32" i64 "int64" isize "int" u8 "uint8" u16 "uint16" u32 "uint32" u64 "uint64" usize "uint");
numbers!("number", "must be a number", f32 "float" f64 "double");
