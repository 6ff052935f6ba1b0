//! Every part of every format, written for every other: it arrives, or a line and a warning stand for it, or a warning says
//! that it is left out. `docs/messages.md` is the table of that; `CONTEXTWEAVER_UPDATE=1` writes it anew.

mod ai_sdk;
mod anthropic;
mod gemini;
mod openai;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use contextweaver_convert::providers::cost::message_quarters;
use contextweaver_convert::providers::{
    Format, ReadOptions, WriteOptions, WrittenMessages, is_compaction, is_provider_run, items_to_messages,
    messages_to_items,
};
use contextweaver_model::ContextItem;
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

/// What is looked for in what is written: a word, or the end of the bytes of media.
const MARK: &str = "Marker123";
const PNG: &str = "iVBORw0KGgoMarker123";
const PDF: &str = "JVBERi0xMarker123";
const WAV: &str = "UklGRAAAAAAAQVZFMarker123";

/// A part of a format, in a conversation that has it.
struct Example {
    name: &'static str,
    messages: Value,
}

fn data(media_type: &str, bytes: &str) -> String {
    format!("data:{media_type};base64,{bytes}")
}

fn example(name: &'static str, messages: Value) -> Example {
    Example { name, messages }
}

const URL: &str = "https://example.org/Marker123.png";

fn examples(format: Format) -> Vec<Example> {
    match format {
        Format::OpenAiChat => openai::openai_chat(),
        Format::OpenAiResponses => openai::openai_responses(),
        Format::Anthropic => anthropic::anthropic(),
        Format::Gemini => gemini::gemini(),
        Format::AiSdkUi => ai_sdk::ai_sdk_ui(),
        Format::AiSdkModel => ai_sdk::ai_sdk_model(),
    }
}

/// Says what became of a part, where something says it.
fn outcome(written: &WrittenMessages) -> Option<&'static str> {
    let mut texts = Vec::new();
    strings(&json!([written.messages, written.system]), &mut texts);
    if texts.iter().any(|text| text.contains(MARK) && !is_label(text)) {
        return Some("yes");
    }
    let is_named = written.warnings.iter().any(|warning| matches!(warning.code, "MEDIA_LEFT_OUT" | "OPAQUE_LEFT_OUT"));
    let has_line = texts.iter().any(|text| text.lines().any(is_label));
    is_named.then_some(if has_line { "line" } else { "–" })
}

/// Tells whether a line is a label, such as `[image: image/png, 1 KiB]`.
fn is_label(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}

/// Collects what messages call their parts: the values of `type`, and with Gemini the fields of parts.
fn types_of(value: &Value, format: Format, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| types_of(value, format, found)),
        Value::Object(map) => {
            found.extend(map.get("type").and_then(Value::as_str).map(str::to_owned));
            for (key, value) in map {
                if format == Format::Gemini && key == "parts" {
                    let parts = value.as_array().into_iter().flatten().filter_map(Value::as_object);
                    found.extend(parts.flat_map(|part| part.keys().cloned()));
                }
                types_of(value, format, found);
            }
        }
        _ => {}
    }
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, found)),
        Value::Object(map) => map.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// Says as what a part is read: the kind of its item, and what stands for it there.
fn read_as(items: &[ContextItem]) -> String {
    let is_of = |item: &&ContextItem| serde_json::to_string(item).unwrap().contains(MARK);
    let Some(item) = items.iter().find(is_of) else { return String::new() };
    let by_provider = if is_provider_run(item) { " of the provider" } else { "" };
    let is_text = item.text.lines().any(|line| line.contains(MARK) && !is_label(line));
    let form = if is_text { "" } else { ", beside its text" };
    let form = if is_compaction(item) { ", always kept" } else { form };
    format!("`{}`{by_provider}{form}", item.kind.as_str())
}

/// Says what a part costs: its text, what an image of its size costs, or the same whatever its length is.
fn cost(messages: &Value, format: Format) -> &'static str {
    if messages.to_string().contains(PNG) {
        return "its size";
    }
    let weigh = |messages: Value| {
        let read = messages_to_items(messages, format, &ReadOptions::default()).unwrap();
        let written = items_to_messages(&read.items, format, &WriteOptions::default()).unwrap();
        message_quarters(&written, format, &|text| Estimator::V3.quarters(text)) / 4
    };
    let longer = |mark: &str| -> Value { serde_json::from_str(&messages.to_string().replace(MARK, mark)).unwrap() };
    // Bytes have to stay base64.
    let [short, long] = [1, 101].map(|times| weigh(longer(&"Mark".repeat(4 * times))));
    if long > short + 100 { "its text" } else { "flat" }
}

