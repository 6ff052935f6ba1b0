//! Parts of messages that ask for the approval of a call, and those that answer.

use serde_json::Value;

/// The types of parts that are requests, each with the field that holds the request's id.
const REQUESTS: &[(&str, &str)] = &[("tool-approval-request", "approvalId"), ("mcp_approval_request", "id")];
/// The types of parts that are answers, each with the field that holds the id of the answered request.
const ANSWERS: &[(&str, &str)] =
    &[("tool-approval-response", "approvalId"), ("mcp_approval_response", "approval_request_id")];

/// Returns the id of a part that is a request.
pub fn requested(part: &Value) -> Option<&str> {
    id_in(part, REQUESTS)
}

/// Returns the id of the request that a part answers.
pub fn answered(part: &Value) -> Option<&str> {
    id_in(part, ANSWERS)
}

fn id_in<'a>(part: &'a Value, kinds: &[(&str, &str)]) -> Option<&'a str> {
    let kind = part.get("type")?.as_str()?;
    let (_, key) = kinds.iter().find(|(known, _)| *known == kind)?;
    part.get(*key)?.as_str()
}
