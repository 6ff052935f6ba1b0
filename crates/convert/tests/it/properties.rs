//! What converting messages promises, over random conversations of every format, random logs, and input that nobody
//! should send.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a property that cannot be checked is a failed test")]

use std::collections::BTreeSet;

use crate::conversations::{Answer, Conversation, FORMATS, Random, conversation, hostile, random_items};
use contextweaver_convert::providers::{
    Format, ReadMessages, ReadOptions, WriteOptions, WrittenMessages, is_provider_run, items_to_messages,
    messages_to_items,
};
use contextweaver_model::{ContextItem, ItemKind, JsonMap};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

fn options(system: Option<Value>) -> ReadOptions {
    ReadOptions { id_prefix: "message:".into(), system, ..ReadOptions::default() }
}

fn read(messages: &Value, system: Option<&Value>, format: Format) -> ReadMessages {
    messages_to_items(messages.clone(), format, &options(system.cloned())).unwrap()
}

fn write(items: &[ContextItem], format: Format) -> WrittenMessages {
    items_to_messages(items, format, &WriteOptions::default()).unwrap()
}

fn check(written: &WrittenMessages, format: Format) {
    let checked = match format {
        Format::Anthropic => crate::provider_logs::rules::anthropic(&written.messages),
        Format::Gemini => crate::provider_logs::rules::gemini(&written.messages),
        _ => crate::provider_rules::check(&written.messages, written.system.as_ref(), format),
    };
    if let Err(what) = checked {
        let shown = serde_json::to_string_pretty(&written.messages).unwrap();
        panic!("{}: {what}\n{shown}", format.as_str());
    }
}

/// Tells whether a value occurs anywhere in another.
fn contains(value: &Value, wanted: &Value) -> bool {
    value == wanted
        || match value {
            Value::Array(list) => list.iter().any(|value| contains(value, wanted)),
            Value::Object(map) => map.values().any(|value| contains(value, wanted)),
            _ => false,
        }
}

/// Tells whether a call stands there that is refused without the reasoning that led to it.
fn is_bound(messages: &Value, call: &str, format: Format) -> bool {
    match format {
        Format::Gemini => false,
        Format::OpenAiResponses => messages.as_array().into_iter().flatten().any(|item| {
            let is_call = item.get("output").is_none() && item.get("call_id").is_some_and(|id| id == call);
            is_call && item.get("id").is_some()
        }),
        _ => contains(messages, &Value::from(call)),
    }
}

/// What everybody understands of items: what was said, by whom; the calls; the results.
#[derive(Debug, PartialEq)]
struct Gist {
    texts: [String; 3],
    calls: Vec<(String, Value)>,
    results: Vec<Value>,
}

/// Takes out what stands for images and the like: each format has its own labels, and some have media apart.
fn without_labels(text: &str) -> String {
    let labels = ["image", "file", "audio", "video", "document", "computer_screenshot", "From the result of call"];
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find('[') {
        let inside = &rest[start + 1..];
        let end = inside.find(']').filter(|_| labels.iter().any(|label| inside.starts_with(label)));
        out.push_str(&rest[..start]);
        rest = if let Some(end) = end {
            &inside[end + 1..]
        } else {
            out.push('[');
            inside
        };
    }
    (out + rest).trim().to_owned()
}

