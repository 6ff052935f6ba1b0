//! The line below a compacted result: how much of it stands here, and how to get at the rest.

use serde_json::{Value, json};

use contextweaver_base::order::sort_by;
use contextweaver_model::json::to_sorted_ascii;
use contextweaver_model::{ContextItem, JsonMap, Strategy};
use contextweaver_text::redact::redact_id;
use contextweaver_text::unicode;

/// Metadata field with what the firewall did to an item: `{strategy, tokens, view?}`.
pub const FIELD: &str = "firewall";
/// Metadata field of an item that holds a slice: the artifact it is of.
pub const HANDLE_FIELD: &str = "drilldown_handle";
/// Metadata field of an item that holds what a recall found: the first place that it cites.
pub const RECALLED_FIELD: &str = "recalled_from";

/// What every line says that names a handle, behind why not all stands here. Text of others that reads so is escaped.
pub const NOTE: &str = "; drilldown ";

/// Notes in the metadata of an item how large the text behind its digest is, and where to look next.
pub fn attach(item: &mut ContextItem, strategy: Strategy, tokens: u64, view: Option<JsonMap>) {
    let mut note = json!({ "strategy": strategy, "tokens": tokens });
    if let (Some(view), Some(note)) = (view, note.as_object_mut()) {
        note.insert("view".into(), Value::Object(view));
    }
    item.metadata.insert(FIELD.into(), note);
}

fn field<'a>(item: &'a ContextItem, key: &str) -> Option<&'a Value> {
    item.metadata.get(FIELD)?.get(key)
}

/// Returns the tokens of the whole text behind an item.
pub fn tokens(item: &ContextItem) -> Option<u64> {
    field(item, "tokens")?.as_u64()
}

/// Returns the selector of what to look at next.
pub fn view(item: &ContextItem) -> Option<JsonMap> {
    field(item, "view")?.as_object().cloned()
}

/// Tells whether excerpts may be taken from the stored text: not where all of it stands in the prompt in another form,
/// and not where only chosen paths may.
pub fn allows_excerpts(item: &ContextItem) -> bool {
    let strategy = field(item, "strategy").and_then(Value::as_str);
    !strategy.is_some_and(|strategy| {
        [Strategy::Reshaped, Strategy::Structured].iter().any(|whole| whole.as_str() == strategy)
    })
}

/// Tells whether the text says all that the stored one does, in another form.
pub fn is_reshaped(item: &ContextItem) -> bool {
    field(item, "strategy").and_then(Value::as_str) == Some(Strategy::Reshaped.as_str())
}

/// Tells whether the text is the work of a summarizer of the caller's, which no excerpt is to replace.
pub fn is_chosen(item: &ContextItem) -> bool {
    field(item, "strategy").and_then(Value::as_str) == Some(Strategy::LlmSummary.as_str())
}

/// Returns the line for an item of which `kept` tokens are shown; none when nothing is left out.
///
/// `(118 of 2389 tokens; drilldown artifact:result:c1 {"type": "lines", "start": 96, "end": 109})`
pub fn note(item: &ContextItem, kept: u64) -> Option<String> {
    note_with(item, kept, None)
}

/// Returns the line as [`note`] does, with where to look in place of what the digest says of that.
pub fn note_with(item: &ContextItem, kept: u64, missing: Option<&JsonMap>) -> Option<String> {
    let total = tokens(item)?;
    let handle = &item.artifact_ref.as_ref()?.handle;
    if is_reshaped(item) || kept >= total {
        return None;
    }
    let view = missing.or_else(|| field(item, "view")?.as_object());
    let view = view.map_or_else(String::new, |view| format!(" {}", written(view)));
    Some(format!("({}{view})", way(&format!("{kept} of {total} tokens"), handle)))
}

/// Says why not all stands here, and how to get at the rest.
pub fn way(why: &str, handle: &str) -> String {
    [why, NOTE, &safe_handle(handle)].concat()
}

/// Writes a selector as one is read: its type, where it starts, and then the rest.
fn written(selector: &JsonMap) -> String {
    let mut fields: Vec<(&String, &Value)> = selector.iter().collect();
    sort_by(&mut fields, |(a, _), (b, _)| rank(a).cmp(&rank(b)).then(a.cmp(b)));
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(key, value)| {
            format!("{}: {}", to_sorted_ascii(&Value::from(key.as_str()), None), to_sorted_ascii(value, None))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// Returns the place of a field among those of a selector.
fn rank(field: &str) -> usize {
    ["type", "start"].iter().position(|first| *first == field).unwrap_or(usize::MAX)
}

/// Returns a handle with brackets, controls and invisible characters escaped, and credentials masked that somebody took for
/// an id.
pub fn safe_handle(handle: &str) -> String {
    let mut out = String::with_capacity(handle.len());
    for ch in redact_id(handle).chars() {
        if ch.is_control() || unicode::is_invisible(ch) || matches!(ch, '[' | ']' | '\u{2028}' | '\u{2029}') {
            out.extend(ch.escape_unicode());
        } else {
            out.push(ch);
        }
    }
    out
}
