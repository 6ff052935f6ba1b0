//! Tools that may be mistaken for each other, as contextweaver 0.18 finds them.

mod ratio;

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::inventory_of;
use contextweaver_base::order::{self, SortedMap, WordSet};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::numbers::{fixed, round};
use contextweaver_text::python::quoted;
use contextweaver_text::tokenize::token_set;
use contextweaver_text::unicode::trim;

use ratio::{NameLetters, ratio, ratio_bound, shared};

/// The kinds of collision.
pub const COLLISION_KINDS: &[&str] = &["exact_name", "near_name", "similar_description", "similar_schema"];

/// Names above this many characters are not compared for being near: the comparison is quadratic in them.
const MAX_COMPARED_CHARS: usize = 2048;

/// Least similarity at which two tools collide, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionThresholds {
    /// Least share of equal characters in both names, as `difflib` counts it.
    pub near_name: f64,
    /// Least Jaccard similarity of the descriptions.
    pub description: f64,
    /// Least Jaccard similarity of the arguments' names.
    pub schema: f64,
    /// Most collisions of one kind that are told.
    pub most_of_a_kind: usize,
}

impl Default for CollisionThresholds {
    fn default() -> Self {
        Self { near_name: 0.84, description: 0.8, schema: 0.8, most_of_a_kind: 1000 }
    }
}

/// Tools that may be mistaken for each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collision {
    /// One of [`COLLISION_KINDS`].
    pub kind: &'static str,
    /// Ids of the tools that collide, sorted.
    pub item_ids: Vec<String>,
    /// How much alike they are, with four decimals.
    pub score: f64,
    /// `namespace`, `rename`, `consolidate`, `deprecate` or `review`.
    pub recommendation: &'static str,
    /// The name, or the words, that they share.
    pub evidence: String,
}

/// The collisions in a list of tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollisionReport {
    /// Collisions by kind, then by ids.
    pub findings: Vec<Collision>,
    /// Number of collisions of each kind.
    pub counts: SortedMap<&'static str, usize>,
    /// The kinds of which there may be more: tools were not compared for them any further.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    // Not exported to TypeScript, where it would be optional.
    pub cut_off: Vec<&'static str>,
}

/// What is compared of one tool.
struct CollisionProfile<'a> {
    item: &'a SelectableItem,
    /// The name in lower case without joints.
    name: NameLetters,
    /// Number of the group of tools with the same name in several namespaces.
    group: Option<usize>,
    /// Numbers of the description's words, sorted; none when it is blank.
    words: Option<Vec<u32>>,
    /// Numbers of the arguments' names, sorted; none when there are fewer than two.
    arguments: Option<Vec<u32>>,
    domain: Option<String>,
    lifecycle: Option<String>,
}

/// Finds tools with the same or a near name, and with alike descriptions or arguments.
///
/// Every tool is compared with every other, so a catalog of 10,000 takes seconds; what cannot reach a threshold is
/// put aside by its length and letters first. A kind of which enough was found is not looked for any further.
pub fn analyze_collisions(items: &[SelectableItem], thresholds: CollisionThresholds) -> CollisionReport {
    let mut findings = Vec::new();
    let profiles = profiles(items, &mut findings);
    let most = thresholds.most_of_a_kind;
    let mut cut_off = Vec::new();
    if findings.len() > most {
        findings.truncate(most);
        cut_off.push(COLLISION_KINDS[0]);
    }
    let comparisons: [(CollisionCheck, f64); 3] = [
        (near_name, thresholds.near_name),
        (alike_description, thresholds.description),
        (alike_schema, thresholds.schema),
    ];
    for ((compare, threshold), kind) in comparisons.into_iter().zip(&COLLISION_KINDS[1..]) {
        let before = findings.len();
        let pairs = profiles.iter().enumerate();
        let pairs = pairs.flat_map(|(place, first)| profiles[place + 1..].iter().map(move |second| (first, second)));
        let found = &mut pairs.filter_map(|(first, second)| compare(first, second, threshold));
        findings.extend(found.take(most));
        if findings.len() - before == most && found.next().is_some() {
            cut_off.push(kind);
        }
    }
    order::sort_by(&mut findings, |a, b| (a.kind, &a.item_ids).cmp(&(b.kind, &b.item_ids)));
    let mut counts = SortedMap::new();
    counts.extend(COLLISION_KINDS.iter().map(|kind| (*kind, 0)));
    for finding in &findings {
        *counts.get_or_insert(&finding.kind, 0) += 1;
    }
    CollisionReport { findings, counts, cut_off }
}

