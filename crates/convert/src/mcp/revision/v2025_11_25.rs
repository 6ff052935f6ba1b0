//! The revision of 2025-11-25: icons, tasks, and prefixes of `_meta` in the order of host names reversed.

use super::{RevisionRules, is_reserved_second};

/// The rules of the revision.
pub const RULES: RevisionRules = RevisionRules {
    name: "2025-11-25",
    tool_fields: &[
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "_meta",
        "icons",
        "execution",
    ],
    foreign_tool_fields: &[],
    any_output_schema: false,
    any_structured_content: false,
    result_type: false,
    task_results: true,
    meta_names: &["progressToken"],
    is_reserved: is_reserved_second,
    error_codes: &[
        (-32700, "parse error"),
        (-32603, "internal error"),
        (-32602, "invalid params"),
        (-32601, "method not found"),
        (-32600, "invalid request"),
        (-32042, "url elicitation required"),
        (-32002, "resource not found"),
    ],
};
