//! What the next session should know of this one: decisions, conventions, open ends, pitfalls, places to look.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::masking::mask_artifact;
use crate::rules::ours::ADDED;
use crate::rules::rule::{RuleState, StandingRule};
use crate::store::ArtifactStore;
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;
use contextweaver_model::{ArtifactRef, ContextItem, ItemKind};
use contextweaver_text::markdown::{list_item, one_line};
use contextweaver_text::redact::{mask_secrets, redact_id};
use contextweaver_text::tokens::Estimator;

/// Version of the JSON form.
pub const HANDOFF_VERSION: &str = "1";

const TITLE: &str = "# Session handoff (v1)";
const RULES_TITLE: &str = "## Rules in force";
/// The part of the budget that they may have.
const RULES_SHARE: u64 = 2;
const REFS_TITLE: &str = "## Cited artefacts";
/// Confidence in a category that the caller named.
const NAMED: f64 = 1.0;
/// Confidence in a category that follows from the kind of item.
const GUESSED: f64 = 0.5;
/// Parents followed in search of artifacts; a log that is one long chain must not cost its square.
const MAX_ANCESTORS: usize = 1024;

contextweaver_model::string_enum! {
    /// What an entry of a handoff is about, in the order of the handoff; the value of `metadata.handoff_category`.
    HandoffCategory, "category" {
        /// A decision, or a plan.
        Decision = "decision",
        /// A rule of the project.
        Convention = "convention",
        /// A task that was left open.
        Unresolved = "unresolved",
        /// A failure that should not be met again.
        Pitfall = "pitfall",
        /// What to inspect first.
        NextStep = "next_step",
    }
}

impl HandoffCategory {
    /// Returns the field of the JSON form.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Decision => "decisions",
            Self::Convention => "conventions",
            Self::Unresolved => "unresolved_tasks",
            Self::Pitfall => "pitfalls",
            Self::NextStep => "next_inspections",
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Decision => "## Decisions",
            Self::Convention => "## Conventions",
            Self::Unresolved => "## Unresolved tasks",
            Self::Pitfall => "## Pitfalls",
            Self::NextStep => "## Next inspection points",
        }
    }

    /// Finds the category of an item and how sure that is: named in the metadata, else guessed from the kind.
    pub fn of(item: &ContextItem) -> Option<(Self, f64)> {
        let text = |key: &str| item.metadata.get(key).and_then(Value::as_str);
        let named = Self::ALL.iter().find(|category| text("handoff_category") == Some(category.as_str()));
        if let Some(category) = named {
            return Some((*category, NAMED));
        }
        let failed =
            || text("status").is_some_and(|status| matches!(status.to_lowercase().as_str(), "failed" | "error"));
        match item.kind {
            ItemKind::PlanState => Some((Self::Decision, GUESSED)),
            ItemKind::Policy => Some((Self::Convention, GUESSED)),
            ItemKind::ToolResult if failed() => Some((Self::Pitfall, GUESSED)),
            _ => None,
        }
    }
}

/// One line of a handoff.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HandoffEntry {
    /// The item it comes from.
    pub id: String,
    /// The item's text after sensitivity and firewall.
    pub text: String,
    /// Named by `metadata.handoff_category`, else guessed from the kind of the item.
    pub category: HandoffCategory,
    /// Ids of the items that the entry cites.
    pub source_ids: Vec<String>,
    /// 1 when the caller said so in `metadata.handoff_category`, else 0.5.
    pub confidence: f64,
    /// Tokens it costs, at least 1.
    pub token_estimate: u64,
}

/// How much a handoff may hold and what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandoffOptions {
    /// Most tokens of the Markdown.
    pub budget_tokens: u64,
    /// Masks credentials in what is said of artifacts; texts come masked.
    pub redact_secrets: bool,
}

impl Default for HandoffOptions {
    fn default() -> Self {
        Self { budget_tokens: limits::HANDOFF_TOKENS, redact_secrets: true }
    }
}

/// A session in short, for the start of the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffPack {
    entries: Vec<HandoffEntry>,
    artifact_refs: Vec<ArtifactRef>,
    sensitivity_dropped: u64,
    /// Quarter tokens spent.
    used: u64,
    rules: Vec<StandingRule>,
}