/// With `is_sorted` the words of the model count in any order: what the provider ran stands where it was read, and in words behind
/// its call elsewhere.
fn gist(items: &[ContextItem], is_sorted: bool) -> Gist {
    // In other formats what the provider ran is words of the model.
    let said = |item: &ContextItem| {
        let name = item.metadata_str("function_name").unwrap_or("");
        let (kind, text) = match item.kind {
            ItemKind::ToolCall if is_provider_run(item) => (ItemKind::AgentMsg, format!("[{name}] {}", item.text)),
            ItemKind::ToolResult if is_provider_run(item) => (ItemKind::AgentMsg, item.text.clone()),
            kind => return ContextItem { kind, ..item.clone() },
        };
        ContextItem { kind, text, ..item.clone() }
    };
    let items: Vec<ContextItem> = items.iter().map(said).collect();
    let remark = "[Earlier messages are not shown.]";
    let texts = [ItemKind::Policy, ItemKind::UserTurn, ItemKind::AgentMsg].map(|kind| {
        let texts = items.iter().filter(|item| item.kind == kind && !item.text.trim().is_empty());
        let texts = texts.map(|item| without_labels(&item.text));
        let words = texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let mut words: Vec<String> = words.collect();
        if kind == ItemKind::AgentMsg {
            // Messages of the model in a row are blocks of one text elsewhere.
            let mut letters: Vec<char> = words.concat().chars().collect();
            if is_sorted {
                letters.sort_unstable();
            }
            words = vec![letters.into_iter().collect()];
        }
        words.join(" ").replacen(remark, "", 1).trim().to_owned()
    });
    let of = |kind: ItemKind| items.iter().filter(move |item| item.kind == kind);
    let arguments = |text: &str| match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => value,
        Ok(Value::Null) => json!({}),
        Ok(Value::String(inner)) if serde_json::from_str::<JsonMap>(&inner).is_ok() => {
            serde_json::from_str(&inner).unwrap()
        }
        _ if text.trim().is_empty() => json!({}),
        _ => json!({ "input": text }),
    };
    let result = |text: &str| match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        // A line of its own may have been a label.
        _ => text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
    };
    // Results are in the order of their calls, or as they came; calls that wait beside a message get a stub where the
    // provider asks for it.
    let mut results: Vec<Value> = of(ItemKind::ToolResult)
        .filter(|item| item.text != "No result was recorded for this call.")
        .map(|item| result(&without_labels(&item.text)))
        .collect();
    results.sort_by_key(Value::to_string);
    let calls = of(ItemKind::ToolCall)
        .map(|item| (item.metadata["function_name"].as_str().unwrap().to_owned(), arguments(&item.text)))
        .collect();
    Gist { texts, calls, results }
}

/// Takes items away and shortens texts, as a build does.
fn thin_out(items: Vec<ContextItem>, random: &mut Random) -> Vec<ContextItem> {
    let mut kept = Vec::new();
    for mut item in items {
        match random.below(8) {
            0 | 1 => continue,
            2 => item.text = item.text.chars().take(item.text.chars().count() / 2).collect(),
            3 => item.text = "[REDACTED]".into(),
            _ => {}
        }
        kept.push(item);
    }
    kept
}

proptest! {
    // A promise to every provider: as many cases as the promises have.
    #![proptest_config(property(2_000))]

    #[test]
    fn random_logs_are_accepted_by_every_provider(seed in any::<u64>()) {
        let items = random_items(&mut Random::new(seed));
        for format in Format::ALL {
            let written = write(&items, *format);
            check(&written, *format);
            prop_assert_eq!(&written, &write(&items, *format));
            // The texts of what was said are all there.
            let all = json!([written.messages, written.system]).to_string();
            for item in items.iter().filter(|item| !item.text.trim().is_empty()) {
                let text = Value::from(item.text.trim()).to_string();
                let is_said = matches!(item.kind, ItemKind::UserTurn | ItemKind::AgentMsg | ItemKind::Policy);
                prop_assert!(!is_said || all.contains(text.trim_matches('"')), "{text} in {all}");
            }
        }
    }
}

