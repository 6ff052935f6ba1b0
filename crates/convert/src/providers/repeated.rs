//! Items of Responses that were handed over twice, as the output of an answer that was added again: a provider refuses the
//! second one of an id. In messages of the AI SDK their ids stand under `providerOptions`.

use serde_json::Value;

use super::outgoing::{OutgoingMessage, PartContent, warn_of_reasoning};
use super::sources::SourceItem;
use super::stored::{StoredPart, StoredPartKind};
use super::{Warnings, message::at};
use contextweaver_base::order::SortedMap;
use contextweaver_model::ItemKind;
use contextweaver_text::hash::of_text;

/// Ids of items that are written, each with what it is known by.
pub type WrittenItems = SortedMap<String, u64>;

/// Takes calls and messages that are there twice out of what is written, with the results of those calls; a result of the second
/// one alone is that of the first.
pub fn take_out_repeated(sources: &mut [SourceItem], written: &WrittenItems, warnings: &mut Warnings) {
    let mut known: SortedMap<String, (u64, Option<usize>)> = SortedMap::new();
    for index in 0..sources.len() {
        let Some(id) = id_of(&sources[index]) else { continue };
        let print = print_of(&sources[index]);
        let before = written.get(&id).map(|print| (*print, None)).or_else(|| known.get(&id).copied());
        let Some((_, first)) = before.filter(|(other, _)| *other == print) else {
            known.insert(id, (print, Some(index)));
            continue;
        };
        warn(index, warnings);
        sources[index].is_repeated = true;
        let results = std::mem::take(&mut sources[index].results);
        match first.filter(|first| sources[*first].results.is_empty()) {
            Some(first) => {
                for result in &results {
                    sources[*result].call = Some(first);
                }
                sources[first].results = results;
            }
            None => {
                for result in results {
                    sources[result].is_repeated = true;
                }
            }
        }
    }
    if sources.iter().any(|source| source.is_repeated) {
        pass_on_reasoning(sources, written, warnings);
    }
}

/// Passes the reasoning of items that are not written on to the next one of its response, unless it stands elsewhere; what no call
/// takes, the calls of the response do not need any more.
fn pass_on_reasoning(sources: &mut [SourceItem], written: &WrittenItems, warnings: &mut Warnings) {
    let mut there: SortedMap<String, ()> = SortedMap::new();
    for source in sources.iter().filter(|source| !source.is_repeated) {
        for id in source.stored.iter().flat_map(|stored| &stored.parts).filter_map(reasoning_id) {
            there.insert(id.to_owned(), ());
        }
    }
    let is_new =
        |part: &StoredPart| reasoning_id(part).is_none_or(|id| !there.contains_key(id) && !written.contains_key(id));
    // By response, seen from the end: the next call that is written, and the next item.
    let mut next: SortedMap<(usize, usize), (Option<usize>, Option<usize>)> = SortedMap::new();
    let mut counts: SortedMap<(usize, usize), usize> = SortedMap::new();
    for index in (0..sources.len()).rev() {
        let SourceItem { item, is_repeated, .. } = sources[index];
        let stored = sources[index].stored.as_mut().filter(|_| item.kind != ItemKind::ToolResult);
        let Some(stored) = stored else { continue };
        let group = stored.group;
        if !is_repeated {
            let (call, any) = next.get_or_insert(&group, (None, None));
            *call = Some(index).filter(|_| item.kind == ItemKind::ToolCall).or(*call);
            *any = Some(index);
            continue;
        }
        let reasoning = stored.parts.extract_if(.., |part| part.kind == StoredPartKind::Reasoning);
        let reasoning: Vec<StoredPart> = reasoning.collect();
        let count = counts.get_or_insert(&group, 0);
        *count += reasoning.len();
        let passed: Vec<StoredPart> = reasoning.into_iter().filter(is_new).collect();
        let (call, any) = next.get(&group).copied().unwrap_or_default();
        *count -= if call.is_some() { passed.len() } else { 0 };
        match call.or(any).and_then(|heir| sources[heir].stored.as_mut()) {
            Some(stored) => drop(stored.parts.splice(0..0, passed)),
            None if passed.is_empty() => {}
            None => warn_of_reasoning(index, warnings),
        }
    }
    for stored in sources.iter_mut().filter_map(|source| source.stored.as_mut()) {
        let count = counts.get(&stored.group).copied().unwrap_or(0);
        stored.reasoning = stored.reasoning.saturating_sub(count);
    }
}

fn reasoning_id(part: &StoredPart) -> Option<&str> {
    part.original.get("id").filter(|_| part.kind == StoredPartKind::Reasoning)?.as_str()
}

