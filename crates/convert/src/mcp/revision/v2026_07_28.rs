//! The revision of 2026-07-28: schemas and structured content of any form, results that say whether they are complete,
//! and tasks as an extension.

use super::{RevisionRules, is_reserved_second};

/// The rules of the revision.
pub const RULES: RevisionRules = RevisionRules {
    name: "2026-07-28",
    tool_fields: &["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta", "icons"],
    foreign_tool_fields: &["execution"],
    any_output_schema: true,
    any_structured_content: true,
    result_type: true,
    task_results: false,
    meta_names: &["progressToken", "traceparent", "tracestate", "baggage"],
    is_reserved: is_reserved_second,
    error_codes: &[
        (-32700, "parse error"),
        (-32603, "internal error"),
        (-32602, "invalid params"),
        (-32601, "method not found"),
        (-32600, "invalid request"),
        (-32022, "unsupported protocol version"),
        (-32021, "missing required client capability"),
        (-32020, "header mismatch"),
    ],
};
