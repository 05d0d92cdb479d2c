//! The variants of enums in the order of their declaration, which schemars does not keep if some have doc comments.
//!
//! serde hands the list to a deserializer, so one that supplies nothing can see it.

use std::fmt;

use serde::{
    Deserializer,
    de::{
        DeserializeOwned, Error, IntoDeserializer, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};

/// The names of an enum's variants.
pub(crate) type Variants = &'static [&'static str];

/// How many structs inside each other are searched.
const DEEPEST: usize = 3;

/// The enums that `T` is, or contains in an `Option`, a list or the fields of structs.
pub(crate) fn variants_in<T: DeserializeOwned>() -> Vec<Variants> {
    fn search<T: DeserializeOwned>(path: &mut Vec<usize>, enums: &mut Vec<Variants>) {
        match T::deserialize(VariantProbe(path)) {
            Err(Found::Enum(variants)) => enums.push(variants),
            Err(Found::Struct(fields)) if path.len() < DEEPEST => {
                for field in 0..fields {
                    path.push(field);
                    search::<T>(path, enums);
                    path.pop();
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    let mut enums = Vec::new();
    search::<T>(&mut Vec::new(), &mut enums);
    enums
}

/// A deserializer that stops at the first enum. The path says which field of each struct it enters.
#[derive(Clone, Copy)]
struct VariantProbe<'p>(&'p [usize]);

/// What a probe has found at the end of its path.
#[derive(Debug)]
enum Found {
    Enum(Variants),
    /// A struct with that many fields.
    Struct(usize),
    Other,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was supplied")
    }
}

impl std::error::Error for Found {}

impl Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }
}

impl<'de> Deserializer<'de> for VariantProbe<'_> {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Found> {
        Err(Found::Other)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &str, variants: Variants, _: V) -> Result<V::Value, Found> {
        Err(Found::Enum(variants))
    }

    fn deserialize_struct<V: Visitor<'de>>(self, _: &str, fields: Variants, visitor: V) -> Result<V::Value, Found> {
        match self.0 {
            [] => Err(Found::Struct(fields.len())),
            [field, rest @ ..] => {
                visitor.visit_map(MapDeserializer::new([(fields[*field], VariantProbe(rest))].into_iter()))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Found> {
        visitor.visit_seq(SeqDeserializer::new([self].into_iter()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Found> for VariantProbe<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        Red,
        Green,
        Blue,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its fields are used")]
    struct Brush {
        size: u8,
        colors: Vec<Color>,
        spare: Option<Box<Brush>>,
        handle: Handle,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its fields are used")]
    struct Handle {
        color: Option<Color>,
    }

    /// Reads nothing.
    struct Silent;

    impl<'de> Deserialize<'de> for Silent {
        fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Ok(Self)
        }
    }

    #[test]
    fn enums_are_found_in_options_lists_and_fields() {
        let color: Variants = &["red", "green", "blue"];
        assert_eq!(variants_in::<Color>(), [color]);
        assert_eq!(variants_in::<Option<Vec<Color>>>(), [color]);
        let found = variants_in::<Brush>();
        assert!(found.len() > 2 && found.iter().all(|variants| *variants == color), "{found:?}");
        assert!(variants_in::<(u8, String)>().is_empty());
        assert!(variants_in::<serde_json::Value>().is_empty());
        assert!(variants_in::<Vec<Silent>>().is_empty(), "and it ends");
    }
}