/// Picks what the next session should know, named categories first, as far as the budget goes; what does not fit is
/// left out and the next entry tried.
///
/// `items` is the whole log after sensitivity and firewall, so artifacts of dropped items are not cited.
///
/// ```
/// use contextweaver_context::HandoffCategory;
/// use contextweaver_context::handoff::{HandoffOptions, build_handoff};
/// use contextweaver_context::store::ArtifactStore;
/// use contextweaver_model::{ContextItem, ItemKind};
/// use contextweaver_text::tokens::Estimator;
///
/// let items = [ContextItem::new("p1", ItemKind::PlanState, "Ship on Friday.")];
/// let pack = build_handoff(&items, &ArtifactStore::new(), 0, &Estimator::V3, HandoffOptions::default());
/// assert_eq!(pack.entries(HandoffCategory::Decision).next().unwrap().text, "Ship on Friday.");
/// assert_eq!(pack.token_estimate(), Estimator::V3.tokens(&pack.to_markdown()));
/// ```
pub fn build_handoff(
    items: &[ContextItem],
    artifacts: &ArtifactStore,
    sensitivity_dropped: u64,
    estimator: &Estimator,
    options: HandoffOptions,
) -> HandoffPack {
    let mut found: Vec<_> = items.iter().filter_map(|item| Some((item, HandoffCategory::of(item)?))).collect();
    sort_by(&mut found, |(_, (_, a)), (_, (_, b))| b.total_cmp(a));
    let mut builder = HandoffBuilder::new(items, artifacts, estimator, options);
    for (item, (category, confidence)) in found {
        builder.offer(item, category, confidence);
    }
    builder.finish(sensitivity_dropped)
}

struct HandoffBuilder<'a> {
    by_id: HashMap<&'a str, &'a ContextItem>,
    artifacts: &'a ArtifactStore,
    estimator: &'a Estimator,
    options: HandoffOptions,
    entries: Vec<HandoffEntry>,
    refs: Vec<ArtifactRef>,
    handles: HashSet<String>,
    opened: Vec<HandoffCategory>,
    /// Items whose artifacts, and those of all their parents, are cited already.
    settled: HashSet<&'a str>,
    /// Quarter tokens of the Markdown spent.
    used: u64,
}

impl<'a> HandoffBuilder<'a> {
    fn new(
        items: &'a [ContextItem],
        artifacts: &'a ArtifactStore,
        estimator: &'a Estimator,
        options: HandoffOptions,
    ) -> Self {
        Self {
            by_id: items.iter().map(|item| (item.id.as_str(), item)).collect(),
            artifacts,
            estimator,
            options,
            entries: Vec::new(),
            refs: Vec::new(),
            handles: HashSet::new(),
            opened: Vec::new(),
            settled: HashSet::new(),
            used: estimator.quarters(TITLE) + estimator.quarters("\n"),
        }
    }

    fn offer(&mut self, item: &'a ContextItem, category: HandoffCategory, confidence: f64) {
        let mut entry = HandoffEntry {
            id: item.id.clone(),
            text: item.text.clone(),
            category,
            source_ids: vec![item.id.clone()],
            confidence,
            token_estimate: 0,
        };
        let (tokens, own) = self.cost(&entry);
        if !self.fits(own) {
            return;
        }
        let (refs, passed) = self.fresh_refs(item);
        let quarters = own.saturating_add(self.ref_cost(&refs));
        if !self.fits(quarters) {
            return;
        }
        entry.token_estimate = tokens;
        self.used += quarters;
        self.handles.extend(refs.iter().map(|artifact| artifact.handle.clone()));
        self.settled.extend(passed);
        if !self.opened.contains(&category) {
            self.opened.push(category);
        }
        self.refs.extend(refs);
        self.entries.push(entry);
    }

    /// Weights of characters add up, so the whole is known from the parts without rendering it.
    fn fits(&self, quarters: u64) -> bool {
        self.used.saturating_add(quarters) / 4 <= self.options.budget_tokens
    }

    fn weigh(&self, line: &str) -> u64 {
        self.estimator.quarters(line) + self.estimator.quarters("\n")
    }

    /// Returns the tokens of an entry, and the quarter tokens that the handoff grows by without its artifacts.
    fn cost(&self, entry: &HandoffEntry) -> (u64, u64) {
        let line = self.weigh(&entry_line(entry));
        let heading = if self.opened.contains(&entry.category) { 0 } else { self.weigh(entry.category.heading()) };
        ((line / 4).max(1), line + heading)
    }

    fn ref_cost(&self, refs: &[ArtifactRef]) -> u64 {
        if refs.is_empty() {
            return 0;
        }
        let title = if self.refs.is_empty() { self.weigh(REFS_TITLE) } else { 0 };
        title + refs.iter().map(|artifact| self.weigh(&ref_line(artifact))).sum::<u64>()
    }

    /// Collects the artifacts of an item and of what it answers to, those not cited yet, with the ids passed on the
    /// way; the store's record of an artifact is current.
    fn fresh_refs(&self, item: &'a ContextItem) -> (Vec<ArtifactRef>, HashSet<&'a str>) {
        let (mut refs, mut found) = (Vec::new(), HashSet::new());
        let mut passed = HashSet::new();
        let mut cursor = Some(item);
        while let Some(current) = cursor
            && passed.len() < MAX_ANCESTORS
            && !self.settled.contains(current.id.as_str())
            && passed.insert(current.id.as_str())
        {
            if let Some(own) = &current.artifact_ref
                && !self.handles.contains(&own.handle)
                && found.insert(own.handle.as_str())
            {
                let mut artifact = self.artifacts.known(&own.handle).unwrap_or(own).clone();
                if self.options.redact_secrets {
                    mask_artifact(&mut artifact, mask_secrets);
                }
                refs.push(artifact);
            }
            cursor = current.parent_id.as_deref().and_then(|parent| self.by_id.get(parent).copied());
        }
        (refs, passed)
    }

