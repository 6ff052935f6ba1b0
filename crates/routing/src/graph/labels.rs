//! Names of groups of tools, out of the words their tools have in common.

use std::collections::HashMap;

use contextweaver_base::order::sort_by;
use contextweaver_model::SelectableItem;
use contextweaver_text::tokenize::token_set;

/// Words of a label.
pub const LABEL_WORDS: usize = 3;
/// Part of the tools that must share a namespace for it to be named.
pub const NAMESPACE_SHARE: f64 = 0.6;

/// Returns the text of a tool that contextweaver 0.18 looks at: name, description, tags.
pub fn item_text(item: &SelectableItem) -> String {
    format!("{} {} {}", item.name, item.description, item.tags.join(" "))
}

/// Names a group as contextweaver 0.18 does; returns the label and the hint.
///
/// The label is the words most tools have, after the namespace that at least `share` of them are in.
pub fn label_group<'a>(
    items: impl IntoIterator<Item = &'a SelectableItem>,
    words: usize,
    share: f64,
) -> (String, String) {
    let (mut tokens, mut namespaces): (HashMap<String, usize>, HashMap<String, usize>) = Default::default();
    let mut total = 0_usize;
    for item in items {
        total += 1;
        for token in token_set(&item_text(item)).words() {
            *tokens.entry(token.clone()).or_default() += 1;
        }
        if !item.namespace.is_empty() {
            *namespaces.entry(item.namespace.clone()).or_default() += 1;
        }
    }
    let ranked = most_common(tokens);
    let top: Vec<&str> = ranked.iter().take(words).map(|(token, _)| token.as_str()).collect();
    let mut label = if top.is_empty() { "general".to_owned() } else { top.join(" ") };
    let namespaces = most_common(namespaces);
    if let Some((namespace, _)) = namespaces.first().filter(|(_, count)| *count as f64 / total as f64 >= share) {
        label = format!("{namespace}: {label}");
    }
    let hint = format!("Tools related to {label}");
    (label, hint)
}

/// Sorts words by their counts, the most common first, equal ones by themselves.
fn most_common(counts: HashMap<String, usize>) -> Vec<(String, usize)> {
    let mut list: Vec<(String, usize)> = counts.into_iter().collect();
    sort_by(&mut list, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    list
}
