//! JSON Schema (2020-12) that clients accept.

mod choices;
mod clean;
mod input;
mod output;

pub(crate) use clean::{clean_input, clean_output};
pub(crate) use input::InputSchema;
pub use output::OutputSchema;

use schemars::{SchemaGenerator, generate::SchemaSettings};

/// Subschemas are written where they are used: many clients show an enum behind a `$ref` as free text.
/// A recursive type still needs one; its definition then travels along.
pub(crate) fn generator(contract: impl FnOnce(SchemaSettings) -> SchemaSettings) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    contract(settings).into_generator()
}
