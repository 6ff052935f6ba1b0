//! Reading records, of this store and of contextweaver 0.18: two spellings of the same fields, unknown ones kept.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::record::{
    Bridge, Decision, DecisionReason, Deliberation, DeliberationInput, DeliberationStep, PastReview, PreDecision,
    RelatedDecision, TraceStep, default_strength,
};
use crate::timestamps;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap, as_string, wrong_type};

/// Largest whole number of a record: those of JavaScript are exact up to here.
const MAX_WHOLE: u64 = 1 << 53;

/// Other spellings of fields, with ours.
const SPELLINGS: &[(&str, &str)] = &[
    ("kpiIndicators", "kpi_indicators"),
    ("mentalState", "mental_state"),
    ("reviewIn", "review_in"),
    ("reviewBy", "review_by"),
    ("preDecision", "pre_decision"),
    ("relatedTo", "related_to"),
    ("queryRun", "query_run"),
    ("similarFound", "similar_found"),
    ("guardrailsChecked", "guardrails_checked"),
    ("guardrailsPassed", "guardrails_passed"),
    ("inputsUsed", "inputs_used"),
    ("durationMs", "duration_ms"),
    ("totalDurationMs", "total_duration_ms"),
    ("convergencePoint", "convergence_point"),
    ("purpose", "function"),
    ("recordedBy", "recorded_by"),
    ("reviewedAt", "reviewed_at"),
    ("reviewedBy", "reviewed_by"),
    ("actualResult", "actual_result"),
    ("reviewNotes", "review_notes"),
    ("affectedKpis", "affected_kpis"),
    ("createdAt", "created_at"),
    ("updatedAt", "updated_at"),
];

/// Gives the fields of an object our names, where it does not have those too.
pub(crate) fn respell(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        for (other, ours) in SPELLINGS {
            if map.contains_key(*other)
                && !map.contains_key(*ours)
                && let Some(inner) = map.shift_remove(*other)
            {
                map.insert((*ours).to_owned(), inner);
            }
        }
    }
    value
}

fn open(value: Value, path: &str) -> Result<Fields> {
    Fields::open(respell(value), path)
}

/// Takes a string if there is one that is not empty.
pub(crate) fn text(fields: &mut Fields, key: &'static str) -> Result<Option<String>> {
    Ok(fields.opt_string(key)?.filter(|text| !text.is_empty()))
}

/// Takes a time, written our way if it can be read.
fn time(fields: &mut Fields, key: &'static str) -> Result<Option<String>> {
    Ok(text(fields, key)?.map(|text| timestamps::normal(&text)))
}

pub(crate) fn whole(fields: &mut Fields, key: &'static str) -> Result<Option<u64>> {
    fields.opt_uint(key, MAX_WHOLE)
}

/// Takes a list of strings; one string is a list of one.
pub(crate) fn texts(fields: &mut Fields, key: &'static str) -> Result<Vec<String>> {
    match fields.take(key) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(list)) => {
            let at = fields.at(key);
            let entries = list.into_iter().enumerate();
            entries.map(|(index, entry)| as_string(entry, &format!("{at}/{index}"))).collect()
        }
        Some(other) => Err(wrong_type(&fields.at(key), "an array", &other)),
    }
}

