//! What compiles and what does not, and what the compiler then says.
//!
//! The expected texts depend on the compiler's own words, so they belong to the toolchain that the workspace names.
//! `TRYBUILD=overwrite cargo test --test compile` regenerates them; read the diff.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile/pass/*.rs");
    cases.compile_fail("tests/compile/fail/*/*.rs");
}
