//! Opens anything as a `requestState`: it must not panic, and must not open.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rejoinder::__private::fuzz_state(input));