/// Looks at two tools for one kind of collision.
type CollisionCheck = fn(&CollisionProfile<'_>, &CollisionProfile<'_>, f64) -> Option<Collision>;

/// Prepares the comparison, tools by id; finds those with the same name on the way.
fn profiles<'a>(items: &'a [SelectableItem], findings: &mut Vec<Collision>) -> Vec<CollisionProfile<'a>> {
    let mut sorted: Vec<&SelectableItem> = items.iter().collect();
    order::sort_by(&mut sorted, |a, b| a.id.cmp(&b.id));
    let mut by_name: SortedMap<&str, Vec<&SelectableItem>> = SortedMap::new();
    for item in &sorted {
        by_name.get_or_insert(&item.name.as_str(), Vec::new()).push(item);
    }
    let mut groups: SortedMap<&str, usize> = SortedMap::new();
    for (name, same) in by_name.iter() {
        let namespaces = WordSet::new(same.iter().map(|item| item.namespace.clone()).collect());
        if namespaces.len() < 2 {
            continue;
        }
        groups.insert(name, groups.len());
        findings.push(Collision {
            kind: "exact_name",
            item_ids: same.iter().map(|item| item.id.clone()).collect(),
            score: 1.0,
            recommendation: "namespace",
            evidence: format!("name {} appears in namespaces: {}", quoted(name), namespaces.words().join(", ")),
        });
    }
    let mut numbers = SortedMap::new();
    let mut number = |words: &[String]| {
        let mut list: Vec<u32> = words
            .iter()
            .map(|word| {
                let next = numbers.len() as u32;
                *numbers.get_or_insert(word, next)
            })
            .collect();
        order::sort(&mut list);
        list
    };
    sorted
        .into_iter()
        .map(|item| {
            let inventory = inventory_of(item).ok().flatten();
            let part = |key: &str| inventory.as_ref()?.get(key)?.as_str().map(str::to_owned);
            let arguments = argument_names(item);
            let (domain, lifecycle) = (part("business_domain"), part("lifecycle"));
            let blank = trim(&item.description).is_empty();
            CollisionProfile {
                item,
                name: NameLetters::new(&bare(&item.name)),
                group: groups.get(item.name.as_str()).copied(),
                words: (!blank).then(|| number(token_set(&item.description).words())),
                arguments: (arguments.len() > 1).then(|| number(arguments.words())),
                domain,
                lifecycle,
            }
        })
        .collect()
}

fn bare(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

fn argument_names(item: &SelectableItem) -> WordSet {
    let properties = item.args_schema.get("properties").and_then(Value::as_object);
    WordSet::new(properties.map(|map| map.keys().cloned().collect()).unwrap_or_default())
}

impl CollisionProfile<'_> {
    fn collision(
        &self,
        other: &Self,
        kind: &'static str,
        score: f64,
        recommendation: &'static str,
        evidence: String,
    ) -> Collision {
        let item_ids = vec![self.item.id.clone(), other.item.id.clone()];
        Collision { kind, item_ids, score: round(score, 4), recommendation, evidence }
    }

    /// Says to give up one of two tools when one already is deprecated, and to look at them otherwise.
    fn retire(&self, other: &Self) -> &'static str {
        let states = [self.lifecycle.as_deref(), other.lifecycle.as_deref()];
        let has = |state: &str| states.contains(&Some(state));
        if has("active") && has("deprecated") { "deprecate" } else { "review" }
    }
}

