//! What a tool is about, by fixed vocabularies.

use contextweaver_model::SelectableItem;
use contextweaver_routing::graph::labels::item_text;
use contextweaver_text::tokenize::token_set;

/// Categories in alphabetical order with their words.
#[rustfmt::skip]
const CATEGORIES: &[(&str, &[&str])] = &[
    ("agent", &["agent", "plan", "delegate", "skill", "orchestrate", "route"]),
    ("auth", &["auth", "login", "token", "permission", "credential", "oauth", "key"]),
    ("communication", &["send", "notify", "email", "message", "post", "webhook", "slack"]),
    ("compute", &["calculate", "compute", "math", "transform", "process", "run", "execute"]),
    ("data", &["read", "write", "fetch", "query", "database", "file", "storage", "data"]),
    ("ml", &["model", "predict", "infer", "embed", "classify", "train", "llm", "ai"]),
    ("monitoring", &["monitor", "alert", "metric", "log", "trace", "health", "status"]),
    ("search", &["search", "find", "lookup", "retrieve", "index", "browse"]),
];

/// Returns the category of a tool and how sure it is: `high`, `medium`, `low` or `none`.
///
/// ```
/// use contextweaver_compat::routing::labeler::category;
/// use contextweaver_model::SelectableItem;
///
/// let item = SelectableItem { name: "send email".into(), ..SelectableItem::default() };
/// assert_eq!(category(&item).0, "communication");
/// ```
pub fn category(item: &SelectableItem) -> (&'static str, &'static str) {
    let tokens = token_set(&item_text(item));
    let (mut best, mut most) = ("general", 0);
    for (name, words) in CATEGORIES {
        let count = words.iter().filter(|word| tokens.contains(word)).count();
        if count > most {
            (best, most) = (name, count);
        }
    }
    let share = most as f64 / tokens.len().max(1) as f64;
    let confidence = match share {
        share if share >= 0.5 => "high",
        share if share >= 0.2 => "medium",
        share if share > 0.0 => "low",
        _ => "none",
    };
    (best, confidence)
}
