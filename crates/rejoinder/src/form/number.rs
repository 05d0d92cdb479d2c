//! Fields that are integers or floating-point numbers. A string is read as the number that it spells.
//!
//! `do_not_recommend` keeps the compiler from listing every number type; the notes of the traits say what is allowed.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::{ElicitField, Number, NumberField, Rules};

macro_rules! numbers {
    ($json_type:literal, $read:ident, $number:ident => $made:expr, $($type:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $type {
            type Default = Self;
            const TYPE: &'static str = $json_type;

            fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
                describe_number(Self::MIN.into(), Self::MAX.into(), rules, schema);
            }

            fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
                // It is between these bounds.
                $read(value, rules, Self::MIN.into(), Self::MAX.into()).map(|number| number as Self)
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
numbers!("integer", read_whole, number => Self::Whole(number as i128), i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
numbers!("number", read_real, number => Self::Real(shortest(number)), f32 f64);

/// The number as it is written: `0.1_f32` is 0.1 and not 0.10000000149.
fn shortest(number: impl Display) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// Describes a number. A bound of its type is included if it is small enough to matter to a user and to every client.
fn describe_number(min: Number, max: Number, rules: &Rules, schema: &mut Map<String, Value>) {
    for (keyword, bound) in [("minimum", min), ("maximum", max)] {
        if bound.as_f64().abs() <= f64::from(u32::MAX) {
            schema.insert(keyword.into(), bound.to_value());
        }
    }
    rules.describe(schema);
}

fn read_whole(value: &Value, rules: &Rules, least: Number, greatest: Number) -> Result<i128, String> {
    let (number, is_exact) = whole(value).ok_or("must be a whole number")?;
    rules.check_number_of_type(Number::Whole(number), least, greatest)?;
    if is_exact { Ok(number) } else { Err("is too large to be written with a point or an exponent".to_owned()) }
}

fn read_real(value: &Value, rules: &Rules, least: Number, greatest: Number) -> Result<f64, String> {
    let number = real(value).ok_or("must be a number")?;
    rules.check_number_of_type(Number::Real(number), least, greatest)?;
    Ok(number)
}

/// A whole number, and whether it is certainly the one that was written.
fn whole(value: &Value) -> Option<(i128, bool)> {
    // From here on, a floating-point number stands for several whole ones.
    const SEVERAL: f64 = 9_007_199_254_740_992.0;
    let exactly = |number| (number, true);
    let rounded = |number: f64| (number.fract() == 0.0).then_some((number as i128, number.abs() < SEVERAL));
    match value {
        Value::Number(number) => number.as_i128().map(exactly).or_else(|| rounded(number.as_f64()?)),
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().map(exactly).or_else(|| rounded(text.parse().ok()?))
        }
        _ => None,
    }
}

fn real(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}
