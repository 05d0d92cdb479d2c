//! Values of the author's that travel with a call.

use serde::{Serialize, Serializer, ser};
use serde_json::{Error, Value};

/// The value as it travels.
///
/// # Errors
///
/// If it would come back as another: JSON has no number that is not finite, and what is there instead is taken for nothing.
pub(crate) fn record<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    value.serialize(Finite)?;
    serde_json::to_value(value)
}

/// Walks through a value, and refuses numbers that are not finite.
#[derive(Clone, Copy)]
struct Finite;

impl Finite {
    fn check(number: f64) -> Result<(), Error> {
        if number.is_finite() {
            return Ok(());
        }
        Err(ser::Error::custom(format_args!("the number `{number}`, which is not finite, has no form in JSON")))
    }
}

/// Methods that take one value, which is fine.
macro_rules! fine {
    ($($method:ident($type:ty))*) => { $(
        fn $method(self, _: $type) -> Result<(), Error> {
            Ok(())
        }
    )* };
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Error;
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

    fn serialize_f32(self, number: f32) -> Result<(), Error> {
        Self::check(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Error> {
        Self::check(number)
    }

    fn serialize_none(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }
}

/// What is made of several values, each of them walked through.
macro_rules! several {
    ($($kind:ident: $($method:ident($($key:ty)?))*;)*) => { $(
        impl ser::$kind for Finite {
            type Ok = ();
            type Error = Error;

            $(
                fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), Error> {
                    value.serialize(*self)
                }
            )*

            fn end(self) -> Result<(), Error> {
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

    fn drawing<T: Serialize>(shape: T) -> Result<Value, Error> {
        record(&Drawing(BTreeMap::from([("shape", shape)])))
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
        let told = |number: &str| format!("the number `{number}`, which is not finite, has no form in JSON");
        assert_eq!(record(&f64::NAN).unwrap_err().to_string(), told("NaN"));
        assert_eq!(record(&Some(f32::NAN)).unwrap_err().to_string(), told("NaN"));
        assert_eq!(drawing(Shape::Circle(f32::INFINITY)).unwrap_err().to_string(), told("inf"));
        assert_eq!(drawing(Shape::Oval(1.0, f64::NEG_INFINITY)).unwrap_err().to_string(), told("-inf"));
        assert_eq!(drawing(Shape::Box { sides: vec![None, Some(f64::NAN)] }).unwrap_err().to_string(), told("NaN"));
    }
}
