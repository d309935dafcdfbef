//! The failures that `conformance/expected-failures.txt` allows. A line is `scenario` or `scenario/check`, then
//! `# reason`; an allowed failure that does not happen is an error too, so the list only ever shrinks.

use std::fs;

use crate::Outcome;
use crate::checks::{Failure, Scenario};
use crate::process::root;

const FILE: &str = "conformance/expected-failures.txt";

/// The whole list.
pub(crate) struct Expected {
    entries: Vec<Entry>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    scenario: String,
    /// Without it, every check of the scenario may fail.
    check: Option<String>,
}

/// How a scenario ended, measured against the list.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Passed,
    FailedAsExpected,
    /// With the failures that nothing allows.
    Failed(Vec<String>),
    /// With the entries that allow a failure which did not happen.
    PassedUnexpectedly(Vec<String>),
}

impl Expected {
    pub(crate) fn read() -> Outcome<Expected> {
        let text =
            fs::read_to_string(root().join(FILE)).map_err(|error| format!("cannot read {FILE}: {error}"))?;
        Expected::parse(&text)
    }

    fn parse(text: &str) -> Outcome<Expected> {
        let mut entries = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (failure, _reason) = line
                .split_once('#')
                .filter(|(failure, reason)| !failure.trim().contains(' ') && !reason.trim().is_empty())
                .ok_or_else(|| format!("{FILE}: {line:?} is not of the form `scenario[/check]  # reason`"))?;
            let (scenario, check) = match failure.trim().split_once('/') {
                Some((scenario, check)) => (scenario, Some(check.to_owned())),
                None => (failure.trim(), None),
            };
            entries.push(Entry { scenario: scenario.to_owned(), check });
        }
        Ok(Expected { entries })
    }

    pub(crate) fn judge(&self, scenario: &Scenario) -> Verdict {
        let entries: Vec<&Entry> =
            self.entries.iter().filter(|entry| entry.scenario == scenario.name).collect();
        let unexpected: Vec<String> = scenario
            .failures
            .iter()
            .filter(|failure| !entries.iter().any(|entry| entry.allows(failure)))
            .map(|Failure { check, reason }| format!("{check}: {reason}"))
            .collect();
        let stale: Vec<String> = entries
            .iter()
            .filter(|entry| !scenario.failures.iter().any(|failure| entry.allows(failure)))
            .map(|entry| entry.name())
            .collect();
        if !unexpected.is_empty() {
            Verdict::Failed(unexpected)
        } else if !stale.is_empty() {
            Verdict::PassedUnexpectedly(stale)
        } else if scenario.failures.is_empty() {
            Verdict::Passed
        } else {
            Verdict::FailedAsExpected
        }
    }

    /// The entries that name a scenario which is not among these.
    pub(crate) fn unknown(&self, names: &[String]) -> Vec<String> {
        self.entries.iter().filter(|entry| !names.contains(&entry.scenario)).map(Entry::name).collect()
    }
}

impl Entry {
    fn allows(&self, failure: &Failure) -> bool {
        self.check.as_ref().is_none_or(|check| *check == failure.check)
    }

    fn name(&self) -> String {
        match &self.check {
            Some(check) => format!("{}/{check}", self.scenario),
            None => self.scenario.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(list: &str, failed_checks: &[&str]) -> Verdict {
        let failures = failed_checks
            .iter()
            .map(|check| Failure { check: (*check).to_owned(), reason: "no".to_owned() })
            .collect();
        let scenario = Scenario { name: "tasks".to_owned(), failures, exercised: true };
        Expected::parse(list).unwrap().judge(&scenario)
    }

    #[test]
    fn a_listed_scenario_may_fail_and_must() {
        assert_eq!(judge("tasks # later", &["create"]), Verdict::FailedAsExpected);
        assert_eq!(judge("tasks # later", &[]), Verdict::PassedUnexpectedly(vec!["tasks".to_owned()]));
    }

    #[test]
    fn a_listed_check_allows_no_other_check_to_fail() {
        assert_eq!(judge("tasks/create # later", &["create"]), Verdict::FailedAsExpected);
        assert_eq!(
            judge("tasks/create # later", &["create", "ping"]),
            Verdict::Failed(vec!["ping: no".to_owned()])
        );
    }

    #[test]
    fn what_is_not_listed_must_pass() {
        assert_eq!(judge("# nothing\n", &[]), Verdict::Passed);
        assert_eq!(judge("other # later", &["create"]), Verdict::Failed(vec!["create: no".to_owned()]));
    }

    #[test]
    fn a_line_without_a_reason_is_an_error() {
        assert!(Expected::parse("tasks").is_err());
        assert!(Expected::parse("tasks #").is_err());
    }

    #[test]
    fn an_entry_for_no_scenario_is_found() {
        let expected = Expected::parse("tasks/create # later").unwrap();
        assert_eq!(expected.unknown(&["ping".to_owned()]), ["tasks/create"]);
        assert!(expected.unknown(&["tasks".to_owned()]).is_empty());
    }
}
