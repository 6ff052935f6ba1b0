//! A decision as a caller describes it, before it is stored.

use serde_json::Value;

use crate::record::Decision;
use crate::record::DecisionLimits;
use crate::record::decode::{respell, text};
use crate::store::DecisionStoreOptions;
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap, pointer};
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// Categories that every store accepts.
pub const CATEGORIES: &[&str] = &["architecture", "process", "integration", "tooling", "security"];
/// Values of `stakes`, the lowest first.
pub const STAKES: &[&str] = &["low", "medium", "high", "critical"];
/// Types of reasons.
pub const REASONS: &[&str] =
    &["authority", "analogy", "analysis", "pattern", "intuition", "empirical", "elimination", "constraint"];
/// Values of `mental_state`.
pub const MENTAL_STATES: &[&str] = &["deliberate", "reactive", "exploratory", "habitual", "pressured"];

/// A field of a decision that must be corrected before it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidField {
    /// The field, such as `reasons[0].type`.
    pub field: String,
    /// The rule it breaks.
    pub message: String,
}

/// Reads what a caller says of a decision; [`invalid_fields`] tells whether it may be stored.
///
/// # Errors
///
/// `INVALID_INPUT` for a field of another type or a period that cannot be read.
pub fn decision_from_arguments(arguments: &JsonMap, agent: &str, now: i64) -> Result<Decision> {
    let mut fields = Fields::open(respell(Value::Object(arguments.clone())), "")?;
    let mut decision = Decision {
        decision: fields.string_or("decision", "")?,
        category: fields.string_or("category", "")?,
        confidence: fields.opt_number("confidence", f64::MIN, f64::MAX)?,
        stakes: Some(fields.string_or("stakes", "medium")?),
        status: "pending".to_owned(),
        date: timestamps::iso(now),
        ..Decision::default()
    };
    decision.read_details(&mut fields)?;
    decision.summary.clone_from(&decision.decision);
    decision.recorded_by = Some(agent.to_owned());
    if let Some(period) = text(&mut fields, "review_in")? {
        decision.review_by = review_by(&period, now).map_err(|error| error.at("/review_in"))?;
    }
    Ok(decision)
}