impl Decision {
    /// Reads a record; `path` is its place in the input.
    ///
    /// # Errors
    ///
    /// `MISSING_FIELD`, `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_decisions::Decision;
    /// use serde_json::json;
    ///
    /// let decision = Decision::from_value(json!({ "id": "d1", "decision": "Use Postgres", "confidence": 0.8 }), "")?;
    /// assert_eq!(decision.confidence, Some(0.8));
    /// let error = Decision::from_value(json!({ "id": "d1", "decision": "Use Postgres", "confidence": 8 }), "/0");
    /// assert_eq!(error.unwrap_err().path(), "/0/confidence");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = open(value, path)?;
        let mut decision = Self { id: fields.string("id")?, ..Self::default() };
        if !is_id(&decision.id) {
            let message = "an id has 1 to 64 letters, digits, underscores and hyphens";
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("id")));
        }
        decision.read_decision(&mut fields)?;
        decision.read_details(&mut fields)?;
        decision.read_review(&mut fields)?;
        decision.unknown = fields.rest();
        Ok(decision)
    }

    fn read_decision(&mut self, fields: &mut Fields) -> Result<()> {
        let summary = text(fields, "summary")?;
        self.decision = match (text(fields, "decision")?, &summary) {
            (Some(decision), _) => decision,
            (None, Some(summary)) => summary.clone(),
            (None, None) => fields.string("decision")?,
        };
        self.summary = summary.unwrap_or_else(|| self.decision.clone());
        self.category = fields.string_or("category", "")?;
        self.confidence = fields.opt_number("confidence", 0.0, 1.0)?;
        self.stakes = text(fields, "stakes")?;
        self.status = fields.string_or("status", "pending")?;
        self.created_at = time(fields, "created_at")?.unwrap_or_default();
        self.date = time(fields, "date")?.unwrap_or_else(|| self.created_at.clone());
        if self.created_at.is_empty() {
            self.created_at.clone_from(&self.date);
        }
        self.updated_at = time(fields, "updated_at")?;
        self.preserve = fields.bool_or("preserve", false)?;
        Ok(())
    }

    /// Reads what a caller says of a decision besides the decision itself.
    pub(crate) fn read_details(&mut self, fields: &mut Fields) -> Result<()> {
        self.context = text(fields, "context")?;
        self.reasons = fields.records("reasons", DecisionReason::from_value)?;
        self.trace = fields.records("trace", trace_step)?;
        let at = fields.at("deliberation");
        self.deliberation =
            fields.take("deliberation").map(|value| Deliberation::from_value(value, &at)).transpose()?;
        let at = fields.at("bridge");
        self.bridge = fields.take("bridge").map(|value| Bridge::from_value(value, &at)).transpose()?;
        self.related_to = fields.records("related_to", related)?;
        self.kpi_indicators = texts(fields, "kpi_indicators")?;
        self.mental_state = text(fields, "mental_state")?;
        self.review_by = text(fields, "review_by")?;
        self.tags = texts(fields, "tags")?;
        self.pattern = text(fields, "pattern")?;
        let at = fields.at("pre_decision");
        self.pre_decision = fields.take("pre_decision").map(|value| pre_decision(value, &at)).transpose()?;
        self.recorded_by = text(fields, "recorded_by")?;
        self.project = text(fields, "project")?;
        self.feature = text(fields, "feature")?;
        self.pr = whole(fields, "pr")?;
        self.file = text(fields, "file")?;
        self.line = whole(fields, "line")?;
        self.commit = text(fields, "commit")?;
        Ok(())
    }

    fn read_review(&mut self, fields: &mut Fields) -> Result<()> {
        self.outcome = text(fields, "outcome")?;
        self.reviewed_at = time(fields, "reviewed_at")?;
        self.actual_result = text(fields, "actual_result")?;
        self.lessons = text(fields, "lessons")?;
        self.review_notes = text(fields, "review_notes")?;
        self.affected_kpis = fields.object("affected_kpis")?;
        self.reviewed_by = text(fields, "reviewed_by")?;
        self.review_history = fields.records("review_history", review)?;
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Decision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?, "").map_err(serde::de::Error::custom)
    }
}

/// Tells whether a text can be the id of a decision.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl DecisionReason {
    fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = open(value, path)?;
        Ok(Self {
            kind: fields.string_or("type", "")?,
            text: fields.string_or("text", "")?,
            strength: fields.number_or("strength", default_strength(), 0.0, 1.0)?,
            unknown: fields.rest(),
        })
    }
}

fn trace_step(value: Value, path: &str) -> Result<TraceStep> {
    let mut fields = open(value, path)?;
    Ok(TraceStep {
        step: whole(&mut fields, "step")?.unwrap_or_default(),
        thought: fields.string_or("thought", "")?,
        output: text(&mut fields, "output")?,
        confidence: fields.opt_number("confidence", 0.0, 1.0)?,
        tags: texts(&mut fields, "tags")?,
        unknown: fields.rest(),
    })
}

impl Deliberation {
    /// Reads a deliberation.
    pub(crate) fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = open(value, path)?;
        Ok(Self {
            inputs: fields.records("inputs", DeliberationInput::from_value)?,
            steps: fields.records("steps", DeliberationStep::from_value)?,
            total_duration_ms: whole(&mut fields, "total_duration_ms")?,
            convergence_point: whole(&mut fields, "convergence_point")?,
            unknown: fields.rest(),
        })
    }
}

