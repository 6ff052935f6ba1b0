//! The rules of the preset `cornerstone`.

use serde_json::{Value, json};

/// Returns the rules.
pub(super) fn rules() -> Value {
    let review = |category: &str| {
        json!({
            "id": format!("require-code-review-{category}"),
            "description": format!("Changes of {category} are reviewed"),
            "condition_category": category,
            "requires_code_review": true,
            "action": "block",
        })
    };
    json!([
        {
            "id": "no-high-stakes-low-confidence",
            "description": "High stakes need confidence",
            "condition_stakes": "high",
            "condition_confidence": "< 0.5",
            "action": "block",
            "message": "Stakes are high and confidence is only {confidence}",
        },
        review("tooling"),
        review("integration"),
        review("security"),
        {
            "id": "require-architecture-review",
            "description": "Architecture is reviewed",
            "condition_category": "architecture",
            "requires_architecture_review": true,
            "action": "block",
        },
        {
            "id": "require-deliberation",
            "description": "Decisions are deliberated",
            "condition": { "phase": "record", "has_deliberation": false },
            "action": "block",
            "message": "Nothing was looked at or thought before this decision",
        },
        {
            "id": "recommend-reasoning",
            "description": "Deliberation includes reasoning",
            "condition": { "phase": "record", "has_deliberation": true, "has_reasoning": false },
            "action": "warn",
            "message": "The deliberation has inputs but no thought about them",
        },
        {
            "id": "low-quality-recording",
            "description": "Records say enough to learn from",
            "condition": { "phase": "record", "quality_score": "< 0.5" },
            "action": "block",
            "message": "The quality of this record is {quality_score}, below 0.5",
        },
    ])
}
