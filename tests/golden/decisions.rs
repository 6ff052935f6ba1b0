//! Cases of the decision memory.

use serde_json::Value;

use crate::{decisions_finding, decisions_judgement, decisions_records, decisions_surface};

/// Runs one case of a file.
pub fn run(file: &str, case: &Value) -> Result<Value, String> {
    if let Some(answer) = decisions_records::run(file, case) {
        return answer;
    }
    if let Some(answer) = decisions_surface::run(file, case) {
        return answer;
    }
    let runners = [decisions_judgement::run, decisions_finding::run];
    runners
        .iter()
        .find_map(|run| run(file, &case["input"]))
        .unwrap_or_else(|| Err(format!("no runner for file {file:?}")))
}
