//! What we want to reach, as ratios between two servers under one load.

use super::plan::{Load, name};

/// A comparison, and the least ratio, of processor time and of requests in a second, that meets its target.
#[derive(Debug)]
pub(super) struct Comparison {
    /// The server that should be cheap.
    pub(super) subject: &'static str,
    /// The one it is compared with.
    pub(super) peer: &'static str,
    /// Under which load.
    pub(super) load: Load,
    /// The target; none where the ratio is shown for information.
    pub(super) at_least: Option<f64>,
}

/// Of a bare handler that sends the same bytes.
const OF_FLOOR: Option<f64> = Some(0.9);

/// Times the peer used as its documentation shows.
const TIMES_DOCUMENTED: Option<f64> = Some(4.0);

/// Times the peer at its best.
const TIMES_BEST: Option<f64> = Some(3.0);

/// Of a bare handler that sends the same list: at most 1.2 times its cost.
const OF_LIST: Option<f64> = Some(1.0 / 1.2);

/// Times the peer that makes its rounds by hand, and only signs where we encrypt.
const TIMES_BY_HAND: Option<f64> = Some(2.5);

/// Not slower.
const LEVEL: Option<f64> = Some(1.0);

/// A thousand tools may cost this much of one tool's speed, which is what the machine's noise allows to see.
const FLAT: Option<f64> = Some(0.95);

/// Every comparison of the report.
///
/// No target says at how many connections. With one, waking up costs more than the work: none is judged there but that of
/// stdio, which names it.
pub(super) const COMPARISONS: &[Comparison] = &[
    call(1, name::FLOOR, None),
    call(16, name::FLOOR, OF_FLOOR),
    call(64, name::FLOOR, OF_FLOOR),
    call(1, name::RMCP, None),
    call(16, name::RMCP, TIMES_DOCUMENTED),
    call(64, name::RMCP, TIMES_DOCUMENTED),
    call(1, name::RMCP_ARC, None),
    call(16, name::RMCP_ARC, TIMES_BEST),
    call(64, name::RMCP_ARC, TIMES_BEST),
    many(name::REJOINDER_MANY, name::REJOINDER, Load::Call(16), FLAT),
    many(name::RMCP_MANY, name::RMCP_ARC, Load::Call(16), None),
    many(name::REJOINDER_MANY, name::FLOOR, Load::List(16), OF_LIST),
    many(name::REJOINDER_MANY, name::RMCP_MANY, Load::List(16), None),
    many(name::REJOINDER_ROUNDS, name::RMCP_ROUNDS, Load::Rounds(16), TIMES_BY_HAND),
    many(name::REJOINDER_ROUNDS, name::RMCP_ROUNDS, Load::Rounds(64), TIMES_BY_HAND),
    many(name::REJOINDER_ROUNDS, name::RMCP_ROUNDS, Load::RoundsAwake(16), None),
    many(name::FLOOR, name::RMCP_ROUNDS, Load::Rounds(16), None),
    many(name::FLOOR, name::RMCP_ROUNDS, Load::Rounds(64), None),
    many(name::FLOOR, name::RMCP_ROUNDS, Load::RoundsAwake(16), None),
    stdio(1, name::RMCP_STDIO, None),
    stdio(64, name::RMCP_STDIO, TIMES_DOCUMENTED),
    stdio(1, name::RMCP_PIPES, LEVEL),
    stdio(64, name::RMCP_PIPES, TIMES_DOCUMENTED),
];

const fn call(connections: usize, peer: &'static str, at_least: Option<f64>) -> Comparison {
    let load = Load::Call(connections);
    many(name::REJOINDER, peer, load, at_least)
}

const fn stdio(in_flight: usize, peer: &'static str, at_least: Option<f64>) -> Comparison {
    let load = Load::Stdio(in_flight);
    many(name::REJOINDER_STDIO, peer, load, at_least)
}

const fn many(subject: &'static str, peer: &'static str, load: Load, at_least: Option<f64>) -> Comparison {
    Comparison { subject, peer, load, at_least }
}

impl Comparison {
    /// The word for what was measured: cheap and slow is not enough.
    pub(super) fn verdict(&self, cpu: f64, rate: f64) -> &'static str {
        match self.at_least {
            None => "",
            Some(least) if cpu >= least && rate >= least => "met",
            Some(_) => "MISSED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::plan;

    #[test]
    fn everything_compared_is_measured() {
        let subjects = plan::subjects(&plan::Kept { list: "list".into(), question: "question".into() });
        for one in COMPARISONS {
            for wanted in [one.subject, one.peer] {
                let found = subjects.iter().find(|subject| subject.name == wanted);
                let loads = found.map(|subject| subject.loads.as_slice()).unwrap_or_default();
                assert!(loads.contains(&one.load), "{wanted}: {}", one.load);
            }
        }
    }

    #[test]
    fn a_target_is_met_or_missed() {
        let one = call(16, name::FLOOR, OF_FLOOR);
        assert_eq!(one.verdict(0.9, 0.9), "met");
        assert_eq!(one.verdict(0.89, 1.0), "MISSED");
        assert_eq!(one.verdict(1.0, 0.89), "MISSED");
        assert_eq!(call(1, name::FLOOR, None).verdict(0.1, 0.1), "");
    }
}