    fn finish(self, sensitivity_dropped: u64) -> HandoffPack {
        HandoffPack {
            entries: self.entries,
            artifact_refs: self.refs,
            sensitivity_dropped,
            used: self.used,
            rules: Vec::new(),
        }
    }
}

impl Serialize for HandoffPack {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("version", HANDOFF_VERSION)?;
        if !self.rules.is_empty() {
            map.serialize_entry("rules", &self.rules)?;
        }
        for category in HandoffCategory::ALL {
            map.serialize_entry(category.field(), &self.entries(*category).collect::<Vec<_>>())?;
        }
        map.serialize_entry("artifact_refs", &self.artifact_refs)?;
        map.serialize_entry("sensitivity_dropped", &self.sensitivity_dropped)?;
        map.serialize_entry("token_estimate", &self.token_estimate())?;
        map.end()
    }
}

impl HandoffPack {
    /// Returns the entries of a category, surest first.
    pub fn entries(&self, category: HandoffCategory) -> impl Iterator<Item = &HandoffEntry> {
        self.entries.iter().filter(move |entry| entry.category == category)
    }

    /// Returns the artifacts that the entries cite.
    pub fn artifact_refs(&self) -> &[ArtifactRef] {
        &self.artifact_refs
    }

    /// Returns the tokens spent; of an empty handoff, those of its title.
    pub fn token_estimate(&self) -> u64 {
        self.used / 4
    }

    /// Returns the standing instructions in force, oldest first.
    pub fn rules(&self) -> &[StandingRule] {
        &self.rules
    }

    /// Returns the Markdown for the start of the next session.
    pub fn to_markdown(&self) -> String {
        let mut lines = vec![TITLE.to_owned()];
        if !self.rules.is_empty() {
            lines.push(RULES_TITLE.to_owned());
            lines.extend(self.rules.iter().map(rule_line));
        }
        for category in HandoffCategory::ALL {
            let mut entries = self.entries(*category).peekable();
            if entries.peek().is_some() {
                lines.push(category.heading().to_owned());
            }
            lines.extend(entries.map(entry_line));
        }
        if !self.artifact_refs.is_empty() {
            lines.push(REFS_TITLE.to_owned());
            lines.extend(self.artifact_refs.iter().map(ref_line));
        }
        lines.join("\n") + "\n"
    }
}

/// The standing instructions of a handoff, with what they take of its budget.
#[derive(Debug, Default)]
pub struct HandoffRules {
    rules: Vec<StandingRule>,
    quarters: u64,
}

impl HandoffRules {
    /// Takes what is in force: all that the caller added, then the newest, up to half of the budget.
    pub fn of(rules: Vec<StandingRule>, budget_tokens: u64, estimator: &Estimator) -> Self {
        let weigh = |line: &str| estimator.quarters(line) + estimator.quarters("\n");
        let mut found: Vec<(usize, StandingRule)> =
            rules.into_iter().filter(|rule| rule.state == RuleState::InForce).enumerate().collect();
        sort_by(&mut found, |(a, one), (b, other)| one.item_id.is_some().cmp(&other.item_id.is_some()).then(b.cmp(a)));
        let mut quarters = weigh(RULES_TITLE);
        found.retain(|(_, rule)| {
            let cost = weigh(&rule_line(rule));
            let fits = quarters + cost <= 4 * budget_tokens / RULES_SHARE;
            quarters += if fits { cost } else { 0 };
            fits
        });
        sort_by(&mut found, |(a, _), (b, _)| a.cmp(b));
        let rules: Vec<StandingRule> = found.into_iter().map(|(_, rule)| rule).collect();
        Self { quarters: if rules.is_empty() { 0 } else { quarters }, rules }
    }

    /// Returns whole tokens that the rest of the handoff must do without.
    pub fn tokens(&self) -> u64 {
        self.quarters.div_ceil(4)
    }

    /// Puts them at the head of a handoff.
    pub fn at_head_of(self, mut pack: HandoffPack) -> HandoffPack {
        pack.used += self.quarters;
        pack.rules = self.rules;
        pack
    }
}

fn rule_line(rule: &StandingRule) -> String {
    let place = rule.item_id.as_deref().map_or(Cow::Borrowed(ADDED), redact_id);
    format!("- {} ({})", list_item(&rule.text), one_line(&place))
}

fn entry_line(entry: &HandoffEntry) -> String {
    format!("- ({}) {}", one_line(&redact_id(&entry.id)), list_item(&entry.text))
}

fn ref_line(artifact: &ArtifactRef) -> String {
    let handle = redact_id(&artifact.handle);
    let label = if artifact.label.is_empty() { &*handle } else { &artifact.label };
    one_line(&format!("- {handle}: {label} [{}, {}B]", artifact.media_type, artifact.size_bytes))
}

#[cfg(test)]
#[path = "handoff_tests.rs"]
mod tests;
