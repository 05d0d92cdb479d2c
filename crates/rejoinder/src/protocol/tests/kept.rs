//! Whoever cannot make a state costs little.

use rejoinder_core::call::Facts;

use super::{
    super::{
        envelope::{Field, Params},
        round::Bound,
    },
    *,
};

#[test]
fn a_forged_state_is_refused_before_the_arguments_are_looked_at() {
    let engine = server().build().expect("wired right").0;
    let (body, arguments) = (Bytes::new(), r#"{"item":"tea"}"#);
    let long = "x".repeat(engine.options.state.limit + 1);
    for forged in ["", "junk", "v1.", "v1.AAAA", &long] {
        let mut bound = Bound::new(&engine, &body, ("tools/call", "buy"), Some(arguments), &Facts::default())
            .expect("nothing panics");
        let params = Params { request_state: Field::Given(forged.into()), ..Params::default() };
        assert!(bound.begin(&engine, &params).is_err());
        assert!(!bound.is_made(), "{forged:.10}");
    }
}
