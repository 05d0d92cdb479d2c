//! Every feature on every transport, in both eras: one table, in which no cell may be missing.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod client;
mod features;
mod offered;
mod ways;

use std::{env, fs, time::Duration};

use features::{Cell, Feature};
use tokio::time::timeout;
use ways::Way;

/// An enum that knows its variants, so that a table made of it has them all.
macro_rules! table_of {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $shown:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),* }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            pub(crate) fn shown(self) -> &'static str {
                match self { $(Self::$variant => $shown),* }
            }
        }
    };
}
pub(crate) use table_of;

/// Longer than any cell takes.
const TOO_LONG: Duration = Duration::from_secs(60);

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
/// The line before the table.
const MARK: &str = "<!-- The test `matrix` writes this table. -->\n";

/// Runs a cell, with and without a middleware around it.
async fn run(feature: Feature, way: Way) -> Result<Cell, String> {
    let mut cells = Vec::new();
    for has_middleware in [false, true] {
        // In a task: one that fails does not hide the others.
        let cell = tokio::spawn(async move { timeout(TOO_LONG, feature.check(way, has_middleware)).await });
        let failed = |why: &dyn std::fmt::Display| format!("{feature:?} over {way:?}: {why}");
        cells.push(cell.await.map_err(|error| failed(&error))?.map_err(|_| failed(&"it takes too long"))?);
    }
    assert_eq!(cells[0], cells[1], "{feature:?} over {way:?} with a middleware");
    Ok(cells[0])
}

#[tokio::test]
async fn every_feature_works_on_every_transport() {
    let mut failures = Vec::new();
    let columns: Vec<_> = Way::ALL.iter().map(|way| way.shown()).collect();
    let mut table = format!("| | {} |\n|---|{}\n", columns.join(" | "), ":---:|".repeat(columns.len()));
    for feature in Feature::ALL {
        let mut row = format!("| {} |", feature.shown());
        for way in Way::ALL {
            let cell = run(*feature, *way).await.unwrap_or_else(|failure| {
                failures.push(failure);
                Cell::Fails
            });
            row.push_str(&format!(" {} |", cell.shown()));
        }
        table.push_str(&row);
        table.push('\n');
    }
    println!("{table}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));

    let readme = fs::read_to_string(README).unwrap();
    let (before, after) = readme.split_once(MARK).expect("the README has the line before the table");
    let end = after.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    if env::var_os("REJOINDER_BLESS").is_some() {
        fs::write(README, format!("{before}{MARK}{table}{}", &after[end..])).unwrap();
    } else {
        assert_eq!(after[..end], table, "the README differs: run this with REJOINDER_BLESS=1");
    }
}