proptest! {
    #![proptest_config(property(400))]

    #[test]
    fn messages_come_back_as_they_were(seed in any::<u64>()) {
        for format in FORMATS {
            let Conversation { messages, system, .. } = conversation(*format, &mut Random::new(seed));
            let items = read(&messages, system.as_ref(), *format);
            prop_assert!(items.warnings.is_empty(), "{:?}", items.warnings);
            let mut ids = BTreeSet::new();
            for item in &items.items {
                prop_assert!(ids.insert(item.id.as_str()), "{} is there twice", item.id);
                prop_assert!(item.parent_id.as_deref().is_none_or(|parent| ids.contains(parent)));
            }
            let written = write(&items.items, *format);
            prop_assert!(written.warnings.is_empty(), "{:?}", written.warnings);
            prop_assert_eq!(Value::Array(written.messages.clone()).to_string(), messages.to_string());
            prop_assert_eq!(&written.system, &system);
            check(&written, *format);
            // Through JSON and back they are the same items.
            let text = serde_json::to_value(&items.items).unwrap();
            let again: Vec<ContextItem> =
                text.as_array().unwrap().iter().map(|item| ContextItem::from_value(item.clone(), "").unwrap()).collect();
            prop_assert_eq!(again, items.items);
        }
    }

    #[test]
    fn what_is_left_of_a_conversation_is_accepted(seed in any::<u64>()) {
        for format in FORMATS {
            let mut random = Random::new(seed);
            let Conversation { messages, system, answers } = conversation(*format, &mut random);
            let items = thin_out(read(&messages, system.as_ref(), *format).items, &mut random);
            let written = write(&items, *format);
            check(&written, *format);
            let all = Value::Array(written.messages);
            for answer in &answers {
                let calls = answer.calls.iter().filter(|id| is_bound(&all, id, *format)).count();
                for reasoning in &answer.reasoning {
                    // Every marker ends a string.
                    let marker = format!("{}\"", Answer::marker(reasoning));
                    let is_there = contains(&all, reasoning);
                    prop_assert!(is_there || !all.to_string().contains(&marker), "{marker} was changed");
                    prop_assert!(is_there || calls == 0, "calls without {marker}");
                }
            }
            for other in Format::ALL {
                check(&write(&items, *other), *other);
            }
        }
    }

    #[test]
    fn every_format_says_the_same(seed in any::<u64>()) {
        for format in Format::ALL {
            let (messages, system) = match format {
                Format::Anthropic => crate::provider_logs::anthropic::conversation(&mut crate::provider_logs::Random::new(seed)),
                Format::Gemini => crate::provider_logs::gemini::conversation(&mut crate::provider_logs::Random::new(seed)),
                _ => (conversation(*format, &mut Random::new(seed)).messages, None),
            };
            let items = read(&messages, system.as_ref(), *format).items;
            let is_sorted = items.iter().any(is_provider_run);
            let wanted = gist(&items, is_sorted);
            for other in Format::ALL {
                let written = write(&items, *other);
                check(&written, *other);
                let back = read(&Value::Array(written.messages), written.system.as_ref(), *other).items;
                prop_assert_eq!(&gist(&back, is_sorted), &wanted, "{} to {}", format.as_str(), other.as_str());
            }
        }
    }

    #[test]
    fn hostile_messages_give_errors_or_survive(seed in any::<u64>()) {
        for format in Format::ALL {
            let mut random = Random::new(seed);
            let messages = hostile(&mut random, 0);
            let read = match messages_to_items(messages.clone(), *format, &options(None)) {
                Ok(read) => read,
                Err(error) => {
                    prop_assert!(error.path().starts_with("/messages"), "{error}");
                    continue;
                }
            };
            for other in Format::ALL {
                let written = write(&read.items, *other);
                prop_assert_eq!(written, write(&read.items, *other));
            }
            // A record that somebody wrote into is no record, or one that gives other messages.
            let mut items = read.items;
            for item in &mut items {
                spoil(item.metadata.get_mut("_contextweaver").unwrap(), &mut random);
                if random.below(4) == 0 {
                    item.text.push('é');
                }
            }
            for other in Format::ALL {
                write(&items, *other);
            }
        }
    }
}

/// Changes something somewhere in a value.
fn spoil(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(list) if !list.is_empty() && random.below(6) > 0 => {
            let at = random.below(list.len());
            spoil(&mut list[at], random);
        }
        Value::Object(map) if !map.is_empty() && random.below(6) > 0 => {
            let at = random.below(map.len());
            spoil(map.values_mut().nth(at).unwrap(), random);
        }
        other => *other = hostile(random, 3),
    }
}

#[test]
fn deep_and_odd_values_are_bounded() {
    for format in Format::ALL {
        let deep = |levels: usize| {
            let nested = (0..levels).fold(json!(1), |value, _| json!([value]));
            json!([{ "role": "user", "id": "x", "content": "x", "parts": [], "x": nested }])
        };
        assert!(messages_to_items(deep(50), *format, &options(None)).is_ok(), "{}", format.as_str());
        let error = messages_to_items(deep(60), *format, &options(None)).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), ("TOO_DEEP", "/messages/0"));
    }
}