/// Returns the date after a period such as `7d`, `2w` or `1m`; nothing when its unit is not known.
fn review_by(period: &str, now: i64) -> Result<Option<String>> {
    let unit = period.chars().next_back().unwrap_or_default();
    let number = trim(&period[..period.len() - unit.len_utf8()]);
    let wrong = || {
        let message = format!("expected a number and one of d, w and m, got {}", quote(period));
        Error::new(ErrorCode::InvalidInput, message)
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let days = match unit {
        'd' => 1,
        'w' => 7,
        'm' => 30,
        _ => return Ok(None),
    };
    Ok(Some(timestamps::date(now.saturating_add(number.saturating_mul(days).saturating_mul(timestamps::DAY_MS)))))
}

/// Returns what is wrong with a draft, in the order of its fields.
pub fn invalid_fields(decision: &Decision, options: &DecisionStoreOptions) -> Vec<InvalidField> {
    let mut found = Vec::new();
    let mut add = |field: String, message: String| found.push(InvalidField { field, message });
    if trim(&decision.decision).is_empty() {
        add("decision".to_owned(), "must not be empty".to_owned());
    }
    if !decision.confidence.is_some_and(|confidence| (0.0..=1.0).contains(&confidence)) {
        add("confidence".to_owned(), "must be a number from 0 to 1".to_owned());
    }
    if !CATEGORIES.contains(&decision.category.as_str()) && !options.categories.contains(&decision.category) {
        add("category".to_owned(), one_of(CATEGORIES));
    }
    if !decision.stakes.as_deref().is_some_and(|stakes| STAKES.contains(&stakes)) {
        add("stakes".to_owned(), one_of(STAKES));
    }
    for (index, reason) in decision.reasons.iter().enumerate() {
        if !REASONS.contains(&reason.kind.as_str()) {
            add(format!("reasons[{index}].type"), one_of(REASONS));
        }
        if trim(&reason.text).is_empty() {
            add(format!("reasons[{index}].text"), "must not be empty".to_owned());
        }
    }
    if decision.mental_state.as_deref().is_some_and(|state| !MENTAL_STATES.contains(&state)) {
        add("mentalState".to_owned(), one_of(MENTAL_STATES));
    }
    found
}

fn one_of(names: &[&str]) -> String {
    format!("must be one of {}", names.join(", "))
}

/// Refuses a draft with problems; the sentence names all of them.
///
/// # Errors
///
/// `INVALID_INPUT` at the first field that breaks a rule, and those of [`check_size`].
pub fn validate(decision: &Decision, options: &DecisionStoreOptions) -> Result<()> {
    let invalid = invalid_fields(decision, options);
    let Some(first) = invalid.first() else { return check_size(decision, options.limits, "") };
    let messages: Vec<String> =
        invalid.iter().map(|problem| format!("{}: {}", problem.field, problem.message)).collect();
    let at = first.field.replace("mentalState", "mental_state").replace(['[', '.'], "/").replace(']', "");
    Err(Error::new(ErrorCode::InvalidInput, messages.join("; ")).at(format!("/{at}")))
}

/// Refuses a record that is larger than the store takes.
///
/// # Errors
///
/// `TOO_LARGE` at the first list or text beyond its limit.
pub fn check_size(decision: &Decision, limits: DecisionLimits, path: &str) -> Result<()> {
    let deliberation = decision.deliberation.as_ref();
    let lists = [
        ("tags", decision.tags.len(), limits.tags),
        ("kpi_indicators", decision.kpi_indicators.len(), limits.tags),
        ("related_to", decision.related_to.len(), limits.steps),
        ("reasons", decision.reasons.len(), limits.reasons),
        ("trace", decision.trace.len(), limits.steps),
        ("deliberation/inputs", deliberation.map_or(0, |it| it.inputs.len()), limits.steps),
        ("deliberation/steps", deliberation.map_or(0, |it| it.steps.len()), limits.steps),
    ];
    if let Some((name, len, most)) = lists.into_iter().find(|(_, len, most)| len > most) {
        let message = format!("{name}: has {len} entries, the limit is {most}");
        return Err(Error::new(ErrorCode::TooLarge, message).at(format!("{path}/{name}")));
    }
    let record = crate::record::decode::to_map(decision);
    let is_twice = decision.summary == decision.decision;
    for (key, value) in record.iter().filter(|(key, _)| !(is_twice && key.as_str() == "summary")) {
        check_texts(value, limits.text_bytes, &pointer(path, key))?;
    }
    Ok(())
}

/// Refuses a text that is too long, wherever it is; records nest as deep as JSON may.
fn check_texts(value: &Value, most: usize, path: &str) -> Result<()> {
    match value {
        Value::String(text) if text.len() > most => {
            let name = path.trim_start_matches('/');
            let message = format!("{name}: has {} bytes, the limit is {most}", text.len());
            Err(Error::new(ErrorCode::TooLarge, message).at(path))
        }
        Value::Array(list) => {
            list.iter().enumerate().try_for_each(|(index, entry)| check_texts(entry, most, &format!("{path}/{index}")))
        }
        Value::Object(map) => map.iter().try_for_each(|(key, value)| check_texts(value, most, &pointer(path, key))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(arguments: &Value) -> Result<Decision> {
        decision_from_arguments(arguments.as_object().unwrap(), "a", 1_773_576_000_000)
    }

    #[test]
    fn periods_become_dates() {
        let cases = [
            ("7d", Some("2026-03-22")),
            ("2w", Some("2026-03-29")),
            ("1m", Some("2026-04-14")),
            ("0d", Some("2026-03-15")),
            ("3y", None),
            ("3é", None),
            ("9223372036854775807m", Some("9999-12-31")),
        ];
        for (period, wanted) in cases {
            let decision = of(&json!({ "review_in": period })).unwrap();
            assert_eq!(decision.review_by.as_deref(), wanted, "{period}");
        }
        for period in ["xd", "d", "7", "é", "1.5d"] {
            assert_eq!(of(&json!({ "reviewIn": period })).unwrap_err().path(), "/review_in", "{period}");
        }
    }

    #[test]
    fn limits_hold_for_every_field() {
        let limits = DecisionLimits { text_bytes: 8, tags: 2, reasons: 1, steps: 1, ..DecisionLimits::default() };
        let long = "x".repeat(9);
        let step = json!({ "step": 1, "thought": "t" });
        let reason = json!({ "type": "analysis", "text": "t" });
        let cases = [
            (json!({ "decision": long }), "/decision"),
            (json!({ "tags": ["a", long] }), "/tags/1"),
            (json!({ "tags": ["a", "b", "c"] }), "/tags"),
            (json!({ "reasons": [reason, reason] }), "/reasons"),
            (json!({ "reasons": [{ "type": "analysis", "text": long }] }), "/reasons/0/text"),
            (json!({ "bridge": { "function": "f", "x": [{ "y": long }] } }), "/bridge/x/0/y"),
            (json!({ "deliberation": { "steps": [step, step] } }), "/deliberation/steps"),
            (json!({ "trace": [step, step] }), "/trace"),
        ];
        for (arguments, path) in cases {
            let mut decision = of(&arguments).unwrap();
            (decision.date, decision.created_at) = (String::new(), String::new());
            let error = check_size(&decision, limits, "").unwrap_err();
            assert_eq!(error.path(), path, "{arguments}");
            assert_eq!(error.code(), ErrorCode::TooLarge);
        }
    }

    #[test]
    fn all_problems_are_named_at_once() {
        let decision = of(&json!({ "confidence": 2, "category": "x", "reasons": [{ "type": "vibes", "text": "t" }] }));
        let error = validate(&decision.unwrap(), &DecisionStoreOptions::default()).unwrap_err();
        assert!(error.message().starts_with("decision: must not be empty; confidence: "), "{error}");
        assert_eq!(error.path(), "/decision");
        let own = DecisionStoreOptions { categories: vec!["legal".to_owned()], ..DecisionStoreOptions::default() };
        let good = json!({ "decision": "d", "confidence": 0, "category": "legal" });
        assert!(validate(&of(&good).unwrap(), &own).is_ok());
    }
}
