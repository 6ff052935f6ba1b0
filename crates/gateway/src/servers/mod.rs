//! The servers behind a gateway: what each listed, and whether it can be reached.

mod drift;
mod entry;
mod listing;
mod overridden;
mod report;
mod take;
mod tool;

use serde_json::Value;

use contextweaver_base::order::SortedMap;
use contextweaver_text::hash::of_text;

use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::ToolPlace;
use crate::options::{GatewayOptions, OfferedTools, ServerOptions};
use crate::overrides::{ToolOverride, ToolOverrides, of_server};

pub(crate) use drift::{DriftRules, Pinned};
#[cfg(test)]
pub(crate) use entry::{EntryKind, mended_entry};
pub use report::{
    DriftedTool, ListChanges, ListingReport, MendedEntry, OverriddenTool, OverrideProblem, QuarantineReason,
    QuarantinedTool, SkippedEntry,
};
pub use tool::AppUse;
pub(crate) use tool::{ServerTool, ToolRef};

contextweaver_model::string_enum! {
    /// Whether a server can be reached.
    #[derive(Default)]
    ServerStatus, "status" {
        /// Nobody has heard from it yet.
        #[default]
        Connecting = "connecting",
        /// It answers.
        Ready = "ready",
        /// It does not answer; its tools stay listed.
        Unavailable = "unavailable",
    }
}

/// Digests of what a server lists beside its tools, to know whether it changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ListDigests {
    pub resources: u64,
    pub resource_templates: u64,
    pub prompts: u64,
}

impl ListDigests {
    fn of(resources: &[Value], resource_templates: &[Value], prompts: &[Value]) -> Self {
        let of = |list: &[Value]| {
            if list.is_empty() { 0 } else { of_text(&list.iter().map(Value::to_string).collect::<Vec<_>>().join(",")) }
        };
        Self { resources: of(resources), resource_templates: of(resource_templates), prompts: of(prompts) }
    }
}

/// A server behind the gateway.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub name: String,
    pub rules: DriftRules,
    offered: OfferedTools,
    /// What the operator says of its tools, by their names there.
    overrides: ToolOverrides,
    /// The tools of its last listing that this speaks of.
    pub overridden: Vec<OverriddenTool>,
    /// Addresses of the views of its tools, each once.
    pub views: Vec<String>,
    /// Most tokens of its results that clients get.
    pub result_tokens: Option<u64>,
    pub status: ServerStatus,
    /// Why it cannot be reached, as the host says, made safe to show.
    pub detail: Option<String>,
    /// Its tools in the order in which it listed them.
    pub tools: Vec<ServerTool>,
    /// Their places by name.
    by_name: SortedMap<String, usize>,
    /// Names of the tools that it had in an earlier run, until it lists; nothing from then on.
    expected: Option<Vec<String>>,
    pub resources: Vec<Value>,
    pub resource_templates: Vec<Value>,
    pub prompts: Vec<Value>,
    pub digests: ListDigests,
    pub instructions: Option<String>,
    pub pinned: Pinned,
    /// What the last listing had in it.
    pub report: ListingReport,
    /// Entries of it that were left out, and that were mended.
    pub counts: [usize; 2],
}

impl Server {
    /// Makes a server that has listed nothing yet.
    pub fn new(server: &ServerOptions, options: &GatewayOptions) -> Self {
        let pins = options.pins.get(&server.name).cloned().unwrap_or_default();
        let accepted = options.accepted.get(&server.name).cloned().unwrap_or_default();
        let are_lost = options.pins_lost.contains(&server.name);
        let (offered, overrides) = (OfferedTools::of(server), of_server(&server.name, &server.tools, &options.tools));
        let is_there = |name: &&String| offered.has(name) && !overrides.get(*name).is_some_and(|said| said.hide);
        Self {
            expected: Some(pins.keys().filter(is_there).cloned().collect()),
            result_tokens: server.result_tokens,
            overridden: Vec::new(),
            views: Vec::new(),
            name: server.name.clone(),
            rules: DriftRules {
                drift: server.drift.unwrap_or(options.drift),
                lint: server.lint.unwrap_or(options.lint),
            },
            offered,
            overrides,
            status: ServerStatus::default(),
            detail: None,
            tools: Vec::new(),
            by_name: SortedMap::new(),
            resources: Vec::new(),
            resource_templates: Vec::new(),
            prompts: Vec::new(),
            digests: ListDigests::default(),
            instructions: None,
            pinned: Pinned::new(pins, accepted, are_lost),
            report: ListingReport { server: server.name.clone(), ..ListingReport::default() },
            counts: [0, 0],
        }
    }