impl DeliberationInput {
    fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = open(value, path)?;
        Ok(Self {
            id: fields.string_or("id", "")?,
            text: fields.string_or("text", "")?,
            source: text(&mut fields, "source")?,
            timestamp: time(&mut fields, "timestamp")?,
            unknown: fields.rest(),
        })
    }
}

impl DeliberationStep {
    fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = open(value, path)?;
        let conclusion = fields.has("conclusion");
        Ok(Self {
            step: whole(&mut fields, "step")?.unwrap_or_default(),
            thought: fields.string_or("thought", "")?,
            inputs_used: texts(&mut fields, "inputs_used")?,
            timestamp: time(&mut fields, "timestamp")?,
            duration_ms: whole(&mut fields, "duration_ms")?,
            kind: text(&mut fields, "type")?,
            conclusion: if conclusion { Some(fields.bool_or("conclusion", false)?) } else { None },
            unknown: fields.rest(),
        })
    }
}

impl Bridge {
    /// Reads a bridge.
    pub(crate) fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = open(value, path)?;
        Ok(Self {
            structure: fields.string_or("structure", "")?,
            function: fields.string_or("function", "")?,
            tolerance: texts(&mut fields, "tolerance")?,
            enforcement: texts(&mut fields, "enforcement")?,
            prevention: texts(&mut fields, "prevention")?,
            unknown: fields.rest(),
        })
    }
}

/// Reads a decision found before another.
pub(crate) fn related(value: Value, path: &str) -> Result<RelatedDecision> {
    let mut fields = open(value, path)?;
    Ok(RelatedDecision {
        id: fields.string("id")?,
        summary: fields.string_or("summary", "")?,
        distance: fields.number_or("distance", 0.0, -1e9, 1e9)?,
        unknown: fields.rest(),
    })
}

fn pre_decision(value: Value, path: &str) -> Result<PreDecision> {
    let mut fields = open(value, path)?;
    Ok(PreDecision {
        query_run: fields.bool_or("query_run", false)?,
        similar_found: whole(&mut fields, "similar_found")?.unwrap_or_default(),
        guardrails_checked: fields.bool_or("guardrails_checked", false)?,
        guardrails_passed: fields.bool_or("guardrails_passed", false)?,
        unknown: fields.rest(),
    })
}

fn review(value: Value, path: &str) -> Result<PastReview> {
    let mut fields = open(value, path)?;
    Ok(PastReview {
        outcome: fields.string("outcome")?,
        reviewed_at: time(&mut fields, "reviewed_at")?,
        actual_result: text(&mut fields, "actual_result")?,
        lessons: text(&mut fields, "lessons")?,
        review_notes: text(&mut fields, "review_notes")?,
        reviewed_by: text(&mut fields, "reviewed_by")?,
        unknown: fields.rest(),
    })
}

