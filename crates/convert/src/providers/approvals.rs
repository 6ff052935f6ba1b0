//! Approvals of calls: a request that stands beside its call, and the answer of the user, which names the request alone.

use serde_json::Value;

use contextweaver_model::ContextItem;

use super::stored::{parts_of, record_of};

/// Key in the metadata of an answer to a request; its parent is the item with the request.
pub const APPROVAL: &str = "approval";

/// Tells whether an item approves or denies the call that is its parent: without it nobody knows what was approved.
///
/// ```
/// use contextweaver_convert::providers::{Format, is_approval, messages_to_items};
/// use serde_json::json;
///
/// let messages = json!([
///     { "role": "assistant", "content": [
///         { "type": "tool-call", "toolCallId": "c1", "toolName": "refund", "input": {} },
///         { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1" },
///     ] },
///     { "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "a1", "approved": true }] },
/// ]);
/// let items = messages_to_items(messages, Format::AiSdkModel, &Default::default())?.items;
/// assert!(is_approval(&items[1]));
/// assert_eq!(items[1].parent_id.as_deref(), Some("c1"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn is_approval(item: &ContextItem) -> bool {
    item.metadata_flag(APPROVAL)
}

/// Types of parts that are requests, and the fields of their ids.
const REQUESTS: &[(&str, &str)] = &[("tool-approval-request", "approvalId"), ("mcp_approval_request", "id")];
/// Types of parts that are answers, and the fields of the ids of what they answer.
const ANSWERS: &[(&str, &str)] =
    &[("tool-approval-response", "approvalId"), ("mcp_approval_response", "approval_request_id")];

/// Returns the id of the request that a part is.
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

/// Returns the ids of the requests that stand in an item.
///
/// ```
/// use contextweaver_convert::providers::{Format, approval_requests, messages_to_items};
/// use serde_json::json;
///
/// let request = json!({ "type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}" });
/// let items = messages_to_items(json!([request]), Format::OpenAiResponses, &Default::default())?.items;
/// assert_eq!(approval_requests(&items[0]), ["mcpr_1"]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn approval_requests(item: &ContextItem) -> Vec<&str> {
    record_of(item).into_iter().flat_map(parts_of).filter_map(|part| requested(part.get("original")?)).collect()
}
