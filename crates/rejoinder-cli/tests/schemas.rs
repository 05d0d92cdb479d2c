//! Every provider accepts the tools of the tour.

#[path = "../../rejoinder/tests/providers/program.rs"]
mod program;
#[path = "../../rejoinder/tests/providers/mod.rs"]
mod providers;

#[test]
fn every_provider_accepts_the_tools_of_the_tour() {
    assert_eq!(program::violations(env!("CARGO_BIN_EXE_rejoinder")), [] as [&str; 0]);
}
