//! Text that hides something, gives orders or holds credentials.

use serde_json::Value;

use super::super::finding::CatalogFinding;
use super::place::{Place, ToolFindings};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::JsonMap;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::{is_invisible, is_word, prefix};

/// Orders to a model, as words in lower case; `*` stands for up to three words.
const ORDERS: &[&str] = &[
    "ignore * previous",
    "ignore * instructions",
    "ignore * above",
    "ignore * other tools",
    "disregard * previous",
    "disregard * instructions",
    "forget * previous",
    "forget * instructions",
    "override * instructions",
    "do not tell",
    "don't tell",
    "never tell",
    "do not mention",
    "don't mention",
    "never mention",
    "do not inform",
    "do not reveal",
    "do not disclose",
    "do not notify",
    "without telling",
    "without informing",
    "without asking",
    "without the user's",
    "hide this from",
    "hide * from the user",
    "keep * secret from",
    "you must always",
    "you must call",
    "you must first",
    "you must never",
    "you must use this",
    "you should always call",
    "always call this",
    "always use this tool",
    "must be called before",
    "call this tool before",
    "use this tool before",
    "instead of any other",
    "instead of all other",
    "before using any other",
    "before calling any other",
    "system prompt",
    "you are now",
    "new instructions",
    "hidden instructions",
    "important instructions",
    "exfiltrate",
    "secretly",
    "send * conversation",
    "forward * conversation",
    "include * conversation history",
    "pass * conversation",
    "contents of your",
    "highest priority",
];

/// Marks of roles and of hidden parts, and places of credentials, in lower case.
const MARKS: &[&str] = &[
    "<important",
    "</important",
    "<system",
    "</system",
    "<|",
    "|>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<secret",
    "<hidden",
    "<instruction",
    "</instruction",
    "<tool_result",
    "</tool_result",
    "<tool_call",
    "### instruction",
    "\nsystem:",
    "\nassistant:",
    "\nhuman:",
    "\nuser:",
    "<!--",
    "~/.ssh",
    "id_rsa",
    ".cursor/mcp.json",
];

/// Looks at every text of a tool.
pub(super) fn check(item: &SelectableItem, found: &mut ToolFindings) {
    let mut look = |place: &Place, text: &str| look(&item.id, place, text, found);
    for (field, text) in
        [("id", &item.id), ("name", &item.name), ("namespace", &item.namespace), ("description", &item.description)]
    {
        look(&Place::of(field), text);
    }
    if let Some(title) = &item.title {
        look(&Place::of("title"), title);
    }
    for (field, list) in [("tags", &item.tags), ("examples", &item.examples)] {
        for (index, text) in list.iter().enumerate() {
            look(&Place::of(field).at(index), text);
        }
    }
    let empty = JsonMap::new();
    let output = item.output_schema.as_ref().unwrap_or(&empty);
    let maps = [
        ("args_schema", &item.args_schema),
        ("output_schema", output),
        ("constraints", &item.constraints),
        ("metadata", &item.metadata),
    ];
    for (field, map) in maps {
        walk_map(map, &Place::of(field), &mut look);
    }
}

fn walk_map(map: &JsonMap, place: &Place, look: &mut impl FnMut(&Place, &str)) {
    for (key, value) in map {
        let at = place.below(key);
        look(&at, key);
        walk(value, &at, look);
    }
}

/// Calls `look` for every text. The depth of tools is bounded where they are read.
fn walk(value: &Value, place: &Place, look: &mut impl FnMut(&Place, &str)) {
    match value {
        Value::String(text) => look(place, text),
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                walk(value, &place.at(index), look);
            }
        }
        Value::Object(map) => walk_map(map, place, look),
        _ => {}
    }
}

fn look(id: &str, place: &Place, text: &str, found: &mut ToolFindings) {
    let finding = |code, evidence: &str| CatalogFinding::new(code, id, place.path()).evidence(evidence);
    let mut add = |code, evidence: &str| found.add(|| finding(code, evidence));
    // What is quoted below must not show a credential, not even a part of one.
    let masked = mask_secrets(text);
    if masked != text {
        add("text-secret", "");
    }
    let text = masked.as_ref();
    let of_name = place.is("id") || place.is("name");
    let is_control = |ch: char| ch.is_control() && (of_name || !matches!(ch, '\n' | '\r' | '\t'));
    if let Some(at) = text.find(|ch: char| is_control(ch) || matches!(ch, '\u{2028}' | '\u{2029}')) {
        add("text-control", around(text, at));
    }
    if let Some(at) = hidden(text, of_name) {
        add("text-invisible", around(text, at));
    }
    // Names of fields and short words give no orders.
    if text.len() < 6 {
        return;
    }
    let lower = text.to_lowercase();
    if let Some(order) = order(&lower) {
        found.hint(|| finding("text-instruction", order));
    }
}

/// Returns the text from a few characters before a place on.
fn around(text: &str, at: usize) -> &str {
    let start = text[..at].char_indices().rev().nth(9).map_or(0, |(start, _)| start);
    prefix(&text[start..], 40)
}

/// Returns where the first character is that shows nothing, other than those emoji and joined scripts are made of.
fn hidden(text: &str, of_name: bool) -> Option<usize> {
    let mut before = ' ';
    for (at, ch) in text.char_indices() {
        let joins = match ch {
            '\u{fe0f}' => before >= '\u{203c}' || before == '©' || before == '®',
            '\u{200c}' | '\u{200d}' => before >= '\u{600}' && !is_invisible(before) || before == '\u{fe0f}',
            _ => false,
        };
        if is_invisible(ch) && (of_name || !joins) {
            return Some(at);
        }
        before = ch;
    }
    None
}

/// Returns the first order or mark of a text in lower case.
fn order(text: &str) -> Option<&str> {
    if let Some((at, _)) = MARKS.iter().filter_map(|mark| Some((text.find(mark)?, mark))).min() {
        return Some(prefix(&text[at..], 40));
    }
    let words: Vec<(usize, &str)> = text
        .split(|ch: char| !is_word(ch) && ch != '\'' && ch != '’')
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
        .collect();
    let starts = |place: usize| {
        // Few orders begin with the letter.
        let first = words[place].1.as_bytes().first();
        ORDERS.iter().any(|order| order.as_bytes().first() == first && fits(&words[place..], order))
    };
    let place = (0..words.len()).find(|place| starts(*place))?;
    Some(prefix(&text[words[place].0..], 60))
}

/// Tells whether words begin with an order.
fn fits(words: &[(usize, &str)], order: &str) -> bool {
    let mut rest = words;
    let mut skip = 0;
    for wanted in order.split(' ') {
        if wanted == "*" {
            skip = 3;
            continue;
        }
        let is = |word: &str| word == wanted || (word.contains('’') && word.replace('’', "'") == wanted);
        match rest.iter().take(skip + 1).position(|(_, word)| is(word)) {
            Some(place) => rest = &rest[place + 1..],
            None => return false,
        }
        skip = 0;
    }
    true
}
