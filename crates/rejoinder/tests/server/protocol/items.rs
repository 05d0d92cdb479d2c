//! That every item of the protocol has a test, and every item of how resolvers ask and what becomes of it.
//!
//! The numbers, in short; what is demanded in full is what the tests say.
//!
//! * C1 to C16 envelope, results and errors; C17 to C21 discovery, versions and eras; C22 to C40 rounds, questions and
//!   states; C41 capabilities; C42 to C50 subscriptions; C51 to C56 cancellation, progress and logs; C57 to C64 HTTP and its
//!   headers; C65 to C69 caching, tracing, stdio and schemas.
//! * D1 a key is the same in every process; D2 a digest tells questions apart; D3 every question goes out with a state;
//!   D4 which answer counts; D5 what reworded and re-sent answers are worth; D6 what is computed beats what is recorded;
//!   D7 what is recorded is what the client sent, checked again; D8 only answers that a round used go on; D9 forms are flat;
//!   D10 answers that do not fit; D11 the function does not see the state; D12 a question with other words in every round;
//!   D13 an answer to other words is logged.
//! * E1 a decline ends the call if the value is required; E2 an `Outcome` shows what was done; E3 the consumer decides;
//!   E4 a decline does not wait for other questions; E5 a resolver's errors are a tool's; E6 rounds by hand beside resolvers
//!   that ask; E7 what is asked changes no output schema; E8 a client that answers with an error.

use std::{collections::BTreeSet, fs, path::Path};

/// An item: the letter of its list and its number in it.
type Item = (char, u8);

/// C is the protocol, D how a question is asked and answered, E what becomes of the outcome.
fn items() -> BTreeSet<Item> {
    let all = |list, last| (1..=last).map(move |number| (list, number));
    let all = all('c', 69).chain(all('d', 13)).chain(all('e', 8));
    all.filter(|item| EXCEPT.iter().all(|(without, _)| without != item)).collect()
}

/// Items without a test, and why. (Of D7, half a surrogate pair has none either: it is not a string in Rust, so a request that
/// has one is refused as a whole. Of D9 and E6, what does not compile is among the cases of `tests/compile`.)
const EXCEPT: [(Item, &str); 2] = [
    (('c', 40), "a note about what is deprecated"),
    (('d', 11), "a function cannot read the state: there is nothing that it could call"),
];

/// The items that names of tests in a file begin with: `fn c26_c41_..` is for two of them. A function that is not a test
/// shows nothing.
fn tested(code: &str) -> impl Iterator<Item = Item> + '_ {
    let after = |mark| code.split(mark).skip(1);
    let tests = after("#[test]").chain(after("#[tokio::test")).filter_map(|rest| rest.split("fn ").nth(1));
    tests.flat_map(|name| name.split('_').map_while(item))
}

fn item(part: &str) -> Option<Item> {
    let list = part.chars().next().filter(|list| matches!(list, 'c' | 'd' | 'e'))?;
    Some((list, part[1..].parse().ok()?))
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_item_has_a_test_that_carries_its_number() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["tests", "src/call", "src/rounds"] {
        sources(&here.join(folder), &mut files);
    }
    let tested: BTreeSet<Item> = files.iter().flat_map(|code| tested(code)).collect();
    assert_eq!(items().difference(&tested).collect::<Vec<_>>(), [] as [&Item; 0], "without a test");
    assert_eq!(tested.difference(&items()).collect::<Vec<_>>(), [] as [&Item; 0], "not an item");
}

#[test]
fn only_tests_count() {
    // In pieces, so that this file has no such tests itself.
    let (test, later) = (format!("#[{}]", "test"), format!("#[tokio::{}(start_paused = true)]", "test"));
    let code = format!(
        "{test}\nfn c01_a() {{}}\nfn c02_b() {{}}\n{later}\nasync fn c03_d4_e5_c() {{}}\nasync fn c05_d() {{}}\n"
    );
    assert_eq!(tested(&code).collect::<Vec<_>>(), [('c', 1), ('c', 3), ('d', 4), ('e', 5)]);
}
