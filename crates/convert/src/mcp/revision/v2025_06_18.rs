//! The revision of 2025-06-18: titles, structured content, links to resources.

use super::{RevisionRules, is_own_label};

/// The rules of the revision.
pub const RULES: RevisionRules = RevisionRules {
    name: "2025-06-18",
    tool_fields: &["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"],
    foreign_tool_fields: &["icons", "execution"],
    any_output_schema: false,
    any_structured_content: false,
    result_type: false,
    task_results: false,
    meta_names: &["progressToken"],
    is_reserved: is_reserved_before_the_last,
    error_codes: &[
        (-32700, "parse error"),
        (-32603, "internal error"),
        (-32602, "invalid params"),
        (-32601, "method not found"),
        (-32600, "invalid request"),
        (-32002, "resource not found"),
    ],
};

/// Tells whether any label but the last one is the protocol's: `mcp.dev`, `tools.mcp.com`.
fn is_reserved_before_the_last(labels: &[&str]) -> bool {
    labels.split_last().is_some_and(|(_, before)| before.iter().any(|label| is_own_label(label)))
}
