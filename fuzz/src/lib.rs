//! What must hold for any bytes. Each target is a plain function that panics when it does not; libFuzzer looks for such
//! bytes (`cargo xtask fuzz <target>`), and the tests replay those below `seeds/<target>`.
#![allow(clippy::missing_panics_doc, reason = "to panic is how a target tells of a defect")]

mod build;
mod bytes;
mod content;
mod convert;
mod decisions;
mod routing;
mod snapshots;
mod text;

/// Takes the bytes of one try.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: [(&str, Target); 17] = [
    ("pattern", text::pattern),
    ("json", text::json),
    ("redact", text::redact),
    ("messages", convert::messages),
    ("slices", content::slices),
    ("mcp_results", convert::mcp_results),
    ("schema", convert::schema),
    ("cel", decisions::cel),
    ("guardrail_yaml", decisions::guardrail_yaml),
    ("build", build::build),
    ("tool_schema", routing::tool_schema),
    ("catalogs", routing::catalogs),
    ("digests", content::digests),
    ("json_rpc", decisions::json_rpc),
    ("manager_snapshots", snapshots::manager_snapshots),
    ("decision_snapshots", snapshots::decision_snapshots),
    ("journals", snapshots::journals),
];

/// Finds a target by its name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}
