//! Values of the author's that travel with a call.

use std::fmt;

use serde::{Serialize, Serializer, ser};
use serde_json::Value;

use crate::error::CallError;

/// The value as it travels.
///
/// # Errors
///
/// If a number in it is not finite: JSON has none, and what is there instead is taken for nothing. If it is no JSON for any
/// other reason, which is for the log only: it may be in words that no client should see.
pub(crate) fn record<T: Serialize + ?Sized>(value: &T, why: impl FnOnce() -> String) -> Result<Value, CallError> {
    let told = match (value.serialize(Finite), serde_json::to_value(value)) {
        (Err(Refused::NotFinite(number)), _) => {
            format!("{}: the number `{number}`, which is not finite, has no form in JSON", why())
        }
        (_, Ok(value)) => return Ok(value),
        (_, Err(error)) => {
            let why = why();
            tracing::error!(%error, "{why}");
            format!("{why}: it has no form in JSON; the log says more")
        }
    };
    Err(CallError::mistake(told))
}

/// Why a walk through a value ended.
#[derive(Debug)]
enum Refused {
    NotFinite(f64),
    Otherwise,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value cannot be recorded")
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Otherwise
    }
}

/// Walks through a value, and refuses numbers that are not finite.
#[derive(Clone, Copy)]
struct Finite;

impl Finite {
    fn check(number: f64) -> Result<(), Refused> {
        if number.is_finite() { Ok(()) } else { Err(Refused::NotFinite(number)) }
    }
}

/// Methods that take one value, which is fine.
macro_rules! fine {
    ($($method:ident($type:ty))*) => { $(
        fn $method(self, _: $type) -> Result<(), Refused> {
            Ok(())
        }
    )* };
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fine! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_unit_struct(&'static str)
    }

    fn serialize_f32(self, number: f32) -> Result<(), Refused> {
        Self::check(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Refused> {
        Self::check(number)
    }

    fn serialize_none(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }
}

/// What is made of several values, each of them walked through.
macro_rules! several {
    ($($kind:ident: $($method:ident($($key:ty)?))*;)*) => { $(
        impl ser::$kind for Finite {
            type Ok = ();
            type Error = Refused;

            $(
                fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Refused> {
                    value.serialize(*self)
                }
            )*

            fn end(self) -> Result<(), Refused> {
                Ok(())
            }
        }
    )* };
}

several! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key() serialize_value();
    SerializeStruct: serialize_field(&'static str);
    SerializeStructVariant: serialize_field(&'static str);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    enum Shape {
        Point,
        Circle(f32),
        Oval(f64, f64),
        Box { sides: Vec<Option<f64>> },
    }

    #[derive(Serialize)]
    struct Drawing<T>(BTreeMap<&'static str, T>);

    fn drawing<T: Serialize>(shape: T) -> Result<Value, String> {
        recorded(&Drawing(BTreeMap::from([("shape", shape)])))
    }

    fn recorded<T: Serialize>(value: &T) -> Result<Value, String> {
        record(value, || "no".to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_json_can_say_is_recorded_as_it_is() {
        let sides = vec![None, Some(f64::MAX)];
        let shapes = (Shape::Point, Shape::Circle(0.5), Shape::Oval(1.0, -2.0), Shape::Box { sides }, (), "NaN");
        assert_eq!(
            drawing(shapes).unwrap(),
            json!({ "shape": ["Point", { "Circle": 0.5 }, { "Oval": [1.0, -2.0] },
                { "Box": { "sides": [null, f64::MAX] } }, null, "NaN"] }),
        );
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused_wherever_it_is() {
        let told = |number: &str| format!("no: the number `{number}`, which is not finite, has no form in JSON");
        assert_eq!(recorded(&f64::NAN).unwrap_err(), told("NaN"));
        assert_eq!(recorded(&Some(f32::NAN)).unwrap_err(), told("NaN"));
        assert_eq!(drawing(Shape::Circle(f32::INFINITY)).unwrap_err(), told("inf"));
        assert_eq!(drawing(Shape::Oval(1.0, f64::NEG_INFINITY)).unwrap_err(), told("-inf"));
        assert_eq!(drawing(Shape::Box { sides: vec![None, Some(f64::NAN)] }).unwrap_err(), told("NaN"));
    }
}
