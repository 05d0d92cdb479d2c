//! Processor time of another process.

use anyhow::Result;

/// User and system time of this process so far, in microseconds, all its threads together.
///
/// From the process's own clock, which counts nanoseconds: `/proc/PID/stat` has hundredths of a second only, which is too
/// coarse for a run of a third of one.
///
/// # Errors
///
/// When there is no such process.
#[cfg(target_os = "linux")]
pub fn used_us(pid: u32) -> Result<f64> {
    use anyhow::Context;
    use nix::sys::time::TimeValLike;
    use nix::time::{clock_getcpuclockid, clock_gettime};
    use nix::unistd::Pid;

    let clock =
        clock_getcpuclockid(Pid::from_raw(pid.try_into()?)).with_context(|| format!("there is no process {pid}"))?;
    let used = clock_gettime(clock).with_context(|| format!("process {pid} is gone"))?;
    #[expect(clippy::cast_precision_loss, reason = "2^52 nanoseconds are fifty days")]
    Ok(used.num_nanoseconds() as f64 / 1000.0)
}

/// Elsewhere one process cannot look at another's clock.
///
/// # Errors
///
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn used_us(_: u32) -> Result<f64> {
    anyhow::bail!("processor time is measured on Linux only")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_works_uses_processor_time() {
        let pid = std::process::id();
        let before = used_us(pid).unwrap();
        let work = (0..100_000_u64).fold(0, |sum, one| sum ^ std::hint::black_box(one));
        assert!(used_us(pid).unwrap() > before, "{work}");
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        // The kernel numbers no process above 2^22.
        let nobody = (1 << 22) + 1;
        assert_eq!(used_us(nobody).unwrap_err().to_string(), "there is no process 4194305");
    }
}
