//! Digests of catalogs and tools.

use std::fmt::Write as _;

use serde_json::Value;

use contextweaver_base::order;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::to_sorted_ascii;
use contextweaver_text::hash::sha256_hex;

/// Returns the hash that contextweaver 0.18 has of a catalog: ids, names, descriptions, namespaces and tags.
///
/// Its separators are not escaped, so different catalogs may share it; [`fingerprint`] is the key for caches.
pub fn compute_catalog_hash<'a>(items: impl IntoIterator<Item = &'a SelectableItem>) -> String {
    let mut sorted: Vec<&SelectableItem> = items.into_iter().collect();
    order::sort_by(&mut sorted, |a, b| a.id.cmp(&b.id));
    let mut text = String::new();
    for (place, item) in sorted.iter().enumerate() {
        let mut tags: Vec<&str> = item.tags.iter().map(String::as_str).collect();
        order::sort(&mut tags);
        if place > 0 {
            text.push('\n');
        }
        text.push_str(&[&item.id, &item.name, &item.description, &item.namespace, tags.join(",").as_str()].join("|"));
    }
    sha256_hex(&text)
}

/// Writes a tool in the one form that digests are taken of.
fn canonical(item: &SelectableItem) -> String {
    to_sorted_ascii(&serde_json::to_value(item).unwrap_or(Value::Null), None)
}

/// Returns the digest of everything a tool says.
pub fn item_fingerprint(item: &SelectableItem) -> String {
    sha256_hex(&canonical(item))
}

/// Returns a digest of tools in any order: two catalogs share it only when every field of every tool is the same.
pub fn fingerprint<'a>(items: impl IntoIterator<Item = &'a SelectableItem>) -> String {
    let mut texts: Vec<(&str, String)> = items.into_iter().map(|item| (item.id.as_str(), canonical(item))).collect();
    order::sort_by(&mut texts, Ord::cmp);
    let mut all = format!("{};", texts.len());
    for (_, text) in texts {
        let _ = write!(all, "{}:{text}", text.len());
    }
    sha256_hex(&all)
}