    /// Returns the place of a tool by the name that the server has for it.
    pub fn find(&self, name: &str) -> Option<usize> {
        let awaited = || self.expected.as_ref()?.iter().position(|known| known == name);
        self.by_name.get(name).copied().or_else(awaited)
    }

    /// Returns the names of its tools as it has them: of one that has not listed yet those of an earlier run.
    pub fn names(&self) -> Vec<&str> {
        match &self.expected {
            Some(expected) => expected.iter().map(String::as_str).collect(),
            None => self.tools.iter().map(ServerTool::name).collect(),
        }
    }

    /// Returns the names that its tools would have for clients if nobody else had them: its own, or those of the operator.
    pub fn wanted_names(&self) -> Vec<&str> {
        let wanted = |name| self.override_of(name).and_then(|said| said.name.as_deref()).unwrap_or(name);
        self.names().into_iter().map(wanted).collect()
    }

    /// Returns what the operator says of a tool, by the name that the server has for it.
    pub fn override_of(&self, name: &str) -> Option<&ToolOverride> {
        self.overrides.get(name)
    }

    /// Returns the overrides that speak of no tool of its last listing.
    pub fn unmatched_overrides(&self) -> impl Iterator<Item = (&str, &ToolOverride)> {
        let is_met = |name: &str| self.overridden.iter().any(|one| one.tool == crate::front::safe_line(name));
        self.overrides.iter().map(|(name, said)| (name.as_str(), said)).filter(move |(name, _)| !is_met(name))
    }

    /// Whether it has not listed anything in this run.
    pub fn is_awaited(&self) -> bool {
        self.expected.is_some()
    }

    /// Says of a server why not all that it offers can be had; none where nothing is wrong.
    pub fn lack(&self) -> Option<&'static str> {
        if self.is_unavailable() { Some("unavailable now") } else { self.is_awaited().then_some("starting") }
    }

    /// Counts the tools that clients may see; of a server that has not listed yet those of an earlier run.
    pub fn known_tools(&self) -> usize {
        self.expected.as_ref().map_or_else(|| self.usable().count(), Vec::len)
    }

    /// Returns a tool by what stays the same when the server lists anew.
    pub fn tool_ref(&self, place: ToolPlace) -> ToolRef {
        let expected = || self.expected.as_ref()?.get(place.tool).map(String::as_str);
        let name = self.tools.get(place.tool).map(ServerTool::name).or_else(expected).unwrap_or_default();
        ToolRef { server: place.server, name: name.into() }
    }

    /// Whether calls would fail.
    pub fn is_unavailable(&self) -> bool {
        self.status == ServerStatus::Unavailable
    }

    /// What a model is told of a call that would fail, or that comes before the server has listed its tools.
    pub fn unavailable_error(&self) -> GatewayError {
        let why = self.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
        let how = if self.is_unavailable() { "unavailable" } else { "starting; try again in a few seconds" };
        let message = format!("the server \"{}\" is {how}{why}", self.name);
        GatewayError::new(GatewayErrorCode::UpstreamUnavailable, message)
    }

    /// Its tools that may be shown and called, with their places.
    pub fn usable(&self) -> impl Iterator<Item = (usize, &ServerTool)> {
        self.tools.iter().enumerate().filter(|(_, tool)| tool.is_usable())
    }
}
