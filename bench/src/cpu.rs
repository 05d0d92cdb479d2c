//! Processor time of another process, from `/proc`.

use anyhow::{Context, Result};

/// The kernel reports times to user space in hundredths of a second on every Linux of today (`USER_HZ`).
const TICK_US: f64 = 10_000.0;

/// User and system time of this process so far, in microseconds, all its threads together.
///
/// # Errors
///
/// When there is no such process, or no `/proc`.
pub fn used_us(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("no processor time of process {pid}"))?;
    ticks(&stat).map(|ticks| ticks * TICK_US).with_context(|| format!("/proc/{pid}/stat is not as expected"))
}

/// Fields 14 and 15 of the line. The name in field 2 may hold blanks, so counting starts behind its last bracket.
fn ticks(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_user_and_system_behind_an_awkward_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 30 12 0 0 20 0 2 0 5";
        assert_eq!(ticks(stat), Some(42.0));
    }

    #[test]
    fn refuses_a_short_line() {
        assert_eq!(ticks("7 (a) S 1"), None);
    }
}
