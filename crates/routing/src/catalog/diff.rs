//! What changed from one catalog to another.

use serde::Serialize;
use serde_json::Value;

use super::hash::compute_catalog_hash;
use super::normalise::collapse;
use super::risk::{ToolChange, assess, same_value, worst};
use contextweaver_base::order::{self, SortedMap};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::is_space;

/// Words of the description that make up a probe, with the name.
const PROBE_WORDS: usize = 6;

/// A tool that is in both catalogs and differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ChangedItem {
    /// Id of the tool.
    pub id: String,
    /// Its fields that differ, sorted.
    pub fields: Vec<String>,
    /// The worst of what the changes may break.
    #[cfg_attr(feature = "ts", ts(type = "\"none\" | \"documentation\" | \"compatible\" | \"review\" | \"breaking\""))]
    pub risk: &'static str,
    /// Changes within those fields.
    pub changes: Vec<ToolChange>,
}

/// What changed from one catalog to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CatalogDiff {
    /// Version of this record's form.
    pub version: u32,
    /// Ids only the later catalog has, sorted.
    pub added: Vec<String>,
    /// Ids only the earlier catalog has, sorted.
    pub removed: Vec<String>,
    /// Tools of both that differ, by id.
    pub changed: Vec<ChangedItem>,
    /// Hash of contextweaver 0.18 of the first catalog.
    pub hash_before: String,
    /// Hash of contextweaver 0.18 of the second catalog.
    pub hash_after: String,
}

/// Compares two catalogs.
///
/// # Errors
///
/// Fails with `DUPLICATE_ID` when an id is there twice on one side.
///
/// # Examples
///
/// ```
/// # use contextweaver_routing::Catalog;
/// # use serde_json::json;
/// # let catalog = Catalog::from_value(json!({ "items": [
/// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
/// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
/// # ] }), "")?;
///
/// use contextweaver_model::SelectableItem;
/// use contextweaver_routing::diff_catalogs;
///
/// let before: Vec<SelectableItem> = catalog.items().cloned().collect();
/// let mut after = before.clone();
/// after[0].description = "Read a text file.".to_owned();
/// after.pop();
/// let diff = diff_catalogs(&before, &after)?;
/// assert_eq!(diff.removed, ["mail.send"]);
/// assert_eq!((diff.changed[0].id.as_str(), diff.changed[0].risk), ("files.read", "documentation"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn diff_catalogs(before: &[SelectableItem], after: &[SelectableItem]) -> Result<CatalogDiff> {
    let (old, new) = (by_id(before, "/before")?, by_id(after, "/after")?);
    let without = |some: &SortedMap<&str, &SelectableItem>, other: &SortedMap<&str, &SelectableItem>| {
        some.keys().filter(|id| !other.contains_key(*id)).map(|id| (*id).to_owned()).collect()
    };
    let mut changed = Vec::new();
    for (id, was) in old.iter() {
        let Some(is) = new.get(id).filter(|is| *is != was) else { continue };
        let fields = changed_fields(was, is);
        if !fields.is_empty() {
            let effects = assess(was, is);
            changed.push(ChangedItem { id: (*id).to_owned(), fields, risk: worst(&effects), changes: effects });
        }
    }
    Ok(CatalogDiff {
        version: 1,
        added: without(&new, &old),
        removed: without(&old, &new),
        changed,
        hash_before: compute_catalog_hash(before),
        hash_after: compute_catalog_hash(after),
    })
}

fn by_id<'a>(items: &'a [SelectableItem], path: &str) -> Result<SortedMap<&'a str, &'a SelectableItem>> {
    let mut map = SortedMap::new();
    for (index, item) in items.iter().enumerate() {
        if map.insert(item.id.as_str(), item).is_some() {
            let message = format!("two tools have the id {}", quote(&item.id));
            return Err(Error::new(ErrorCode::DuplicateId, message).at(format!("{path}/{index}/id")));
        }
    }
    Ok(map)
}

/// Returns the fields of the record that differ; one that is left out differs from an empty one.
fn changed_fields(before: &SelectableItem, after: &SelectableItem) -> Vec<String> {
    let value = |item: &SelectableItem| serde_json::to_value(item).unwrap_or(Value::Null);
    let (before, after) = (value(before), value(after));
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect() };
    let mut fields: Vec<String> = [keys(&before), keys(&after)].concat();
    order::sort_distinct(&mut fields);
    fields.retain(|key| match (before.get(key), after.get(key)) {
        (Some(was), Some(is)) => !same_value(was, is),
        _ => true,
    });
    fields
}

impl CatalogDiff {
    /// Returns the difference as Markdown.
    pub fn to_markdown(&self) -> String {
        let Self { added, removed, changed, hash_before, hash_after, .. } = self;
        let mut out = format!(
            "# Catalog Diff\n\n- Hash: `{hash_before}` -> `{hash_after}`\n- Added: {}, removed: {}, changed: {}\n",
            added.len(),
            removed.len(),
            changed.len()
        );
        let ids = |ids: &[String]| ids.iter().map(|id| format!("`{id}`")).collect();
        let changed = changed.iter().map(|item| format!("`{}`: {}", item.id, item.fields.join(", "))).collect();
        let sections: [(&str, Vec<String>); 3] =
            [("Added", ids(added)), ("Removed", ids(removed)), ("Changed", changed)];
        for (title, lines) in sections {
            let lines = if lines.is_empty() { "None".to_owned() } else { lines.join("\n- ") };
            out.push_str(&["\n## ", title, "\n\n- ", &lines, "\n"].concat());
        }
        out
    }
}

/// Makes queries that should find tools: the name and the first words of the description of the first `count` tools by
/// id, with the id each should find.
///
/// # Errors
///
/// Fails with `OUT_OF_RANGE` when `count` is zero.
pub fn suggest_probes(items: &[SelectableItem], count: usize) -> Result<Vec<(String, String)>> {
    if count == 0 {
        return Err(Error::new(ErrorCode::OutOfRange, "at least one probe must be asked for").at("/n"));
    }
    let mut sorted: Vec<&SelectableItem> = items.iter().collect();
    order::sort_by(&mut sorted, |a, b| a.id.cmp(&b.id));
    let probe = |item: &SelectableItem| {
        let words = item.description.split(is_space).filter(|word| !word.is_empty()).take(PROBE_WORDS);
        let name = item.name.replace(['_', '-', '.'], " ");
        collapse(&[name.as_str()].into_iter().chain(words).collect::<Vec<_>>().join(" ").to_lowercase())
    };
    let probes = sorted.into_iter().map(|item| (probe(item), item.id.clone()));
    Ok(probes.filter(|(query, _)| !query.is_empty()).take(count).collect())
}