fn table() -> String {
    let mut faults = Vec::new();
    let mut out = String::from(
        "# Reference: what of one message format reaches another\n\n\
         Made by a test out of one message for each row (`crates/convert/tests/it/carried.rs`); do not edit.\n\n\
         | | |\n|---|---|\n\
         | yes | it arrives: as the same kind of part, or as text where it is text |\n\
         | line | a line such as `[image: image/png, 12 KiB]` stands for it, and the warning `MEDIA_LEFT_OUT` or `OPAQUE_LEFT_OUT` names it |\n\
         | – | it is left out with the warning `OPAQUE_LEFT_OUT`: reasoning is signed for one provider, and what is for a user interface is not for a model |\n\n\
         \"Read as\" is the kind of item that a part becomes; what is *beside its text* is kept with it and written back whole, \
         and a line stands for it where text is shown. A part costs *its text* as it is sent (ids and addresses included), an image \
         *its size* in pixels by the rule of the provider, and other media a *flat* 1,000 tokens.\n\n\
         In the format that it came from, every part is as it was. Media of a tool's result are in the result with `openai-responses`, \
         `anthropic` and `ai-sdk-model`, beside it with `gemini`, and in a message of the user behind it with `openai-chat`; those of MCP \
         results go the same ways.\n\n\
         Gemini 3 refuses calls without a `thoughtSignature`. Those of another model or an earlier Gemini get the value that Google's \
         documentation names for them once a call of the conversation is signed, and from the beginning where you say \
         `thought_signatures: true` to `buildMessages` or `itemsToMessages`.\n\n\
         `findMessages(document)` tells of a list of messages, or of a request that has one, which of these formats it has.\n",
    );
    for format in Format::ALL {
        let others: Vec<Format> = Format::ALL.iter().copied().filter(|other| other != format).collect();
        let names: Vec<&str> = others.iter().map(|other| other.as_str()).collect();
        write!(
            out,
            "\n## From {}\n\n| Part | Read as | Costs | {} |\n|---|---|---|{}\n",
            format.as_str(),
            names.join(" | "),
            "---|".repeat(names.len())
        )
        .unwrap();
        let mut types = BTreeSet::new();
        for Example { name, messages } in examples(*format) {
            types_of(&messages, *format, &mut types);
            let what = format!("{name} of {}", format.as_str());
            let read = messages_to_items(messages.clone(), *format, &ReadOptions::default()).unwrap();
            if !read.warnings.is_empty() {
                faults.push(format!("{what}: {:?}", read.warnings));
            }
            let same = items_to_messages(&read.items, *format, &WriteOptions::default()).unwrap();
            let shown: Value = same.messages.into();
            if shown != messages {
                faults.push(format!("{what} is changed: {shown}"));
            }
            let cells: Vec<&str> = others
                .iter()
                .map(|other| {
                    let written = items_to_messages(&read.items, *other, &WriteOptions::default()).unwrap();
                    outcome(&written).unwrap_or_else(|| {
                        faults.push(format!("{what} is lost for {}: {:?}", other.as_str(), written.messages));
                        "lost"
                    })
                })
                .collect();
            let (kind, cost) = (read_as(&read.items), cost(&messages, *format));
            writeln!(out, "| {name} | {kind} | {cost} | {} |", cells.join(" | ")).unwrap();
        }
        types.remove("hologram");
        let types: Vec<String> = types.iter().map(|name| format!("`{name}`")).collect();
        writeln!(out, "\nTypes in these rows: {}.", types.join(", ")).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    out
}

#[test]
fn every_part_arrives_or_is_named() {
    let path = format!("{}/../../docs/messages.md", env!("CARGO_MANIFEST_DIR"));
    let table = table();
    if std::env::var_os("CONTEXTWEAVER_UPDATE").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == table, "docs/messages.md is not current: CONTEXTWEAVER_UPDATE=1 writes it");
}
