//! What a call costs inside the process, printed as JSON: `bench-inside [--rounds N]`.

use anyhow::Result;
use rejoinder::__private::measured_seal;
use rejoinder_bench::flags::Flags;
use rejoinder_bench::inside::{self, Timed, nodes, state};
use rejoinder_bench::serve;
use serde_json::{Map, Value, json};

/// The sizes of state that are sealed.
const SIZES: [usize; 3] = [256, 1024, 16 * 1024];

/// How often each thing is done in a row: long enough to time, too short to be interrupted often.
const TIMES: u32 = 200;

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let mut things = things();
    let rounds = flags.get("rounds")?.unwrap_or(500);
    let fastest = inside::fastest(&mut things, rounds, TIMES);
    let ns: Map<String, Value> = things.iter().zip(fastest).map(|((name, _), ns)| (name.clone(), ns.into())).collect();
    let lengths = serve::runtime()?.block_on(state::lengths())?;
    println!("{}", json!({ "ns": ns, "state": lengths }));
    Ok(())
}

/// Everything there is to time.
fn things() -> Vec<Timed<'static>> {
    let mut things: Vec<Timed<'static>> = Vec::new();
    for (name, tool) in nodes::tools() {
        things.push((name, Box::new(move || nodes::call(&tool))));
    }
    for size in SIZES {
        let (seal, state) = (measured_seal(), vec![b'x'; size]);
        things
            .push((format!("seal {size}"), Box::new(move || assert_eq!(seal(&state), size, "what was sealed opens"))));
    }
    things
}
