//! What a call costs inside the process: resolvers, the seal, and the state that a client carries.
//!
//! Timed in loops of our own. Differences between tools are what is wanted, and those need the tools to take turns
//! within one process, which a bench harness that measures one function after the other does not do.

pub mod nodes;
pub mod state;

use std::time::Instant;

/// Something to time, by name.
pub type Timed<'a> = (String, Box<dyn FnMut() + 'a>);

/// How long each takes at best, in nanoseconds: what disturbs a run makes it longer, never shorter.
///
/// They take turns, `rounds` times, each `times` in a row.
pub fn fastest(things: &mut [Timed<'_>], rounds: usize, times: u32) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; things.len()];
    for _ in 0..rounds {
        for ((_, thing), best) in things.iter_mut().zip(&mut best) {
            let begin = Instant::now();
            (0..times).for_each(|_| thing());
            let each = begin.elapsed().as_secs_f64() * 1e9 / f64::from(times);
            *best = best.min(each);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn they_take_turns() {
        let order = RefCell::new(String::new());
        let (order, mut things) = (&order, Vec::<Timed<'_>>::new());
        for letter in ['a', 'b'] {
            things.push((letter.into(), Box::new(move || order.borrow_mut().push(letter))));
        }
        fastest(&mut things, 2, 3);
        assert_eq!(order.take(), "aaabbbaaabbb");
    }
}
