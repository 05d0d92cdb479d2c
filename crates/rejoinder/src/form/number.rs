//! Fields that are integers or floating-point numbers. A string is read as the number that it spells.
//!
//! `do_not_recommend` keeps the compiler from listing every number type; the notes of the traits say what is allowed.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::{ElicitField, Number, NumberField, Rules, rules::between};

macro_rules! integers {
    ($($integer:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $integer {
            type Default = $integer;
            const TYPE: &'static str = "integer";

            fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
                describe_integer(Self::MIN.into(), Self::MAX.into(), rules, schema);
            }

            fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
                let (number, is_exact) = whole(value).ok_or("must be a whole number")?;
                rules.check_number_of_type(Number::Whole(number), Self::MIN.into(), Self::MAX.into())?;
                if !is_exact {
                    return Err("is too large to be written with a point or an exponent".to_owned());
                }
                Self::try_from(number).map_err(|_| format!("must be {}", between(Some(Self::MIN), Some(Self::MAX))))
            }

            fn write(&self) -> Value {
                (*self).into()
            }

            fn from_default(default: Self) -> Self {
                default
            }
        }

        #[diagnostic::do_not_recommend]
        impl NumberField for $integer {
            type Bound = $integer;
        }

        impl From<$integer> for Number {
            fn from(number: $integer) -> Self {
                // Every integer of at most 64 bits fits.
                Self::Whole(number as i128)
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! reals {
    ($($real:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $real {
            type Default = $real;
            const TYPE: &'static str = "number";

            fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
                let number = real(value).ok_or("must be a number")?;
                rules.check_number_of_type(Number::Real(number), Self::MIN.into(), Self::MAX.into())?;
                Ok(number as Self)
            }

            fn write(&self) -> Value {
                shortest(self).into()
            }

            fn from_default(default: Self) -> Self {
                default
            }
        }

        #[diagnostic::do_not_recommend]
        impl NumberField for $real {
            type Bound = $real;
        }

        impl From<$real> for Number {
            fn from(number: $real) -> Self {
                Self::Real(shortest(number))
            }
        }
    )* };
}

reals!(f32 f64);

/// The number as it is written: `0.1_f32` is 0.1 and not 0.10000000149.
fn shortest(number: impl Display) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// Describes an integer. A bound of its type is included if it is small enough to matter to a user and to every client.
fn describe_integer(min: Number, max: Number, rules: &Rules, schema: &mut Map<String, Value>) {
    for (keyword, bound) in [("minimum", min), ("maximum", max)] {
        if bound.as_f64().abs() <= f64::from(u32::MAX) {
            schema.insert(keyword.into(), bound.to_value());
        }
    }
    rules.describe(schema);
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
