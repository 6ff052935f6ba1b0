//! Takes the listing of a server in.

use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_model::Warning;
use contextweaver_model::json::pointer;
use contextweaver_routing::Catalog;
use contextweaver_routing::catalog::{CatalogFinding, LintOptions, SEVERITIES, lint};
use contextweaver_text::tokens::Estimator;

use super::entry::{EntryKind, mended_entry};
use super::listing::Listing;
use super::overridden::{apply, hide};
use super::report::{ListingReport, MendedEntry, QuarantinedTool, SkippedEntry};
use super::tool::ServerTool;
use super::{ListDigests, Server, ServerStatus};
use crate::front::safe_line;
use crate::schema_health::item_findings;

/// Findings, and entries of any other list, that a report tells one by one.
const MAX_TOLD: usize = 200;

impl Server {
    /// Takes a listing in and reports on it; of one that cannot be read, nothing.
    pub fn take(&mut self, bytes: &[u8]) -> Result<ListingReport> {
        let mut listing = Listing::read(bytes)?;
        let mut report = ListingReport { server: self.name.clone(), ..ListingReport::default() };
        let listed = listing.tools.len();
        let is_offered = |tool: &Value| tool["name"].as_str().is_some_and(|name| self.offered.has(name));
        listing.tools.retain(|(_, tool)| is_offered(tool));
        report.excluded = listed - listing.tools.len();
        let mut overridden = hide(&self.name, &self.overrides, &mut listing.tools);
        let mut tools = read_tools(&mut listing, &self.name, &mut report);
        let mut by_name = SortedMap::new();
        for (place, tool) in tools.iter().enumerate() {
            by_name.insert(tool.name().to_owned(), place);
        }
        for tool in &mut tools {
            report.changed.extend(self.pinned.compare(tool, self.rules));
        }
        for finding in &report.findings {
            if let Some(place) = finding.index {
                self.pinned.judge(&mut tools[place], finding, self.rules);
            }
        }
        self.pinned.prune(&tools);
        self.pinned.settle(&tools);
        overridden.extend(apply(&self.name, &self.overrides, &mut tools));
        let names = |tools: &[ServerTool], known: &SortedMap<String, usize>| -> Vec<String> {
            tools.iter().map(ServerTool::name).filter(|name| !known.contains_key(*name)).map(safe_line).collect()
        };
        report.added = names(&tools, &self.by_name);
        report.removed = names(&self.tools, &by_name);
        report.quarantined = tools.iter().filter(|tool| !tool.is_usable()).map(quarantined).collect();
        report.tools = tools.len();
        report.resources = listing.resources.len();
        report.resource_templates = listing.resource_templates.len();
        report.prompts = listing.prompts.len();
        report.skipped = std::mem::take(&mut listing.skipped);
        for (kind, list) in [
            (EntryKind::Resource, &mut listing.resources),
            (EntryKind::ResourceTemplate, &mut listing.resource_templates),
            (EntryKind::Prompt, &mut listing.prompts),
        ] {
            for (index, entry) in list.iter_mut().enumerate() {
                *entry = Value::Object(mended_entry(kind, index, entry, &mut report.mended));
            }
        }
        self.counts = [report.skipped.len(), mended_count(&report.mended)];
        report.bound();
        self.views.clear();
        for address in tools.iter().filter_map(ServerTool::view) {
            if !self.views.iter().any(|known| known == address) {
                self.views.push(address.to_owned());
            }
        }
        self.tools = tools;
        self.overridden = overridden;
        self.by_name = by_name;
        self.expected = None;
        self.digests = ListDigests::of(&listing.resources, &listing.resource_templates, &listing.prompts);
        self.resources = listing.resources;
        self.resource_templates = listing.resource_templates;
        self.prompts = listing.prompts;
        self.instructions = listing.instructions;
        self.status = ServerStatus::Ready;
        self.detail = None;
        self.report = report.clone();
        Ok(report)
    }

