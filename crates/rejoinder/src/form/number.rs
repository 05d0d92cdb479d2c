//! Fields that are integers or floating-point numbers. A string is read as the number that it spells.
//!
//! `do_not_recommend` keeps the compiler from listing every number type; the notes of the traits say what is allowed.

use std::fmt::Display;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ElicitField, Number, NumberField};

macro_rules! numbers {
    ($json_type:literal, $expected:literal, $number:ident => $made:expr, $($type:ident $format:literal)*) => { $(
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

        impl From<$type> for Number {
            fn from($number: $type) -> Self {
                $made
            }
        }
    )* };
}

// Every integer of at most 64 bits fits into one of 128.
numbers!("integer", "must be a whole number", number => Self::Whole(number as i128),
    i8 "int8" i16 "int16" i32 "int32" i64 "int64" isize "int" u8 "uint8" u16 "uint16" u32 "uint32" u64 "uint64" usize "uint");
numbers!("number", "must be a number", number => Self::Real(shortest(number)), f32 "float" f64 "double");

/// The number as it is written: `0.1_f32` is 0.1 and not 0.10000000149.
fn shortest(number: impl Display) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}