/// Writes a record as an object.
pub(crate) fn to_map(decision: &Decision) -> JsonMap {
    match serde_json::to_value(decision) {
        Ok(Value::Object(map)) => map,
        _ => JsonMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn records_come_back_as_they_were() {
        let whole = json!({
            "id": "a-1_B", "summary": "s", "decision": "d", "category": "process", "confidence": 0.0, "stakes": "low",
            "status": "reviewed", "date": "2026-03-15T12:00:00+00:00", "context": "c",
            "reasons": [{ "type": "analysis", "text": "t", "strength": 0.0, "extra": 1 }],
            "trace": [{ "step": 1, "thought": "t", "output": "o", "confidence": 0.4, "tags": ["a"], "x": null }],
            "deliberation": {
                "inputs": [{ "id": "i", "text": "t", "source": "s", "timestamp": "2026-03-15T12:00:00+00:00", "x": [] }],
                "steps": [{
                    "step": 1, "thought": "t", "inputs_used": ["i"], "timestamp": "2026-03-15T12:00:00.250+00:00",
                    "duration_ms": 3, "type": "analysis", "conclusion": false, "x": {}
                }],
                "total_duration_ms": 5, "convergence_point": 1, "x": 1
            },
            "bridge": {
                "structure": "s", "function": "f", "tolerance": ["t"], "enforcement": ["e"], "prevention": ["p"], "x": 1
            },
            "related_to": [{ "id": "b", "summary": "s", "distance": 0.125, "x": 1 }],
            "kpi_indicators": ["k"], "mental_state": "deliberate", "review_by": "2026-04-01", "tags": ["t"],
            "pattern": "p", "pre_decision": {
                "query_run": true, "similar_found": 2, "guardrails_checked": true, "guardrails_passed": false, "x": 1
            },
            "recorded_by": "a", "project": "o/r", "feature": "f", "pr": 4, "file": "x.rs", "line": 7, "commit": "abc",
            "outcome": "odd", "reviewed_at": "2026-03-16T12:00:00+00:00", "actual_result": "r", "lessons": "l",
            "review_notes": "n", "affected_kpis": { "k": 0.5 }, "reviewed_by": "b",
            "review_history": [{ "outcome": "success", "reviewed_at": "2026-03-15T13:00:00+00:00", "x": 1 }],
            "created_at": "2026-03-15T12:00:00+00:00", "updated_at": "2026-03-16T12:00:00+00:00", "preserve": true,
            "__proto__": { "constructor": 1 }, "later": [1]
        });
        let decision = Decision::from_value(whole.clone(), "").unwrap();
        assert_eq!(serde_json::to_string(&decision).unwrap(), whole.to_string(), "the same bytes");
        assert_eq!(json!(to_map(&decision)), whole);
        assert_eq!(serde_json::from_value::<Decision>(whole).unwrap(), decision);
    }

    #[test]
    fn other_spellings_and_times_are_read() {
        let record = json!({
            "id": "x", "summary": "only a summary", "date": "2026-03-15T13:00:00+01:00", "kpiIndicators": ["k"],
            "mentalState": "reactive", "tags": "one", "bridge": { "purpose": "p" }, "preDecision": { "queryRun": true },
            "deliberation": { "totalDurationMs": 1, "steps": [{ "inputsUsed": ["i"], "durationMs": 2 }] }
        });
        let decision = Decision::from_value(record, "").unwrap();
        assert_eq!((decision.decision.as_str(), decision.status.as_str()), ("only a summary", "pending"));
        assert_eq!(
            (decision.date.as_str(), decision.created_ms()),
            ("2026-03-15T12:00:00+00:00", Some(1_773_576_000_000))
        );
        assert_eq!(decision.created_at, decision.date);
        assert_eq!(decision.bridge.unwrap().function, "p");
        assert_eq!(decision.tags, ["one"]);
        assert!(decision.pre_decision.unwrap().query_run && decision.confidence.is_none());
        let deliberation = decision.deliberation.unwrap();
        assert_eq!((deliberation.total_duration_ms, deliberation.steps[0].duration_ms), (Some(1), Some(2)));
    }

    #[test]
    fn bad_records_say_where() {
        let cases = [
            (json!([]), "/r", ErrorCode::InvalidInput),
            (json!({ "decision": "d" }), "/r/id", ErrorCode::MissingField),
            (json!({ "id": "a/b", "decision": "d" }), "/r/id", ErrorCode::InvalidInput),
            (json!({ "id": "", "decision": "d" }), "/r/id", ErrorCode::InvalidInput),
            (json!({ "id": "é", "decision": "d" }), "/r/id", ErrorCode::InvalidInput),
            (json!({ "id": "a" }), "/r/decision", ErrorCode::MissingField),
            (json!({ "id": "a", "decision": "d", "confidence": 2 }), "/r/confidence", ErrorCode::OutOfRange),
            (
                json!({ "id": "a", "decision": "d", "reasons": [{ "text": 1 }] }),
                "/r/reasons/0/text",
                ErrorCode::InvalidInput,
            ),
            (json!({ "id": "a", "decision": "d", "tags": [1] }), "/r/tags/0", ErrorCode::InvalidInput),
            (json!({ "id": "a", "decision": "d", "bridge": 1 }), "/r/bridge", ErrorCode::InvalidInput),
        ];
        for (record, path, code) in cases {
            let error = Decision::from_value(record.clone(), "/r").unwrap_err();
            assert!(serde_json::from_value::<Decision>(record.clone()).is_err(), "{record}");
            assert_eq!((error.path(), error.code()), (path, code), "{record}");
        }
    }
}
