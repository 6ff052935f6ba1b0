//! What the boundary knows better than the router: which fields exist, and where in the arguments an error lies.

use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;

const HISTORY: &[&str] =
    &["called_tool_ids", "last_result_summary", "step_number", "repeat_penalty", "result_boost_weight"];
const FEEDBACK: &[&str] = &["item_id", "success", "latency_ms", "token_cost", "quality_score", "timestamp", "metadata"];

/// Refuses typing errors in records that the reference, and so our reader, takes with any other field.
pub fn check(fields: &Fields) -> Result<()> {
    let closed = |value: &Value, path: &str, known: &[&'static str]| match value {
        Value::Object(_) => Fields::open_closed(value.clone(), path, known).map(drop),
        _ => Ok(()),
    };
    closed(fields.peek("history").unwrap_or(&Value::Null), "/history", HISTORY)?;
    let records = fields.peek("feedback").and_then(|feedback| feedback.get("records")?.as_array());
    let mut places = records.into_iter().flatten().enumerate();
    places.try_for_each(|(at, record)| closed(record, &format!("/feedback/records/{at}"), FEEDBACK))
}

/// What a route finds wrong with its input at this point is the length of the vector.
pub fn of_vector(error: Error) -> Error {
    if error.code() == ErrorCode::InvalidInput && error.path().is_empty() {
        error.at("/query_embedding")
    } else {
        error
    }
}

/// Says which argument led nowhere.
pub fn not_at(error: Error, path: &str) -> Error {
    if error.code() == ErrorCode::NotFound { error.at(path) } else { error }
}
