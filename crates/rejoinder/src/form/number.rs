//! Integers and floating-point numbers. A text is read as the number that it spells.
//!
//! The compiler recommends none of them by name: the traits' notes say what there is, in fewer lines.

use std::{cmp::Ordering, fmt};

use serde_json::{Map, Value};

use super::{ElicitField, NumberField, Rules, rules::within};

/// A bound of a number.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// Of an integer.
    Whole(i128),
    /// Of a floating-point number.
    Real(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

/// By value, whichever kind of number it is.
impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Some(a.cmp(b)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    fn to_value(self) -> Value {
        match self {
            Self::Whole(number) => serde_json::Number::from_i128(number).map_or(Value::Null, Value::Number),
            Self::Real(number) => number.into(),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
        }
    }
}

fn describe(min: Option<Number>, max: Option<Number>, schema: &mut Map<String, Value>) {
    let bounds = [("minimum", min), ("maximum", max)];
    schema.extend(bounds.into_iter().filter_map(|(key, bound)| Some((key.into(), bound?.to_value()))));
}

/// Whether a bound of a type is worth telling: a user may come to it, and every client can read it.
fn is_near(bound: Number) -> bool {
    bound.as_f64().abs() <= f64::from(u32::MAX)
}

/// Checks a number against the field's bounds, and against those of its type, which are told only where they matter.
fn check(number: Number, rules: &Rules, least: Number, greatest: Number) -> Result<Number, String> {
    let (min, max) = (rules.min.unwrap_or(least), rules.max.unwrap_or(greatest));
    if number >= min && number <= max {
        return Ok(number);
    }
    // Nobody wants to read 18446744073709551615 unless it is the answer.
    const LONG: f64 = 1e10;
    let is_short = |bound: Number| bound.as_f64().abs() < LONG;
    let min = Some(min).filter(|min| rules.min.is_some() || number < *min || is_short(*min));
    let max = Some(max).filter(|max| rules.max.is_some() || number > *max || is_short(*max));
    Err(format!("must be {}", within(min, max)))
}

/// A whole number, and whether it is surely the one that was written.
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

macro_rules! integers {
    ($($integer:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ElicitField for $integer {
            type Default = $integer;
            const TYPE: &'static str = "integer";

            fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
                let [min, max] = [Self::MIN, Self::MAX].map(|bound| Some(bound.into()).filter(|bound| is_near(*bound)));
                describe(rules.min.or(min), rules.max.or(max), schema);
            }

            fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
                let (number, is_exact) = whole(value).ok_or("must be a whole number")?;
                let number = check(Number::Whole(number), rules, Self::MIN.into(), Self::MAX.into())?;
                if !is_exact {
                    return Err("is too large to be written with a point or an exponent".to_owned());
                }
                match number {
                    Number::Whole(number) => Self::try_from(number).ok(),
                    Number::Real(_) => None,
                }
                .ok_or_else(|| format!("must be {}", within(Some(Self::MIN), Some(Self::MAX))))
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
                // No integer of at most 64 bits is lost.
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

            fn describe(rules: &Rules, schema: &mut Map<String, Value>) {
                describe(rules.min, rules.max, schema);
            }

            fn read(value: &Value, rules: &Rules) -> Result<Self, String> {
                let number = real(value).ok_or("must be a number")?;
                check(Number::Real(number), rules, Self::MIN.into(), Self::MAX.into())?;
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
fn shortest(number: impl fmt::Display) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        assert!(Number::Whole(5) > Number::Real(1.0));
        assert!(Number::Real(-0.5) < Number::Whole(0));
        assert_eq!(Number::Whole(2), Number::Real(2.0));
        assert!(Number::from(u64::MAX) > Number::from(u64::MAX - 1));
    }
}
