//! `cargo xtask lines`: lines of code of every crate and its rooms, without comments, blank lines and unit tests.
//!
//! A doc comment is a comment. A unit test is an item with `#[cfg(test)]`, a file `tests.rs` or a folder `tests`. The end of an
//! item is found by its indentation, because rustfmt formats every file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::tools;

/// What users of the library compile. Together these crates may have at most [`MOST`] lines.
const LIBRARY: [&str; 3] = ["rejoinder", "rejoinder-macros", "rejoinder-wire"];

const MOST: usize = 22_800;

/// What the page calls files that are in no room.
const ROOT: &str = "(root)";

/// Lines by crate, then by room.
type Lines = BTreeMap<String, BTreeMap<String, usize>>;

/// Counts, and prints the page.
pub(crate) fn run() -> Result<()> {
    let mut lines = Lines::new();
    for (name, folder) in entries(&tools::root().join("crates"))? {
        let rooms = lines.entry(name).or_default();
        for (name, path) in entries(&folder.join("src"))? {
            let room = if path.is_dir() { name.clone() } else { ROOT.to_owned() };
            *rooms.entry(room).or_default() += count(&name, &path)?;
        }
    }
    print!("{}", page(&lines));
    Ok(())
}

/// The names and paths of what is in a folder.
fn entries(folder: &Path) -> Result<BTreeMap<String, std::path::PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    entries
        .map(|entry| {
            entry
                .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
                .context("reading a folder")
        })
        .collect()
}

/// The lines of a file or of everything in a folder.
fn count(name: &str, path: &Path) -> Result<usize> {
    if matches!(name, "tests" | "tests.rs") {
        return Ok(0);
    }
    if path.is_dir() {
        return entries(path)?.iter().map(|(name, path)| count(name, path)).sum();
    }
    if path.extension().is_none_or(|extension| extension != "rs") {
        return Ok(0);
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(lines_of_code(&text))
}

/// The lines of code in the text of a file.
fn lines_of_code(text: &str) -> usize {
    let mut code = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"));
    let mut count = 0;
    while let Some(line) = code.next() {
        if is_of_tests(line) {
            skip_item(indentation(line), &mut code);
        } else {
            count += 1;
        }
    }
    count
}

/// Whether a line is an attribute that keeps an item for unit tests only.
fn is_of_tests(line: &str) -> bool {
    line.trim_start().starts_with("#[cfg(test)]") || line.trim_start().starts_with("#[cfg(all(test,")
}

/// Skips the item behind an attribute with this indentation.
fn skip_item<'a>(indent: usize, code: &mut impl Iterator<Item = &'a str>) {
    let is_end = |line: &&str| {
        let outside = indentation(line) <= indent && !line.trim_start().starts_with("#[");
        outside && line.ends_with(['}', ';', ','])
    };
    code.find(is_end);
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Every crate with its rooms, the largest first, and the sum of the library beside its limit.
fn page(lines: &Lines) -> String {
    let mut out = String::new();
    for (name, rooms) in lines {
        let _ = writeln!(out, "{:>7}  {name}", grouped(rooms.values().sum()));
        let mut rooms: Vec<_> = rooms.iter().collect();
        rooms.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (room, count) in rooms {
            let _ = writeln!(out, "{:>7}    {room}", grouped(*count));
        }
    }
    let sum: usize = LIBRARY.iter().filter_map(|name| lines.get(*name)).flat_map(BTreeMap::values).sum();
    let apart = grouped(sum.abs_diff(MOST));
    let apart = if sum > MOST { format!("{apart} too many") } else { format!("{apart} left") };
    let _ = writeln!(out, "\n{:>7}  {}, of at most {}: {apart}", grouped(sum), LIBRARY.join(" + "), grouped(MOST));
    out
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_are_not_code() {
        assert_eq!(lines_of_code("//! Docs.\n\n/// More.\nfn f() {\n    // Why.\n    g(); // what\n}\n"), 3);
    }

    #[test]
    fn what_is_only_for_tests_is_not_code_wherever_it_is() {
        let module = "#[cfg(test)]\nmod tests;\n\npub use a::A;\n";
        assert_eq!(lines_of_code(module), 1);
        let method = "impl A {\n    #[cfg(test)]\n    #[must_use]\n    fn f() {\n        if x {\n            g();\n        }\n    }\n\n    fn h() {}\n}\n";
        assert_eq!(lines_of_code(method), 3);
        let field = "struct A {\n    a: u8,\n    #[cfg(test)]\n    b: u8,\n}\n";
        assert_eq!(lines_of_code(field), 3);
        let last = "fn f() {}\n\n#[cfg(all(test, feature = \"sse\"))]\nmod tests {\n    fn g() {\n    }\n}\n";
        assert_eq!(lines_of_code(last), 1);
    }

    #[test]
    fn the_sum_stands_beside_its_limit() {
        let of = |counts: &[(&str, usize)]| counts.iter().map(|(room, count)| ((*room).to_owned(), *count)).collect();
        let mut lines = Lines::from([
            ("rejoinder".to_owned(), of(&[(ROOT, 100), ("call", 22_000)])),
            ("rejoinder-cli".to_owned(), of(&[(ROOT, 9_000)])),
            ("rejoinder-wire".to_owned(), of(&[(ROOT, 600)])),
        ]);
        let begin = " 22,100  rejoinder\n 22,000    call\n    100    (root)\n  9,000  rejoinder-cli\n";
        assert!(page(&lines).starts_with(begin), "{}", page(&lines));
        let end = "\n\n 22,700  rejoinder + rejoinder-macros + rejoinder-wire, of at most 22,800: 100 left\n";
        assert!(page(&lines).ends_with(end), "{}", page(&lines));
        lines.insert("rejoinder-macros".to_owned(), of(&[(ROOT, 1_100)]));
        assert!(page(&lines).ends_with(", of at most 22,800: 1,000 too many\n"), "{}", page(&lines));
    }
}
