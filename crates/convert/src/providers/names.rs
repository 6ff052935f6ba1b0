//! Ids of calls and names of tools: those that items have, and those that a provider accepts.

use super::{Format, call_text};
use contextweaver_base::order::SortedMap;
use contextweaver_model::ContextItem;
use contextweaver_text::hash::of_text;

/// Characters that a name of a tool may have, where they are limited.
pub const NAME_CHARS: usize = 64;

/// The ids of calls that a provider accepts.
pub struct IdRule {
    /// Most characters.
    pub longest: usize,
    /// Whether it has to be of letters, digits, `_` and `-`.
    pub is_plain: bool,
}

/// Any id will do.
pub const ANY_ID: IdRule = IdRule { longest: usize::MAX, is_plain: false };

/// Returns the provider's id of a call.
///
/// ```
/// use contextweaver_convert::providers::call_id;
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let mut call = ContextItem::new("c1~2", ItemKind::ToolCall, "{}");
/// assert_eq!(call_id(&call), "c1~2");
/// call.metadata.insert("tool_call_id".into(), "c1".into());
/// assert_eq!(call_id(&call), "c1");
/// ```
pub fn call_id(item: &ContextItem) -> &str {
    item.metadata_str("tool_call_id").unwrap_or(&item.id)
}

/// Returns the provider's id of the call that a result answers.
pub fn answered_id(item: &ContextItem) -> &str {
    let parent = item.parent_id.as_deref();
    let own = || item.id.strip_prefix("result:").unwrap_or(&item.id);
    item.metadata_str("tool_call_id").or(parent).unwrap_or_else(own)
}

/// Returns the name of the tool that an item calls, or is the result of.
///
/// ```
/// use contextweaver_convert::providers::tool_name;
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let mut call = ContextItem::new("c1", ItemKind::ToolCall, "{}");
/// assert_eq!(tool_name(&call), None);
/// call.metadata.insert("tool_name".into(), "look_up".into());
/// assert_eq!(tool_name(&call), Some("look_up"));
/// ```
pub fn tool_name(item: &ContextItem) -> Option<&str> {
    let named = |key| item.metadata_str(key).filter(|name| !name.is_empty());
    named("function_name").or_else(|| named("tool_name"))
}

/// Returns the name of the tool that an item calls: by its metadata, else by its text, as logs show calls.
///
/// ```
/// use contextweaver_convert::providers::called_tool;
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let call = ContextItem::new("c1", ItemKind::ToolCall, r#"look_up({"name": "Ada"})"#);
/// assert_eq!(called_tool(&call), Some("look_up"));
/// ```
pub fn called_tool(item: &ContextItem) -> Option<&str> {
    tool_name(item).or_else(|| call_text::parse_call(&item.text, None).map(|(name, _)| name))
}

/// Returns the id if the provider accepts it, else one as near to it as may be.
pub fn legal_id(id: &str, format: Format) -> String {
    let IdRule { longest, is_plain } = format.provider().ids;
    legal(id, longest, is_plain, "")
}

/// Returns the name of a tool if the provider accepts it, else one as near to it as may be.
pub fn legal_name(name: &str, format: Format) -> String {
    (format.provider().legal_name)(name)
}

/// Returns the name if it is of at most 64 letters, digits, `_` and `-`, else one as near to it as may be.
pub fn plain_name(name: &str) -> String {
    legal(name, NAME_CHARS, true, "")
}

/// Returns the text if it is of at most so many characters, with `is_plain` of letters, digits, `_`, `-` and those of `more`;
/// else one as near to it as may be.
pub fn legal(text: &str, longest: usize, is_plain: bool, more: &str) -> String {
    if !text.is_empty() && text.chars().count() <= longest && text.chars().all(|ch| fits(ch, is_plain, more)) {
        return text.to_owned();
    }
    marked(text, longest, is_plain, more)
}

/// Replaces what does not fit. Texts that differ only where they are cut or replaced stay apart.
pub fn marked(text: &str, longest: usize, is_plain: bool, more: &str) -> String {
    let mark = format!("_{:08x}", of_text(text) as u32);
    let kept = text.chars().map(|ch| if fits(ch, is_plain, more) { ch } else { '_' });
    kept.take(longest.min(64) - mark.len()).chain(mark.chars()).collect()
}

fn fits(ch: char, is_plain: bool, more: &str) -> bool {
    !is_plain || ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-') || more.contains(ch)
}

/// Ids that are in use.
#[derive(Debug, Clone, Default)]
pub struct UniqueIds(SortedMap<String, usize>);

impl UniqueIds {
    /// Tells whether an id was given out.
    pub fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Returns the id, or where it is taken the same with a number.
    pub fn unique(&mut self, id: &str, format: Format) -> String {
        let count = self.0.get_or_insert(&id.to_owned(), 0);
        *count += 1;
        let mut number = *count;
        if number == 1 {
            return id.to_owned();
        }
        loop {
            let numbered = legal_id(&format!("{id}_{number}"), format);
            if !self.0.contains_key(&numbered) {
                self.0.insert(numbered.clone(), 1);
                self.0.insert(id.to_owned(), number);
                return numbered;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_ids_and_names_are_made_legal_and_stay_apart() {
        let long = "x".repeat(50);
        assert_eq!(legal_id("call_1", Format::Anthropic), "call_1");
        assert_eq!(legal_id("call 1", Format::OpenAiChat), "call 1");
        assert!(legal_id("call 1", Format::Anthropic).starts_with("call_1_"));
        assert_ne!(legal_id("call 1", Format::Anthropic), legal_id("call.1", Format::Anthropic));
        assert_eq!(legal_id(&long, Format::OpenAiChat).len(), 40);
        assert_eq!(legal_id(&long, Format::OpenAiResponses), long);
        assert_eq!(legal_name("a.b", Format::Gemini), "a.b");
        for name in ["123", "-a", "", "天気", &"1".repeat(70)] {
            let written = legal_name(name, Format::Gemini);
            assert!(written.starts_with('_') && written.len() <= 64 && written.is_ascii(), "{written}");
            assert_ne!(written, legal_name(&format!("_{name}"), Format::Gemini));
            // Again it stays what it is.
            assert_eq!(legal_name(&written, Format::Gemini), written);
        }
        assert!(legal_name("天気", Format::OpenAiChat).is_ascii());
        assert!(!legal_name("", Format::AiSdkUi).is_empty());
    }

    #[test]
    fn ids_are_unique() {
        let mut ids = UniqueIds::default();
        let given: Vec<String> = ["a", "a_2", "a", "a"].iter().map(|id| ids.unique(id, Format::Anthropic)).collect();
        assert_eq!(given, ["a", "a_2", "a_3", "a_4"]);
    }
}