    /// Accepts tools as they are, whatever was found: one by its name, or all. Returns the names of those that were not
    /// usable before.
    pub fn accept(&mut self, name: Option<&str>) -> Vec<String> {
        let Self { tools, pinned, report, .. } = self;
        let mut accepted = Vec::new();
        for tool in tools.iter_mut().filter(|tool| name.is_none_or(|name| tool.name() == name) && !tool.is_usable()) {
            tool.quarantine.clear();
            pinned.accept(tool);
            accepted.push(safe_line(tool.name()));
        }
        report.quarantined = tools.iter().filter(|tool| !tool.is_usable()).map(quarantined).collect();
        pinned.settle(tools);
        accepted
    }
}

fn quarantined(tool: &ServerTool) -> QuarantinedTool {
    let name = safe_line(tool.name());
    QuarantinedTool { name, digest: tool.digest.clone(), reasons: tool.quarantine.clone() }
}

/// Reads the tools, and looks for what is wrong with them; the index of a finding is the place among those that were read.
fn read_tools(listing: &mut Listing, server: &str, report: &mut ListingReport) -> Vec<ServerTool> {
    let (mut tools, mut catalog) = (Vec::new(), Catalog::new());
    let mut places: SortedMap<String, usize> = SortedMap::new();
    for (index, value) in std::mem::take(&mut listing.tools) {
        report.tokens += Estimator::V3.tokens(&value.to_string());
        let mut skip = |reason: String| listing.skipped.push(SkippedEntry { list: "tools", index, reason });
        let shown = mended_entry(EntryKind::Tool, index, &value, &mut report.mended);
        match ServerTool::read(value, &shown, server) {
            Err(error) => skip(error.message().to_owned()),
            Ok((tool, warnings)) => {
                if catalog.register((*tool.item).clone()).is_err() {
                    skip("another tool has the same name but for characters that ids do not have".to_owned());
                    continue;
                }
                report.schema_findings.extend(item_findings(&tool.item));
                places.insert(tool.item.id.clone(), tools.len());
                report.findings.extend(warnings.iter().map(|warning| ignored(&tool, warning).index(tools.len())));
                tools.push(tool);
            }
        }
    }
    for finding in lint(&catalog, &LintOptions::default()) {
        let place = places.get(&finding.item_id).copied();
        report.findings.push(match place {
            Some(place) => finding.index(place),
            None => finding,
        });
    }
    tools
}

fn ignored(tool: &ServerTool, warning: &Warning) -> CatalogFinding {
    CatalogFinding::new("field-ignored", &tool.item.id, pointer("", warning.path.trim_start_matches('/')))
        .message(warning.message.clone())
}

/// Counts the entries of which something was mended; what is told of one stands together.
fn mended_count(mended: &[MendedEntry]) -> usize {
    let place = |one: &MendedEntry| (one.list, one.index);
    mended.len() - mended.windows(2).filter(|pair| place(&pair[0]) == place(&pair[1])).count()
}

impl ListingReport {
    /// Puts the worst findings first, and leaves out what nobody would read.
    fn bound(&mut self) {
        let rank = |finding: &CatalogFinding| SEVERITIES.iter().position(|severity| *severity == finding.severity);
        sort_by(&mut self.findings, |a, b| rank(a).cmp(&rank(b)));
        self.not_told = 0;
        let mut cut = |len: usize| self.not_told += len.saturating_sub(MAX_TOLD);
        cut(self.findings.len());
        cut(self.skipped.len());
        cut(self.mended.len());
        cut(self.changed.len());
        cut(self.added.len());
        cut(self.removed.len());
        cut(self.schema_findings.len());
        self.findings.truncate(MAX_TOLD);
        self.skipped.truncate(MAX_TOLD);
        self.mended.truncate(MAX_TOLD);
        self.changed.truncate(MAX_TOLD);
        self.added.truncate(MAX_TOLD);
        self.removed.truncate(MAX_TOLD);
        self.schema_findings.truncate(MAX_TOLD);
        for finding in &mut self.findings {
            finding.item_id = safe_line(&finding.item_id);
        }
        for finding in &mut self.schema_findings {
            finding.tool_id = safe_line(&finding.tool_id);
            finding.detail = safe_line(&finding.detail);
        }
    }
}
