//! JSON Schema (2020-12) that clients accept, and the rules that it sets.

mod clean;
mod format;
mod rules;
mod types;
mod variants;

use schemars::{SchemaGenerator, generate::SchemaSettings};

pub(crate) use self::{
    clean::{clean_input, clean_output, drop_number_formats, without_null},
    rules::{LONGEST_MATCHED, Matching, Pattern, Rules, shortened, shortened_to},
    types::Types,
    variants::{Variants, variants_in},
};
pub use self::{format::Format, rules::Number};

/// The generator of all schemas. Subschemas are inlined, because many clients show an enum behind a `$ref` as free text.
/// Only a recursive type has a `$ref`, to a definition that is part of the schema.
pub(crate) fn generator(contract: impl FnOnce(SchemaSettings) -> SchemaSettings) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    contract(settings).into_generator()
}
