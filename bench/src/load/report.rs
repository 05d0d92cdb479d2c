//! What a run of load found.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

/// The result of one run, printed as a line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Replies counted.
    pub requests: usize,
    /// How long that took.
    pub seconds: f64,
    /// The median time from sending a request to having its whole reply, in microseconds.
    pub p50_us: f64,
    /// The time that one reply of a hundred exceeded.
    pub p99_us: f64,
    /// Replies with another status than 200.
    pub non_200: usize,
    /// Replies with another body than the first one.
    pub mismatched: usize,
    /// Size of that first body.
    pub body_bytes: usize,
    /// Processor time of the server for each request, in microseconds, when its process is known.
    pub cpu_us: Option<f64>,
}

/// How long a run lasts.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Time before counting starts.
    pub warmup: Duration,
    /// Time to count.
    pub length: Duration,
}

/// Counts replies inside a [`Window`].
#[derive(Debug)]
pub struct Tally {
    window: Window,
    pid: Option<u32>,
    begin: Instant,
    /// Set once warm-up is over: when counting began, and the processor time used by then.
    counting: Option<(Instant, Option<f64>)>,
    nanos: Vec<u32>,
    non_200: usize,
    mismatched: usize,
}

impl Tally {
    /// Starts the clock. `pid` is the server's process, if its processor time is wanted.
    pub fn new(window: Window, pid: Option<u32>) -> Self {
        Self {
            window,
            pid,
            begin: Instant::now(),
            counting: None,
            nanos: Vec::with_capacity(1 << 20),
            non_200: 0,
            mismatched: 0,
        }
    }

    /// Counts a reply that arrived `now`; false when the run is over.
    ///
    /// # Errors
    ///
    /// When the server's processor time cannot be read.
    pub fn count(&mut self, now: Instant, sent: Instant, ok: bool, same: bool) -> Result<bool> {
        let Some((start, _)) = self.counting else {
            if now - self.begin >= self.window.warmup {
                self.counting = Some((Instant::now(), self.cpu()?));
            }
            return Ok(true);
        };
        // Four seconds fit: a slower reply is cut to that, and the percentiles stay what they are.
        let nanos = u32::try_from((now - sent).as_nanos()).unwrap_or(u32::MAX);
        self.nanos.push(nanos);
        self.non_200 += usize::from(!ok);
        self.mismatched += usize::from(!same);
        Ok(now - start < self.window.length)
    }

    /// Closes the run.
    ///
    /// # Errors
    ///
    /// When nothing was counted, or the server's processor time cannot be read.
    pub fn finish(mut self, body_bytes: usize) -> Result<Report> {
        let used = self.cpu()?;
        let requests = self.nanos.len();
        let counted = self.counting.filter(|_| requests > 0);
        ensure!(counted.is_some(), "no reply came inside the window");
        let (start, before) = counted.unwrap_or((self.begin, None));
        self.nanos.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "counts of a bench stay far below 2^52")]
        let cpu_us = used.zip(before).map(|(after, before)| (after - before) / requests as f64);
        Ok(Report {
            requests,
            seconds: start.elapsed().as_secs_f64(),
            p50_us: percentile(&self.nanos, 50),
            p99_us: percentile(&self.nanos, 99),
            non_200: self.non_200,
            mismatched: self.mismatched,
            body_bytes,
            cpu_us,
        })
    }

    fn cpu(&self) -> Result<Option<f64>> {
        self.pid.map(cpu_us_of).transpose()
    }
}

/// The smallest value that at least `percent` of the sorted values do not exceed, in microseconds.
fn percentile(sorted: &[u32], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0.0, |nanos| f64::from(*nanos) / 1000.0)
}

/// User and system time of this process so far, in microseconds, all its threads together.
///
/// From the process's own clock, which counts nanoseconds: `/proc/PID/stat` has hundredths of a second only, which is too
/// coarse for a run of a third of one.
#[cfg(target_os = "linux")]
fn cpu_us_of(pid: u32) -> Result<f64> {
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
#[cfg(not(target_os = "linux"))]
fn cpu_us_of(_: u32) -> Result<f64> {
    anyhow::bail!("processor time is measured on Linux only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_hundred() {
        let nanos: Vec<u32> = (1..=100).map(|n| n * 1000).collect();
        assert_eq!(percentile(&nanos, 50), 50.0);
        assert_eq!(percentile(&nanos, 99), 99.0);
        assert_eq!(percentile(&[7000], 99), 7.0);
        assert_eq!(percentile(&[], 50), 0.0);
    }

    #[test]
    fn warm_up_is_not_counted_and_the_window_ends_the_run() {
        let mut tally = Tally::new(Window { warmup: Duration::ZERO, length: Duration::from_secs(60) }, None);
        let now = Instant::now();
        assert!(tally.count(now, now, true, true).unwrap());
        assert!(tally.count(now, now, true, true).unwrap());
        assert!(!tally.count(now + Duration::from_secs(61), now, false, false).unwrap());
        let report = tally.finish(9).unwrap();
        assert_eq!((report.requests, report.non_200, report.mismatched), (2, 1, 1));
        assert_eq!(report.cpu_us, None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_works_uses_processor_time() {
        let pid = std::process::id();
        let before = cpu_us_of(pid).unwrap();
        let work = (0..100_000_u64).fold(0, |sum, one| sum ^ std::hint::black_box(one));
        assert!(cpu_us_of(pid).unwrap() > before, "{work}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_is_not_there_is_named() {
        // The kernel numbers no process above 2^22.
        let nobody = (1 << 22) + 1;
        assert_eq!(cpu_us_of(nobody).unwrap_err().to_string(), "there is no process 4194305");
    }
}
