//! Every fault once.
#![cfg(unix)]

use std::process::Command;

/// Runs a fault, which says what does not hold.
fn holds(fault: &str) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rejoinder-faults"));
    let done = program.args([fault, "--short"]).output().expect("it starts");
    let (said, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{errors}");
    println!("{said}");
}

macro_rules! faults {
    ($($fault:ident)*) => { $(#[test] fn $fault() { holds(stringify!($fault)); })* };
}

// Those that wait for a lease first.
faults!(frozen disk many kills lost_acks clock poison stop editions restart);
