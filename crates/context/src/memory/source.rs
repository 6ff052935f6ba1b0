//! Entries of a caller's memory, ranked for a phase and a query, as items of kind `memory_fact`.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::word_set;
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, ItemKind, JsonMap, MemoryEntry, Phase};
use contextweaver_text::quote::quote;
use contextweaver_text::tokens::Estimator;

/// What entries of a caller's memory are ranked by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryQuery<'a> {
    /// Words to find; none ranks by confidence and scope alone.
    pub text: &'a str,
    /// The phase, which prefers certain scopes.
    pub phase: Phase,
    /// The moment, in the unit of the entries; what has expired by then is not found.
    pub now: f64,
    /// Most entries to rank before the budget counts.
    pub max_entries: Option<usize>,
}

/// Returns the scopes that a phase prefers, best first.
pub const fn preferred_scopes(phase: Phase) -> &'static [&'static str] {
    match phase {
        Phase::Route => &["routing", "tool_preference", "policy"],
        Phase::Call => &["tool_usage", "tool_preference", "domain"],
        Phase::Interpret => &["domain", "fact", "convention"],
        Phase::Answer => &["domain", "fact", "convention", "preference"],
    }
}

/// Ranks entries: words of the query found, plus confidence, plus how much the phase prefers the scope.
///
/// Of equals the newer one is first, then the smaller id.
///
/// # Errors
/// `DUPLICATE_ID` at `/<index>/id` for a repeated id.
///
/// # Examples
/// ```
/// use contextweaver_context::memory::{MemoryQuery, rank_memory};
/// use contextweaver_model::{MemoryEntry, Phase};
/// use serde_json::json;
///
/// let entry = |id: &str, expires: u64| {
///     MemoryEntry::from_value(json!({ "id": id, "text": "a fact", "expires_at": expires }), "")
/// };
/// let entries = [entry("old", 10)?, entry("b", 99)?, entry("a", 99)?];
/// let query = MemoryQuery { text: "", phase: Phase::Answer, now: 50.0, max_entries: None };
/// let ids: Vec<&str> = rank_memory(&entries, &query)?.iter().map(|entry| entry.id.as_str()).collect();
/// assert_eq!(ids, ["a", "b"]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn rank_memory<'a>(entries: &'a [MemoryEntry], query: &MemoryQuery<'_>) -> Result<Vec<&'a MemoryEntry>> {
    check_ids(entries)?;
    let wanted = word_set(query.text);
    let mut ranked: Vec<(f64, &MemoryEntry)> = entries
        .iter()
        .filter(|entry| !is_expired(entry, query.now))
        .map(|entry| (relevance(entry, &wanted, query), entry))
        .collect();
    contextweaver_base::order::sort_by(&mut ranked, |(a, left), (b, right)| {
        let newer = || descending(left.timestamp, right.timestamp);
        descending(*a, *b).then_with(newer).then_with(|| left.id.cmp(&right.id))
    });
    ranked.truncate(query.max_entries.unwrap_or(usize::MAX));
    Ok(ranked.into_iter().map(|(_, entry)| entry).collect())
}

/// Ranks entries and makes items of those that fit; one that does not fit is left out and the next one tried.
///
/// # Errors
/// `DUPLICATE_ID` at `/<index>/id` for a repeated id.
///
/// # Examples
/// ```
/// use contextweaver_context::memory::{MemoryQuery, select_memory};
/// use contextweaver_model::{MemoryEntry, Phase};
/// use contextweaver_text::tokens::Estimator;
/// use serde_json::json;
///
/// let entry = |id: &str, text: &str| MemoryEntry::from_value(json!({ "id": id, "text": text }), "");
/// let entries = [entry("m1", "Invoices go out on Mondays")?, entry("m2", "The office is in Lisbon")?];
/// let (text, phase) = ("where is the office?", Phase::Answer);
/// let query = MemoryQuery { text, phase, now: 0.0, max_entries: Some(1) };
/// let items = select_memory(&entries, &query, 100, &Estimator::V3)?;
/// assert_eq!(items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["memory:m2"]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn select_memory(
    entries: &[MemoryEntry],
    query: &MemoryQuery<'_>,
    budget_tokens: u64,
    estimator: &Estimator,
) -> Result<Vec<ContextItem>> {
    let mut items = to_context_items(rank_memory(entries, query)?, estimator);
    let mut left = budget_tokens;
    items.retain(|item| {
        let fits = item.token_estimate <= left;
        if fits {
            left -= item.token_estimate;
        }
        fits
    });
    Ok(items)
}

/// Makes an item of each entry, with its label, its tags and where it comes from.
pub fn to_context_items<'a>(
    entries: impl IntoIterator<Item = &'a MemoryEntry>,
    estimator: &Estimator,
) -> Vec<ContextItem> {
    entries
        .into_iter()
        .map(|entry| {
            let mut item = ContextItem::new(format!("memory:{}", entry.id), ItemKind::MemoryFact, &*entry.text);
            item.token_estimate = estimator.tokens(&entry.text).max(1);
            item.sensitivity = entry.sensitivity;
            item.metadata = metadata_of(entry);
            item
        })
        .collect()
}

