use std::{env, ffi::OsString, process::Stdio};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    seen::{Era, check},
    tour::{COMMAND, Tour, bounded},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/client.py");

/// The interpreter that has the SDK. Without it nothing would be tested, which is a failure.
fn interpreter() -> OsString {
    env::var_os("REJOINDER_PYTHON")
        .expect("REJOINDER_PYTHON does not name an interpreter: run `cargo xtask test`, which sets it up")
}

async fn see(era: Era, target: &[&str]) {
    let name = match era {
        Era::Stateless => "stateless",
        Era::Session => "session",
    };
    let mut script = Command::new(interpreter());
    script.arg(SCRIPT).arg(name).args(target).stdin(Stdio::null()).kill_on_drop(true);
    let output = bounded(script.output()).await.expect("the interpreter starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
    let mut seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    let complaints = seen.as_object_mut().and_then(|seen| seen.remove("complaints"));
    assert_eq!(complaints, Some(json!([])), "{errors}");
    check(era, &seen);
}

#[tokio::test]
async fn stateless_over_stdio() {
    see(Era::Stateless, &["stdio", COMMAND, "--stdio"]).await;
}

#[tokio::test]
async fn session_over_stdio() {
    see(Era::Session, &["stdio", COMMAND, "--stdio"]).await;
}

#[tokio::test]
async fn stateless_over_http() {
    let tour = bounded(Tour::start()).await;
    see(Era::Stateless, &["http", &tour.url]).await;
}

#[tokio::test]
async fn session_over_http() {
    let tour = bounded(Tour::start()).await;
    see(Era::Session, &["http", &tour.url]).await;
}

#[tokio::test]
async fn l19_session_over_sse() {
    let tour = bounded(Tour::start()).await;
    see(Era::Session, &["sse", &tour.url.replace("/mcp", "/sse")]).await;
}
