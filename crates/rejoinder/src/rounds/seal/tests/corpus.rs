use std::{fs, path::Path};

use super::super::fuzz;

/// What the fuzzer starts from, run once by every `cargo test`.
#[test]
fn the_seeds_of_the_fuzzer_hold() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/open_state");
    let seeds: Vec<_> = fs::read_dir(seeds).unwrap().map(|seed| fs::read(seed.unwrap().path()).unwrap()).collect();
    assert!(seeds.len() >= 5);
    seeds.iter().for_each(|seed| fuzz(seed));
    fuzz(b"");
    (0..=255).for_each(|byte| fuzz(&[byte]));
}
