//! JSON Schema (2020-12) that clients accept.

mod clean;
mod input;
mod output;

pub use clean::{Nulls, clean};
pub use input::InputSchema;
pub use output::OutputSchema;

use schemars::generate::SchemaSettings;

/// Subschemas are written where they are used: many clients show an enum behind a `$ref` as free text.
/// A recursive type still needs one; its definition then travels along.
fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true)
}