/// Returns the id of the item that a source was read from; none of a result, which has that of its call.
fn id_of(source: &SourceItem) -> Option<String> {
    let stored = source.stored.as_ref().filter(|_| source.is_same_format)?;
    let of_message = stored.fields.as_ref().and_then(|fields| fields.get("id")?.as_str());
    let of_part = || {
        let main = stored.parts.iter().find(|part| {
            !matches!(part.kind, StoredPartKind::Reasoning | StoredPartKind::ToolResult | StoredPartKind::ServerResult)
        })?;
        main.original.get("id").filter(|_| main.field.is_empty())?.as_str()
    };
    of_message.or_else(of_part).map(str::to_owned)
}

/// Returns what an item is known by: its text and what is stored beside it, but for reasoning, which may stand alone.
fn print_of(source: &SourceItem) -> u64 {
    let parts = source.stored.iter().flat_map(|stored| &stored.parts);
    let originals = parts.filter(|part| part.kind != StoredPartKind::Reasoning).map(|part| part.original.to_string());
    let all: Vec<String> = std::iter::once(source.item.text.clone()).chain(originals).collect();
    of_text(&all.join("\n"))
}

/// Leaves out reasoning and items of the provider's own whose id is there, and takes such an id off calls and messages.
pub fn drop_repeated_ids(
    messages: &mut [OutgoingMessage],
    sources: &[SourceItem],
    written: &mut WrittenItems,
    warnings: &mut Warnings,
) {
    let mut is_new = |id: &str, item: usize| {
        let is_new = !written.contains_key(&id.to_owned());
        if is_new {
            written.insert(id.to_owned(), print_of(&sources[item]));
        }
        is_new
    };
    for message in messages {
        let mut is_left_out = false;
        message.parts.retain_mut(|part| {
            let keeps_id = matches!(part.content, PartContent::ToolCall(_));
            if let Some(fields) = &mut part.message_fields
                && let Some(id) = id_in(fields)
                && !is_new(&id, part.item)
            {
                take_id(fields);
            }
            let Some(original) = &mut part.original else { return true };
            if original.field == "+" {
                return !is_left_out;
            }
            is_left_out = false;
            if !original.field.is_empty() || matches!(part.content, PartContent::ToolResult(_)) {
                return true;
            }
            match id_in(&original.value) {
                Some(id) if !is_new(&id, part.item) => {
                    is_left_out = !keeps_id;
                    if is_left_out {
                        warn(part.item, warnings);
                    } else {
                        take_id(&mut original.value);
                    }
                }
                _ => {}
            }
            !is_left_out
        });
    }
}

/// Takes the ids of items off parts of messages of the AI SDK that are there already, or of which something before them is not there:
/// it may want its reasoning. Reasoning is nothing without its id.
pub fn free_parts(messages: &mut [OutgoingMessage], written: &mut WrittenItems, warnings: &mut Warnings) {
    for OutgoingMessage { parts, lost_reasoning, .. } in messages {
        // The part that would be next, and whether all since the last reasoning are there.
        let (mut next, mut is_whole) = ((0, 0), true);
        parts.retain_mut(|part| {
            let Some(position) = part.position else { return true };
            let is_reasoning = part.content == PartContent::Reasoning;
            if position.0 != next.0 {
                (next, is_whole) = ((position.0, 0), true);
            }
            is_whole = is_reasoning || is_whole && position == next;
            next = (position.0, position.1 + 1);
            let Some(original) = &mut part.original else {
                is_whole = false;
                return true;
            };
            let Some(id) = item_id(&original.value) else { return true };
            let message = position.0 as u64;
            let is_repeated = *written.get_or_insert(&id, message) != message;
            is_whole &= !is_repeated;
            if is_repeated && is_reasoning {
                warn(part.item, warnings);
                return false;
            }
            if *lost_reasoning || !is_whole && !is_reasoning {
                take_item_id(&mut original.value);
            }
            true
        });
    }
}

/// Returns the id of the item of Responses that a part of the AI SDK is.
pub fn item_id(part: &Value) -> Option<String> {
    let providers = part.get("providerOptions")?.as_object()?;
    providers.values().find_map(|options| Some(options.get("itemId")?.as_str()?.to_owned()))
}

fn take_item_id(part: &mut Value) {
    let providers = part.get_mut("providerOptions").and_then(Value::as_object_mut);
    for options in providers.into_iter().flat_map(|providers| providers.values_mut()).filter_map(Value::as_object_mut) {
        options.shift_remove("itemId");
    }
}

fn id_in(value: &Value) -> Option<String> {
    Some(value.get("id")?.as_str()?.to_owned())
}

fn take_id(value: &mut Value) {
    if let Value::Object(map) = value {
        map.shift_remove("id");
    }
}

fn warn(item: usize, warnings: &mut Warnings) {
    warnings.add("REPEAT_LEFT_OUT", "an item that is there already is left out", at("/items", item));
}
