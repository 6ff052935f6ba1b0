//! Logs from anywhere, and what may happen to them.

use contextweaver_convert::providers::Format;
use contextweaver_model::{ContextItem, ItemKind};
use serde_json::{Value, json};

use super::{Random, anthropic, gemini};

type Read = fn(Format, &Value, &str, usize) -> Vec<ContextItem>;

/// Returns a log of one to three pieces.
pub fn any(random: &mut Random, read: Read) -> Vec<ContextItem> {
    let mut log = Vec::new();
    for piece in 0..=random.below(3) {
        let (prefix, start) = (format!("p{piece}"), piece * 100);
        log.extend(match random.below(4) {
            0 => read(Format::Anthropic, &anthropic::conversation(random).0, &prefix, start),
            1 => read(Format::Gemini, &gemini::conversation(random).0, &prefix, start),
            2 => read(Format::OpenAiChat, &chat(random), &prefix, start),
            _ => loose(random, &prefix),
        });
    }
    log
}

fn chat(random: &mut Random) -> Value {
    json!([
        { "role": "system", "content": random.text() },
        { "role": "user", "content": [{ "type": "text", "text": random.text() }, { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } }] },
        { "role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            { "id": "call.1", "type": "function", "function": { "name": "a.b", "arguments": random.text() } },
            { "id": "call 2", "type": "function", "function": { "name": "look", "arguments": "{\"a\":1}" } } ] },
        { "role": "tool", "tool_call_id": "call 2", "content": random.text() },
        { "role": "tool", "tool_call_id": "call.1", "content": "" },
        { "role": "assistant", "content": random.text() },
    ])
}

/// Items that come from no messages.
fn loose(random: &mut Random, prefix: &str) -> Vec<ContextItem> {
    let mut items: Vec<ContextItem> = Vec::new();
    for number in 0..=random.below(8) {
        let kind = random.pick(ItemKind::ALL);
        let text = if random.once_in(6) { String::new() } else { random.text() };
        let mut item = ContextItem::new(format!("{prefix} {number}"), kind, text);
        if random.once_in(2) && !items.is_empty() {
            let parent = random.below(items.len());
            item.parent_id = Some(items[parent].id.clone());
        }
        if random.once_in(3) {
            item.metadata.insert("function_name".into(), random.text().into());
        }
        if random.once_in(4) {
            item.metadata.insert("tool_call_id".into(), random.pick(&["x", "y"]).into());
        }
        if random.once_in(5) {
            item.metadata.insert("is_error".into(), true.into());
        }
        items.push(item);
    }
    items
}

/// Removes, shortens and empties items.
pub fn spoil(log: &mut Vec<ContextItem>, random: &mut Random) {
    let rate = random.pick(&[2, 5, 20]);
    log.retain(|_| !random.once_in(rate));
    for item in log.iter_mut() {
        match random.below(12) {
            0 => item.text = item.text.chars().take(3).collect(),
            1 => item.text = "[REDACTED]".into(),
            2 => item.text = " \n".into(),
            3 => item.text = "[]".into(),
            _ => {}
        }
    }
}
