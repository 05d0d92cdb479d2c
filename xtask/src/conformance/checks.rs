//! Reading what the suite wrote: `server-SCENARIO-TIME/checks.json`, a folder for each scenario.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What the suite puts before a scenario's name.
const PREFIX: &str = "server-";

/// What it puts behind, for its length.
const SUFFIX: &str = "-2026-11-15T22-29-36-030Z";

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// It holds.
    Success,
    /// It does not.
    Failure,
    /// Something that should hold does not.
    Warning,
    /// It did not apply.
    Skipped,
    /// A remark.
    Info,
}

impl Status {
    /// Every status, in the order of the report's columns.
    pub(super) const ALL: [Self; 5] = [Self::Success, Self::Failure, Self::Warning, Self::Skipped, Self::Info];

    /// The suite's own word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Failure => "FAILURE",
            Self::Warning => "WARNING",
            Self::Skipped => "SKIPPED",
            Self::Info => "INFO",
        }
    }

    /// A status we do not know is an error, not a pass.
    fn parse(word: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|status| status.word() == word) {
            Some(status) => Ok(status),
            None => bail!("a check has the unknown status `{word}`"),
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    /// Its id, unique in its scenario or not.
    pub(super) id: String,
    /// How it ended.
    pub(super) status: Status,
    /// What the suite says about it.
    pub(super) message: String,
}

/// One scenario and its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scenario {
    /// Its name.
    pub(super) name: String,
    /// Its checks, in the suite's order.
    pub(super) checks: Vec<Check>,
}

impl Scenario {
    /// The checks that count against it.
    pub(super) fn bad(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| matches!(check.status, Status::Failure | Status::Warning))
    }
}

/// Reads a leg's folder, its scenarios in the order of their names.
pub(super) fn read_leg(folder: &Path) -> Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    let entries = std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        let file = path.join("checks.json");
        let scenario = std::fs::read_to_string(&file)
            .map_err(anyhow::Error::from)
            .and_then(|text| read(&path, &text))
            .with_context(|| format!("reading {}", file.display()))?;
        scenarios.push(scenario);
    }
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scenarios)
}

/// Reads one scenario.
fn read(folder: &Path, text: &str) -> Result<Scenario> {
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(scenario_name)
        .context("the folder's name is not server-SCENARIO-TIME")?
        .to_owned();
    let value: Value = serde_json::from_str(text)?;
    let checks = value.as_array().context("expected an array of checks")?.iter().map(check).collect::<Result<_>>()?;
    Ok(Scenario { name, checks })
}

/// The name between the prefix and the time.
fn scenario_name(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix(PREFIX)?;
    let (name, time) = name.split_at_checked(name.len().checked_sub(SUFFIX.len())?)?;
    (time.starts_with('-') && time.ends_with('Z') && !name.is_empty()).then_some(name)
}

/// Reads one check; its message is the error if there is one, else the description.
fn check(value: &Value) -> Result<Check> {
    let text = |key: &str| value[key].as_str();
    let id = text("id").context("a check without an id")?.to_owned();
    let status = Status::parse(text("status").unwrap_or_default()).with_context(|| format!("check `{id}`"))?;
    let message = text("errorMessage").or_else(|| text("description")).unwrap_or_default().to_owned();
    Ok(Check { id, status, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leg's folder made of `(scenario, checks.json)`, removed when dropped.
    struct Fabricated(std::path::PathBuf);

    impl Fabricated {
        fn new(test: &str, scenarios: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("xtask-{test}-{}", std::process::id()));
            for (name, checks) in scenarios {
                let folder = folder.join(format!("{PREFIX}{name}{SUFFIX}"));
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join("checks.json"), checks).unwrap();
            }
            std::fs::write(folder.join("suite.log"), "not a scenario").unwrap();
            Self(folder)
        }
    }

    impl Drop for Fabricated {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn reads_scenarios_in_order_and_ignores_files() {
        let leg = Fabricated::new(
            "order",
            &[
                ("tools-list", r#"[{"id":"a","status":"SUCCESS"}]"#),
                (
                    "server-initialize",
                    r#"[{"id":"b","status":"WARNING","description":"d","errorMessage":"why"},
                        {"id":"c","status":"INFO","description":"d"}]"#,
                ),
            ],
        );
        let scenarios = read_leg(&leg.0).unwrap();
        let names: Vec<_> = scenarios.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["server-initialize", "tools-list"]);
        assert_eq!(scenarios[0].checks[0].message, "why");
        assert_eq!(scenarios[0].checks[1].message, "d");
        assert_eq!(scenarios[0].bad().count(), 1);
        assert_eq!(scenarios[1].bad().count(), 0);
    }

    #[test]
    fn an_unknown_status_is_an_error() {
        let leg = Fabricated::new("status", &[("ping", r#"[{"id":"a","status":"MAYBE"}]"#)]);
        let error = format!("{:#}", read_leg(&leg.0).unwrap_err());
        assert!(error.contains("check `a`: a check has the unknown status `MAYBE`"), "{error}");
    }

    #[test]
    fn a_scenario_that_wrote_nothing_is_an_error() {
        let leg = Fabricated::new("nothing", &[("ping", "[]")]);
        std::fs::create_dir(leg.0.join(format!("server-pong{SUFFIX}"))).unwrap();
        assert!(read_leg(&leg.0).is_err());
    }

    #[test]
    fn names_may_hold_what_looks_like_the_rest() {
        let folder = format!("server-json-schema-2020-12{SUFFIX}");
        assert_eq!(scenario_name(&folder), Some("json-schema-2020-12"));
        assert_eq!(scenario_name("server-ping"), None);
        assert_eq!(scenario_name("other"), None);
    }
}
