//! Reads the `checks.json` files that a conformance run leaves. It does not judge them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Outcome;

/// One scenario of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) failures: Vec<Failure>,
    /// Whether any check of its own succeeded or failed; else it was skipped or only warned.
    pub(crate) exercised: bool,
}

/// A check that failed.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) check: String,
    pub(crate) reason: String,
}

/// Every suite adds this check to every scenario, also to one that did nothing but connect.
const SCHEMA_CHECK: &str = "wire-schema-valid";
/// `-2026-11-21T07-24-58-953Z`
const TIMESTAMP_LENGTH: usize = 25;

/// The scenarios below a folder that `-o` named, sorted by name.
pub(crate) fn read_scenarios(folder: &Path) -> Outcome<Vec<Scenario>> {
    let unreadable = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", folder.display());
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(&error))? {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let name = scenario_name(&entry.file_name().to_string_lossy())?;
        let file = entry.path().join("checks.json");
        let text = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        scenarios.push(scenario(name, &text)?);
    }
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(scenarios)
}

/// `server-ping-2026-11-21T07-24-58-481Z` is the folder of `ping`.
fn scenario_name(folder: &str) -> Outcome<String> {
    let name =
        folder.strip_prefix("server-").and_then(|rest| rest.get(..rest.len().checked_sub(TIMESTAMP_LENGTH)?));
    name.map(str::to_owned).ok_or_else(|| format!("{folder} is not the folder of a scenario"))
}

fn scenario(name: String, text: &[u8]) -> Outcome<Scenario> {
    let checks: Value =
        serde_json::from_slice(text).map_err(|error| format!("checks.json of {name}: {error}"))?;
    let checks = checks.as_array().ok_or_else(|| format!("checks.json of {name} is no array"))?;
    let member = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let failures = checks
        .iter()
        .filter(|check| check["status"] == "FAILURE")
        .map(|check| Failure { check: member(check, "id"), reason: member(check, "errorMessage") })
        .collect();
    let exercised = checks.iter().any(|check| {
        check["id"] != SCHEMA_CHECK && (check["status"] == "SUCCESS" || check["status"] == "FAILURE")
    });
    Ok(Scenario { name, failures, exercised })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_scenario() {
        assert_eq!(scenario_name("server-ping-2026-11-21T07-24-58-481Z"), Ok("ping".to_owned()));
        assert_eq!(
            scenario_name("server-server-initialize-2026-11-21T07-24-58-269Z"),
            Ok("server-initialize".to_owned())
        );
        assert!(scenario_name("notes").is_err());
    }

    #[test]
    fn a_scenario_that_only_connected_exercised_nothing() {
        let text = br#"[{"id":"skills","status":"SKIPPED"},{"id":"wire-schema-valid","status":"SUCCESS"}]"#;
        let read = scenario("skills".to_owned(), text);
        assert_eq!(read, Ok(Scenario { name: "skills".to_owned(), failures: vec![], exercised: false }));
    }

    #[test]
    fn a_failed_check_is_named_with_its_reason() {
        let text = br#"[{"id":"ping","status":"FAILURE","errorMessage":"silence"}]"#;
        let failure = Failure { check: "ping".to_owned(), reason: "silence".to_owned() };
        let read = scenario("ping".to_owned(), text);
        assert_eq!(read, Ok(Scenario { name: "ping".to_owned(), failures: vec![failure], exercised: true }));
    }
}
