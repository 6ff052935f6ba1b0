//! What was found in the listing of a server.

use serde::Serialize;

use contextweaver_routing::catalog::{CatalogFinding, ToolChange};

use crate::schema_health::SchemaFinding;

/// Why a tool is neither shown nor called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuarantineReason {
    /// Code of the finding, `pin-changed` where the tool is not what it was.
    pub code: &'static str,
    /// The finding as a sentence.
    pub message: String,
}

/// A tool that is neither shown nor called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuarantinedTool {
    /// Its name at its server, made safe to show.
    pub name: String,
    /// Digest of what it says now.
    pub digest: String,
    /// Why.
    pub reasons: Vec<QuarantineReason>,
}

/// A tool that is not what it was when it was pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DriftedTool {
    /// Its name at its server, made safe to show.
    pub name: String,
    /// Digest of what was pinned.
    pub pinned: String,
    /// Digest of what it says now.
    pub digest: String,
    /// The worst of what the changes may break; `review` where only the digest of what was pinned is known.
    #[cfg_attr(feature = "ts", ts(type = "\"none\" | \"documentation\" | \"compatible\" | \"review\" | \"breaking\""))]
    pub risk: &'static str,
    /// What changed, where what was pinned is known: after a start only its digest is.
    pub changes: Vec<ToolChange>,
}

/// An entry of a listing that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SkippedEntry {
    /// The list it stood in.
    #[cfg_attr(feature = "ts", ts(type = "\"tools\" | \"resources\" | \"resource_templates\" | \"prompts\""))]
    pub list: &'static str,
    /// Its place in that list.
    pub index: usize,
    /// What was wrong, as a sentence.
    pub reason: String,
}

/// A part of an entry that was not what the protocol says, for which clients would refuse the whole list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MendedEntry {
    /// The list it stands in.
    #[cfg_attr(feature = "ts", ts(type = "\"tools\" | \"resources\" | \"resource_templates\" | \"prompts\""))]
    pub list: &'static str,
    /// Of a tool its place in the server's list, of others among those that were read.
    pub index: usize,
    /// Its name or address, made safe to show.
    pub name: String,
    /// JSON pointer of the part within the entry.
    pub path: String,
    /// What was wrong, and what became of it.
    pub note: String,
}

/// A tool of which the operator says something in place of its server, beside what the server says.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct OverriddenTool {
    /// The server.
    pub server: String,
    /// The name that the server has for it, made safe to show.
    pub tool: String,
    /// The name that clients see; absent where it is hidden.
    pub shown_as: Option<String>,
    /// Whether it is there for nobody.
    pub hidden: bool,
    /// What the server says of it, where clients see another description: made safe to show and cut to 400 characters.
    pub description: Option<String>,
    /// Names of the arguments that have a default.
    pub defaults: Vec<String>,
    /// Names of the arguments that are given in any case.
    pub fixed: Vec<String>,
    /// What the override breaks.
    pub problems: Vec<OverrideProblem>,
}

/// Something that an override breaks, or that it cannot do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct OverrideProblem {
    /// `name-taken`, `unknown-argument`, `value-invalid`, `text-names-tool` or `text-names-argument`.
    pub code: &'static str,
    /// Where the override says so, as a JSON pointer into the options.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// What was found in the listing of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ListingReport {
    /// The server.
    pub server: String,
    /// Tools that were read, those in quarantine among them.
    pub tools: usize,
    /// Resources that were read.
    pub resources: usize,
    /// Templates of resources that were read.
    pub resource_templates: usize,
    /// Prompts that were read.
    pub prompts: usize,
    /// Tools that `include_tools` and `exclude_tools` keep out, which are not read.
    pub excluded: usize,
    /// Tokens that the tools would take in a prompt as they were listed.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub tokens: u64,
    /// Names of tools that were not in the listing before this one.
    pub added: Vec<String>,
    /// Names of tools that are not in the listing any more.
    pub removed: Vec<String>,
    /// Tools that are not what was pinned.
    pub changed: Vec<DriftedTool>,
    /// Tools that are neither shown nor called.
    pub quarantined: Vec<QuarantinedTool>,
    /// Entries that could not be used.
    pub skipped: Vec<SkippedEntry>,
    /// Parts of entries that were mended; clients see the entries without what was wrong.
    pub mended: Vec<MendedEntry>,
    /// What looks wrong with tools, the worst first.
    pub findings: Vec<CatalogFinding>,
    /// Schemas that make trouble by their size, or are none; their tools are there.
    pub schema_findings: Vec<SchemaFinding>,
    /// Entries and findings that are not told one by one.
    pub not_told: usize,
}

/// Which lists of clients are not what they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ListChanges {
    /// `tools/list`.
    pub tools: bool,
    /// `resources/list` and `resources/templates/list`.
    pub resources: bool,
    /// `prompts/list`.
    pub prompts: bool,
}