/// Tells whether an entry has stopped being true.
pub fn is_expired(entry: &MemoryEntry, now: f64) -> bool {
    entry.expires_at.is_some_and(|end| now >= end)
}

fn check_ids(entries: &[MemoryEntry]) -> Result<()> {
    let mut seen = HashSet::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        if !seen.insert(entry.id.as_str()) {
            let message = format!("a memory entry with id {} exists", quote(&entry.id));
            return Err(Error::new(ErrorCode::DuplicateId, message).at(format!("/{index}/id")));
        }
    }
    Ok(())
}

fn relevance(entry: &MemoryEntry, wanted: &WordSet, query: &MemoryQuery<'_>) -> f64 {
    let overlap = if wanted.is_empty() {
        0.0
    } else {
        let words = word_set(&format!("{} {}", entry.text, entry.tags.join(" ")));
        wanted.shared(&words) as f64 / wanted.len() as f64
    };
    overlap + entry.confidence.clamp(0.0, 1.0) + scope_bonus(&entry.scope, preferred_scopes(query.phase))
}

fn scope_bonus(scope: &str, preferred: &[&str]) -> f64 {
    match preferred.iter().position(|other| *other == scope) {
        Some(index) => (preferred.len() - index) as f64 / preferred.len() as f64,
        None => 0.0,
    }
}

/// Compares with 0 and -0 equal, as Python does.
fn descending(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).unwrap_or(Ordering::Equal)
}

fn metadata_of(entry: &MemoryEntry) -> JsonMap {
    let mut metadata = entry.metadata.clone();
    if !entry.tags.is_empty() && !metadata.contains_key("tags") {
        metadata.insert("tags".into(), json!(entry.tags));
    }
    let mut own = match metadata.get("_contextweaver") {
        Some(Value::Object(map)) => map.clone(),
        _ => JsonMap::new(),
    };
    let origin = json!({
        "id": entry.id,
        "source": entry.source,
        "scope": entry.scope,
        "confidence": entry.confidence,
        "timestamp": entry.timestamp,
    });
    own.insert("memory_source".into(), origin);
    metadata.insert("_contextweaver".into(), Value::Object(own));
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &Value) -> Vec<MemoryEntry> {
        let list = list.as_array().unwrap().iter();
        list.map(|value| MemoryEntry::from_value(value.clone(), "").unwrap()).collect()
    }

    fn query(text: &str) -> MemoryQuery<'_> {
        MemoryQuery { text, phase: Phase::Answer, now: 50.0, max_entries: None }
    }

    fn ids(entries: &[MemoryEntry], query: &MemoryQuery<'_>) -> Vec<String> {
        rank_memory(entries, query).unwrap().iter().map(|entry| entry.id.clone()).collect()
    }

    #[test]
    fn equals_are_ordered_by_time_then_id() {
        let list = entries(&json!([
            {"id": "b", "text": "x"}, {"id": "a", "text": "x"}, {"id": "z", "text": "x", "timestamp": 5},
            {"id": "gone", "text": "x", "expires_at": 50},
            {"id": "kept", "text": "x", "expires_at": 50.5, "scope": "fact"},
            {"id": "low", "text": "x", "confidence": -4}, {"id": "m", "text": "x", "timestamp": -0.0},
        ]));
        assert_eq!(ids(&list, &query("")), ["kept", "z", "a", "b", "m", "low"]);
        assert_eq!(ids(&list, &MemoryQuery { max_entries: Some(0), ..query("") }), Vec::<String>::new());
    }

    #[test]
    fn tags_match_and_so_do_other_scripts() {
        let list = entries(&json!([
            {"id": "a", "text": "пароль от базы"},
            {"id": "b", "text": "t", "tags": ["billing api"], "confidence": 0.6},
        ]));
        assert_eq!(ids(&list, &query("billing")), ["b", "a"]);
        assert_eq!(ids(&list, &query("пароль")), ["a", "b"]);
    }

    #[test]
    fn the_budget_skips_what_does_not_fit() {
        let list = entries(
            &json!([{"id": "a", "text": "x".repeat(80)}, {"id": "b", "text": ""}, {"id": "c", "text": "abcdabcd"}]),
        );
        let pick = |budget| select_memory(&list, &query(""), budget, &Estimator::V2).unwrap();
        assert_eq!(pick(3).iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["memory:b", "memory:c"]);
        assert!(pick(0).is_empty());
        assert_eq!(pick(3)[0].token_estimate, 1);
    }

    #[test]
    fn metadata_keeps_the_callers_and_adds_the_origin() {
        let list = entries(
            &json!([{"id": "a", "text": "t", "tags": ["x"], "metadata": {"tags": 1, "_contextweaver": {"k": 2}}}]),
        );
        let metadata = &to_context_items(&list, &Estimator::V2)[0].metadata;
        assert_eq!((&metadata["tags"], &metadata["_contextweaver"]["k"]), (&json!(1), &json!(2)));
        assert_eq!(metadata["_contextweaver"]["memory_source"]["id"], "a");
    }

    #[test]
    fn repeated_ids_are_refused() {
        let list = entries(&json!([{"id": "a", "text": ""}, {"id": "a", "text": ""}]));
        let error = rank_memory(&list, &query("")).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::DuplicateId, "/1/id"));
    }
}