fn near_name(first: &CollisionProfile<'_>, second: &CollisionProfile<'_>, threshold: f64) -> Option<Collision> {
    let (a, b) = (&first.name, &second.name);
    let same_group = first.group.is_some() && first.group == second.group;
    let too_long = a.len().max(b.len()) > MAX_COMPARED_CHARS;
    if same_group || a.len() == 0 || b.len() == 0 || too_long || ratio_bound(a, b, threshold) < threshold {
        return None;
    }
    let score = ratio(a, b);
    let names = (&first.item.name, &second.item.name);
    let evidence = || {
        format!(
            "names {} / {} normalize to {} / {} (ratio {})",
            quoted(names.0),
            quoted(names.1),
            quoted(&bare(names.0)),
            quoted(&bare(names.1)),
            fixed(score, 2)
        )
    };
    (score >= threshold).then(|| first.collision(second, "near_name", score, "rename", evidence()))
}

fn alike_description(first: &CollisionProfile<'_>, second: &CollisionProfile<'_>, threshold: f64) -> Option<Collision> {
    let score = jaccard(first.words.as_deref()?, second.words.as_deref()?, threshold)?;
    let same_domain = first.domain.is_some() && first.domain == second.domain;
    let recommendation = if same_domain { "consolidate" } else { first.retire(second) };
    let evidence = format!("description Jaccard {}", fixed(score, 2));
    Some(first.collision(second, "similar_description", score, recommendation, evidence))
}

fn alike_schema(first: &CollisionProfile<'_>, second: &CollisionProfile<'_>, threshold: f64) -> Option<Collision> {
    let score = jaccard(first.arguments.as_deref()?, second.arguments.as_deref()?, threshold)?;
    let (ours, theirs) = (argument_names(first.item), argument_names(second.item));
    let shared: Vec<&str> = ours.words().iter().filter(|name| theirs.contains(name)).map(String::as_str).collect();
    let evidence = format!("schema Jaccard {} (shared: {})", fixed(score, 2), shared.join(", "));
    Some(first.collision(second, "similar_schema", score, first.retire(second), evidence))
}

/// Returns the Jaccard similarity of two sorted lists when it reaches the threshold; 0 of two empty ones.
fn jaccard(a: &[u32], b: &[u32], threshold: f64) -> Option<f64> {
    let (small, large) = (a.len().min(b.len()), a.len().max(b.len()));
    if large > 0 && (small as f64 / large as f64) < threshold {
        return None;
    }
    let shared = shared(a, b);
    let all = a.len() + b.len() - shared;
    let score = if all == 0 { 0.0 } else { shared as f64 / all as f64 };
    (score >= threshold).then_some(score)
}

impl CollisionReport {
    /// Returns the report as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = String::from("# Catalog Collision Report\n\n## Counts\n\n");
        for (kind, count) in self.counts.iter() {
            let _ = writeln!(out, "- `{kind}`: {count}");
        }
        let _ = write!(out, "\nTotal findings: {}\n", self.findings.len());
        if !self.cut_off.is_empty() {
            let _ = write!(out, "\nThere may be more of: {}\n", self.cut_off.join(", "));
        }
        if self.findings.is_empty() {
            return out;
        }
        out.push_str("\n## Findings\n\n| kind | items | score | recommendation | evidence |\n|---|---|---|---|---|\n");
        for found in &self.findings {
            let Collision { kind, item_ids, score, recommendation, evidence } = found;
            let cells = [kind, item_ids.join(", ").as_str(), &fixed(*score, 2), recommendation, evidence].join(" | ");
            let _ = writeln!(out, "| {cells} |");
        }
        out
    }
}
