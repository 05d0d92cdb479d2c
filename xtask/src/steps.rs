//! A chore of several steps: each gets one line that says how it ended and how long it took.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The steps done so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Does one step; its error ends the chore.
    pub(crate) fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("==> {name}");
        let begin = Instant::now();
        let result = work();
        let took = begin.elapsed();
        if result.is_err() {
            self.summary();
            println!("{}", line("FAILED", name, took));
        }
        self.done.push((name, took));
        result.with_context(|| format!("step `{name}`"))
    }

    /// Prints the line of every step done.
    pub(crate) fn summary(&self) {
        println!();
        for (name, took) in &self.done {
            println!("{}", line("ok", name, *took));
        }
    }
}

/// One step's line.
fn line(how: &str, name: &str, took: Duration) -> String {
    format!("{how:>6}  {:>7.1} s  {name}", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_failed_step_is_named_in_the_error() {
        let mut steps = Steps::default();
        assert_eq!(steps.step("one", || Ok(1)).unwrap(), 1);
        let error = steps.step::<()>("two", || bail!("broken")).unwrap_err();
        assert_eq!(format!("{error:#}"), "step `two`: broken");
    }

    #[test]
    fn a_line_says_how_long() {
        let line = line("ok", "clippy", Duration::from_millis(1250));
        assert_eq!(line, "    ok      1.2 s  clippy");
    }
}
