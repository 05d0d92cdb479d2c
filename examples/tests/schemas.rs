//! Every provider accepts the tools of the examples.

#[path = "../../crates/rejoinder/tests/providers/program.rs"]
mod program;
#[path = "../../crates/rejoinder/tests/providers/mod.rs"]
mod providers;

#[test]
fn every_provider_accepts_the_tools_of_the_examples() {
    let programs = [
        env!("CARGO_BIN_EXE_call_log"),
        env!("CARGO_BIN_EXE_delete_folder"),
        env!("CARGO_BIN_EXE_greeter"),
        env!("CARGO_BIN_EXE_load_shedding"),
        env!("CARGO_BIN_EXE_login"),
        env!("CARGO_BIN_EXE_mrtr"),
        env!("CARGO_BIN_EXE_rate_limit"),
        env!("CARGO_BIN_EXE_release_notes"),
        env!("CARGO_BIN_EXE_shop"),
        env!("CARGO_BIN_EXE_trip"),
        env!("CARGO_BIN_EXE_video_render"),
        env!("CARGO_BIN_EXE_work_items"),
    ];
    for program in programs {
        assert_eq!(program::violations(program), [] as [&str; 0], "{program}");
    }
}
