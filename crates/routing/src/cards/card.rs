//! The card that shows a tool to a model: enough to choose by, never a schema.

use serde::Serialize;

use contextweaver_base::order::{sort, sort_by, sort_distinct};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Record;
use contextweaver_model::{SelectableItem, TOOL_KINDS};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::prefix;

/// What a card may say about safety.
pub const SAFETY_LEVELS: &[&str] = &["", "read_only", "destructive"];

/// Code points of a card's name.
const NAME_CHARS: usize = 64;
/// Tags of a card.
const MAX_TAGS: usize = 5;
/// Code points of one tag.
const TAG_CHARS: usize = 24;

/// What a model sees of one tool when it is to choose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(check)]
pub struct ChoiceCard {
    /// The id by which the tool is chosen.
    pub id: String,
    /// At most 64 code points of its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// At most five tags of at most 24 code points, sorted.
    pub tags: Vec<String>,
    /// One of [`TOOL_KINDS`].
    #[record(default = "tool".to_owned())]
    pub kind: String,
    /// Group, with dots between its levels.
    #[record(default)]
    pub namespace: String,
    /// Whether the tool has a schema of its arguments, which a card never shows.
    #[record(default)]
    pub has_schema: bool,
    /// Relative cost, 0 for unknown.
    #[record(default)]
    pub cost_hint: f64,
    /// Whether calling it changes something.
    #[record(default)]
    pub side_effects: bool,
    /// One of [`SAFETY_LEVELS`].
    #[record(default)]
    pub safety: String,
    /// How well it fits the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub score: Option<f64>,
}

impl ChoiceCard {
    /// Makes the card of a tool; with `redact`, secrets in its texts are masked.
    pub fn of(item: &SelectableItem, score: Option<f64>, redact: bool) -> Self {
        // Masked before it is cut: half a secret is no longer recognised.
        let clean = |text: &str| if redact { mask_secrets(text).into_owned() } else { text.to_owned() };
        let cut = |text: &str, chars| prefix(&clean(text), chars).to_owned();
        Self {
            id: item.id.clone(),
            name: cut(&item.name, NAME_CHARS),
            description: clean(&item.description),
            tags: card_tags(item.tags.iter().map(|tag| cut(tag, TAG_CHARS)).collect()),
            kind: item.kind.clone(),
            namespace: clean(&item.namespace),
            has_schema: !item.args_schema.is_empty(),
            cost_hint: item.cost_hint,
            side_effects: item.side_effects,
            safety: safety(&item.tags).to_owned(),
            score,
        }
    }

    /// Masks the secrets in the texts of a card that somebody else made.
    #[must_use]
    pub fn masked(self) -> Self {
        Self {
            name: mask_secrets(&self.name).into_owned(),
            description: mask_secrets(&self.description).into_owned(),
            tags: self.tags.iter().map(|tag| mask_secrets(tag).into_owned()).collect(),
            namespace: mask_secrets(&self.namespace).into_owned(),
            ..self
        }
    }

    /// Checks the bounds of a card.
    fn check(&self, path: &str) -> Result<()> {
        for (field, value, known) in [("kind", &self.kind, TOOL_KINDS), ("safety", &self.safety, SAFETY_LEVELS)] {
            if !known.contains(&value.as_str()) {
                let message = format!("no {field} of a card is called {}", quote(value));
                let hint = format!("one of {}", known.join(", "));
                return Err(Error::new(ErrorCode::InvalidInput, message).at(format!("{path}/{field}")).hint(hint));
            }
        }
        let too_large = |what: &str, limit: usize, at: String| {
            Err(Error::new(ErrorCode::TooLarge, format!("a card has at most {limit} {what}"))
                .at(format!("{path}/{at}")))
        };
        if self.name.chars().count() > NAME_CHARS {
            return too_large("code points of name", NAME_CHARS, "name".to_owned());
        }
        if self.tags.len() > MAX_TAGS {
            return too_large("tags", MAX_TAGS, "tags".to_owned());
        }
        match self.tags.iter().position(|tag| tag.chars().count() > TAG_CHARS) {
            Some(place) => too_large("code points in a tag", TAG_CHARS, format!("tags/{place}")),
            None => Ok(()),
        }
    }
}

/// Returns what a tag says about safety.
fn tag_safety(tag: &str) -> &'static str {
    match tag.to_lowercase().as_str() {
        "destructive" => "destructive",
        "read-only" | "read_only" => "read_only",
        _ => "",
    }
}

/// Returns what the tags of a tool say about safety, the worst first.
fn safety(tags: &[String]) -> &'static str {
    ["destructive", "read_only"]
        .into_iter()
        .find(|level| tags.iter().any(|tag| tag_safety(tag) == *level))
        .unwrap_or_default()
}

/// Chooses the tags of a card: those about safety first, then the others in order.
fn card_tags(mut tags: Vec<String>) -> Vec<String> {
    sort_distinct(&mut tags);
    sort_by(&mut tags, |a, b| tag_safety(a).is_empty().cmp(&tag_safety(b).is_empty()));
    tags.truncate(MAX_TAGS);
    sort(&mut tags);
    tags
}

/// Counts the tokens of a text on a card: at least one unless it is empty.
pub fn card_tokens(text: &str, count: &dyn Fn(&str) -> u64) -> u64 {
    if text.is_empty() { 0 } else { count(text).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked_before_texts_are_cut() {
        let key = "AKIAIOSFODNN7EXAMPLE";
        let item = SelectableItem {
            name: format!("{} {key}", "n".repeat(50)),
            description: format!("calls with {key}"),
            tags: vec![format!("with {key}"), "x".to_owned()],
            ..SelectableItem::default()
        };
        let card = json!(ChoiceCard::of(&item, None, true)).to_string();
        assert!(!card.contains("AKIA"), "{card}");
        assert!(json!(ChoiceCard::of(&item, None, false)).to_string().contains(key));
    }

    #[test]
    fn tags_about_safety_are_kept_first() {
        let tags = |list: &[&str]| card_tags(list.iter().map(|&tag| tag.to_owned()).collect());
        assert_eq!(tags(&["e", "d", "c", "b", "a", "READ-only"]), ["READ-only", "a", "b", "c", "d"]);
        assert_eq!(tags(&["b", "a", "b"]), ["a", "b"]);
        assert_eq!(safety(&["read_only".to_owned(), "Destructive".to_owned()]), "destructive");
    }

    #[test]
    fn bounds_are_named_with_their_place() {
        let cases = [
            (json!({"kind": "x"}), "INVALID_INPUT", "/kind"),
            (json!({"safety": "safe"}), "INVALID_INPUT", "/safety"),
            (json!({"name": "n".repeat(65)}), "TOO_LARGE", "/name"),
            (json!({"tags": ["1", "2", "3", "4", "5", "6"]}), "TOO_LARGE", "/tags"),
            (json!({"tags": ["a", "t".repeat(25)]}), "TOO_LARGE", "/tags/1"),
            (json!({"id": null}), "MISSING_FIELD", "/id"),
        ];
        for (patch, code, path) in cases {
            let mut card = json!({"id": "a", "name": "n", "description": "d"});
            for (key, value) in patch.as_object().unwrap() {
                card[key] = value.clone();
            }
            let error = ChoiceCard::from_value(card, "").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path));
        }
    }
}
