//! Approvals of calls: a request that stands beside its call, and the answer of the user, which names the request alone.

use serde_json::Value;

use contextweaver_model::{ContextItem, RESERVED_KEY};

use super::stored::MESSAGE_KEY;

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

/// Returns the id of the request that a part is.
pub fn requested(part: &Value) -> Option<&str> {
    let key = match part.get("type")?.as_str()? {
        "tool-approval-request" => "approvalId",
        "mcp_approval_request" => "id",
        _ => return None,
    };
    part.get(key)?.as_str()
}

/// Returns the id of the request that a part answers.
pub fn answered(part: &Value) -> Option<&str> {
    let key = match part.get("type")?.as_str()? {
        "tool-approval-response" => "approvalId",
        "mcp_approval_response" => "approval_request_id",
        _ => return None,
    };
    part.get(key)?.as_str()
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
    let message = item.metadata.get(RESERVED_KEY).and_then(|own| own.get(MESSAGE_KEY));
    let parts = message.and_then(|message| message.get("parts")).and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| requested(part.get("original")?)).collect()
}
