//! Reads messages: from their parts to items.

use std::fmt::Write;

use serde_json::Value;

use super::approval_parts::{answered, requested};
use super::approvals::APPROVAL;
use super::grouping::{PartGroup, PartGroupKind, PositionedPart, group_kind, group_parts};
use super::message::{Message, MessagePart, PartKind, Role, TextEncoding, TextSlot, at};
use super::server_tools::{COMPACTION, PROVIDER_RUN};
use super::stored::{StoredMessage, StoredPart, digest};
use super::torn::LastResponse;
use super::{Format, Warnings};
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode::floor_char_boundary;

/// Bytes of JSON up to which the fields of a message are stored with every item of it; larger ones are stored with the
/// first item only.
const SMALL_FIELDS_BYTES: usize = 256;
/// Bytes that are left for the line that says how much of a text is missing.
const CUT_LINE_BYTES: usize = 64;
/// Levels of nesting that an item puts around a message.
const ITEM_LEVELS: usize = 8;

/// Options of [`super::messages_to_items`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Index of the first message, for lists that go on where another ended.
    pub start: usize,
    /// Prefix of the ids of items that are neither call nor result.
    pub id_prefix: String,
    /// Calls made in earlier messages: the provider's id and the id of the item.
    pub known_calls: Vec<(String, String)>,
    /// Calls right before the first message that have no result yet: the name of the tool and the provider's id. Results of
    /// Gemini have no ids, and answer them in their order.
    pub open_calls: Vec<(String, String)>,
    /// The state of the model's response before the first message, as far as it is known.
    pub last_response: LastResponse,
    /// The instructions beside the messages: of Anthropic `system`, of Gemini `systemInstruction`.
    pub system: Option<Value>,
}

/// Ids that a log of earlier messages knows, looked up rather than handed over.
pub trait KnownIds {
    /// Returns the id of the item that an id in messages speaks of: of a call, of a request for approval, of a message.
    fn item(&self, id: &str) -> Option<&str>;
    /// Tells whether an item that messages may speak of has an id.
    fn is_item(&self, id: &str) -> bool;
}

/// No earlier messages.
impl KnownIds for () {
    fn item(&self, _: &str) -> Option<&str> {
        None
    }

    fn is_item(&self, _: &str) -> bool {
        false
    }
}

/// Refuses messages so deep that an item made of them would be too deep.
pub fn check_depth(list: &[Value], system: Option<&Value>) -> Result<()> {
    let limit = limits::MAX_DEPTH - ITEM_LEVELS;
    let too_deep = |path: String| {
        Err(Error::new(ErrorCode::TooDeep, format!("messages nest deeper than {limit} levels")).at(path))
    };
    if let Some(index) = list.iter().position(|message| !is_within(message, limit)) {
        return too_deep(at("/messages", index));
    }
    if system.is_some_and(|system| !is_within(system, limit)) { too_deep("/system".to_owned()) } else { Ok(()) }
}

fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels > 0 && list.iter().all(|value| is_within(value, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|value| is_within(value, levels - 1)),
        _ => true,
    }
}

/// Makes items of messages.
pub fn items(
    messages: Vec<Message>,
    format: Format,
    options: &ReadOptions,
    known: &dyn KnownIds,
    warnings: &mut Warnings,
) -> Result<Vec<ContextItem>> {
    let mut headers = Vec::with_capacity(messages.len());
    let mut builder = ItemBuilder {
        format,
        options,
        known,
        warnings,
        items: Vec::new(),
        calls: SortedMap::new(),
        ids: SortedMap::new(),
        reasoned: SortedMap::new(),
        is_torn: false,
    };
    for (call, item) in &options.known_calls {
        builder.calls.insert(call.clone(), item.clone());
        builder.ids.insert(item.clone(), 1);
    }
    let mut response: Vec<PositionedPart> = Vec::new();
    let mut last = None;
    for (position, message) in messages.into_iter().enumerate() {
        let Message { role, role_name, fields, parts, group, index } = message;
        let count = parts.len();
        headers.push(MessageHeader { role, role_name, fields, group, index, text_items: 0, is_new: true });
        let parts = if count == 0 { vec![whole(&mut headers[position])] } else { parts };
        for (index, part) in parts.into_iter().enumerate() {
            let key = Some((group, part.step));
            if key != last && !response.is_empty() {
                builder.add_response(std::mem::take(&mut response), &mut headers)?;
            }
            last = key;
            response.push(PositionedPart { message: position, index, part });
        }
    }
    builder.add_response(response, &mut headers)?;
    Ok(builder.items)
}

/// Makes one part of a message that has none.
fn whole(header: &mut MessageHeader) -> MessagePart {
    MessagePart::new(PartKind::Marker, "", std::mem::take(&mut header.fields), Vec::new())
}

/// A message without its parts.
struct MessageHeader {
    role: Role,
    role_name: String,
    fields: Value,
    group: usize,
    index: Option<usize>,
    /// Items made of its texts so far.
    text_items: usize,
    /// Whether no item was made of it yet.
    is_new: bool,
}

struct ItemBuilder<'a> {
    format: Format,
    options: &'a ReadOptions,
    known: &'a dyn KnownIds,
    warnings: &'a mut Warnings,
    items: Vec<ContextItem>,
    /// Ids of items by the provider's ids of the calls, the latest, beside those that `known` has.
    calls: SortedMap<String, String>,
    /// How often each id was asked for.
    ids: SortedMap<String, usize>,
    /// Count of the reasoning parts that led to a call, by the id of its item.
    reasoned: SortedMap<String, usize>,
    /// Whether the item that is being made may be torn from its reasoning.
    is_torn: bool,
}

impl ItemBuilder<'_> {
    /// Makes the items of one response of the model, or of one other message.
    fn add_response(&mut self, parts: Vec<PositionedPart>, headers: &mut [MessageHeader]) -> Result<()> {
        let groups = group_parts(&parts);
        let is_rest = self.is_rest(&parts, headers);
        let is_thought = |part: &PositionedPart| matches!(part.part.kind, PartKind::Reasoning);
        let first_thought = parts.iter().position(is_thought).unwrap_or(parts.len());
        let is_before_call = |group: &PartGroup, index: usize| {
            matches!(parts[index].part.kind, PartKind::Reasoning) && group.kind == PartGroupKind::ToolCall
        };
        let reasoning = groups
            .iter()
            .map(|group| group.parts.iter().filter(|index| is_before_call(group, **index)).count())
            .sum::<usize>();
        let mut parts: Vec<Option<PositionedPart>> = parts.into_iter().map(Some).collect();
        let mut parent: Option<String> = None;
        for group in groups {
            self.is_torn = is_rest && group.parts.first().is_some_and(|first| *first < first_thought);
            let own: Vec<PositionedPart> = group.parts.iter().filter_map(|index| parts[*index].take()).collect();
            let item = self.item(group.kind, own, headers, reasoning, parent.as_deref())?;
            if parent.is_none() && item.kind == ItemKind::AgentMsg && !item.text.is_empty() {
                parent = Some(item.id.clone());
            }
            self.items.push(item);
        }
        Ok(())
    }

    /// Tells whether a response may be the rest of one that began before it.
    fn is_rest(&self, parts: &[PositionedPart], headers: &[MessageHeader]) -> bool {
        let is_models = parts.first().is_some_and(|part| headers[part.message].role == Role::Assistant);
        let is_of_items = self.format.provider().rules.has_items && is_models;
        is_of_items && self.options.last_response.after(self.items.iter()).may_go_on()
    }

    fn item(
        &mut self,
        kind: PartGroupKind,
        parts: Vec<PositionedPart>,
        headers: &mut [MessageHeader],
        reasoning: usize,
        parent: Option<&str>,
    ) -> Result<ContextItem> {
        // The part that the item is made of; a part stored with it may stand before.
        let main = parts.iter().position(|part| group_kind(&part.part.kind) == Some(kind)).unwrap_or(0);
        let Some((position, part_kind, step)) =
            parts.get(main).map(|part| (part.message, part.part.kind.clone(), part.part.step))
        else {
            return Err(Error::new(ErrorCode::Internal, "an item without parts"));
        };
        let header = &mut headers[position];
        let (place, header_role) = (header.index, header.role);
        let message = header.index.map(|index| index + self.options.start);
        let mut item = ContextItem::new("", item_kind(header.role), "");
        let role = if header.role_name.is_empty() { header.role.as_str() } else { &header.role_name };
        item.metadata.insert("role".into(), role.into());
        self.name(&mut item, kind, &part_kind, header, parent);
        let group = (header.group + self.options.start, step);
        let has_fields = std::mem::take(&mut header.is_new) || header.fields.to_string().len() <= SMALL_FIELDS_BYTES;
        let fields = (has_fields && !header.fields.is_null()).then(|| header.fields.clone());
        // The texts of an answer are one that was cut, at a citation, say; those of other messages are blocks.
        let is_text = |part: &MessagePart| {
            part.slots.is_empty()
                || part.kind == PartKind::Text
                    && matches!(&part.slots[..], [TextSlot { pointer: Some(_), encoding: TextEncoding::Text, .. }])
        };
        let is_joined = header_role == Role::Assistant
            && kind == PartGroupKind::Text
            && parts.iter().filter(|part| !part.part.slots.is_empty()).count() > 1
            && parts.iter().all(|part| is_text(&part.part) && part.part.field == parts[0].part.field);
        let (mut stored, mut texts, mut tokens) = (Vec::with_capacity(parts.len()), Vec::new(), 0);
        for PositionedPart { message, index, part } in parts {
            if let Some(request) = requested(&part.original) {
                self.calls.insert(request.to_owned(), item.id.clone());
            }
            if let Some(request) = answered(&part.original) {
                item.parent_id = self.known(request);
                item.metadata.insert(APPROVAL.into(), true.into());
            }
            if part.original.get("type").is_some_and(|kind| kind == COMPACTION) {
                item.metadata.insert(COMPACTION.into(), true.into());
            }
            tokens += part_tokens(&part);
            let message = headers[message].index.map(|index| index + self.options.start);
            let (part, part_texts) = StoredPart::new(part, message, index);
            texts.extend(part_texts);
            stored.push(part);
        }
        item.text = texts.join(if is_joined { "" } else { "\n" });
        let digest = digest(&item.text);
        if let Some(message) = cut(&mut item.text) {
            self.warnings.add("VALUE_CUT", message, path_of(place));
        }
        if tokens > 0 {
            item.token_estimate = (Estimator::V3.tokens(&item.text) + tokens).min(limits::MAX_TOKEN_ESTIMATE);
        }
        // A result knows, too, whether its call may be made up.
        let reasoning = match (&item.parent_id, kind) {
            (Some(call), PartGroupKind::ToolResult) => self.reasoned.get(call.as_str()).copied().unwrap_or(0),
            _ => reasoning,
        };
        if kind == PartGroupKind::ToolCall && reasoning > 0 {
            self.reasoned.insert(item.id.clone(), reasoning);
        }
        let format = self.format;
        let stored = StoredMessage {
            format,
            index: message,
            group,
            digest,
            fields,
            reasoning,
            tokens,
            parts: stored,
            is_joined,
            is_torn: self.is_torn,
            of: None,
        };
        stored.attach(&mut item.metadata);
        Ok(item)
    }

    /// Gives an item its kind, its id and its parent.
    fn name(
        &mut self,
        item: &mut ContextItem,
        kind: PartGroupKind,
        part_kind: &PartKind,
        header: &mut MessageHeader,
        parent: Option<&str>,
    ) {
        let path = || path_of(header.index);
        match (kind, part_kind) {
            (PartGroupKind::ToolCall, PartKind::ToolCall { id, name }) => {
                item.kind = ItemKind::ToolCall;
                item.id = self.fresh(id);
                if item.id != *id {
                    let message = format!("a call {} was made before", quote(id));
                    self.warnings.add("DUPLICATE_CALL_ID", message, path());
                    self.is_torn |= self.format.provider().rules.has_items;
                }
                item.parent_id = parent.map(str::to_owned);
                self.calls.insert(id.clone(), item.id.clone());
                set_call(&mut item.metadata, id, name);
            }
            (PartGroupKind::ServerCall, PartKind::ServerCall { id, name }) => {
                item.kind = ItemKind::ToolCall;
                item.id = self.fresh(id);
                self.is_torn |= item.id != *id && self.format.provider().rules.has_items;
                self.calls.insert(id.clone(), item.id.clone());
                set_call(&mut item.metadata, id, name);
                item.metadata.insert(PROVIDER_RUN.into(), true.into());
            }
            (PartGroupKind::ServerResult, PartKind::ServerResult { id, name, is_error }) => {
                item.kind = ItemKind::ToolResult;
                item.parent_id = self.known(id);
                let call = item.parent_id.as_ref().unwrap_or(id);
                item.id = self.fresh(&format!("result:{call}"));
                set_call(&mut item.metadata, id, name);
                item.metadata.insert(PROVIDER_RUN.into(), true.into());
                if *is_error {
                    item.metadata.insert("is_error".into(), true.into());
                }
            }
            (PartGroupKind::ToolResult, PartKind::ToolResult { id, name, is_error }) => {
                item.kind = ItemKind::ToolResult;
                let call = self.known(id);
                if call.is_none() {
                    let message = format!("a result of call {}, which was not made", quote(id));
                    self.warnings.add("UNKNOWN_CALL", message, path());
                }
                let call = call.unwrap_or_else(|| id.clone());
                item.id = self.fresh(&format!("result:{call}"));
                item.parent_id = Some(call);
                set_call(&mut item.metadata, id, name);
                if *is_error {
                    item.metadata.insert("is_error".into(), true.into());
                }
            }
            _ => {
                let prefix = &self.options.id_prefix;
                let base = match header.index {
                    Some(index) => format!("{prefix}{}", index + self.options.start),
                    None => format!("{prefix}system"),
                };
                item.id = if header.text_items == 0 {
                    self.fresh(&base)
                } else {
                    self.fresh(&format!("{base}:{}", header.text_items))
                };
                let message = header.fields.get("id").and_then(Value::as_str);
                if let Some(message) =
                    message.filter(|_| self.format.provider().rules.has_items && header.text_items == 0)
                {
                    // A second one of an id may be a copy of what stood in another response.
                    self.is_torn |= self.known(message).is_some();
                    self.calls.insert(message.to_owned(), item.id.clone());
                }
                header.text_items += 1;
            }
        }
    }

    /// Returns the id of the item that an id in a message speaks of.
    fn known(&self, id: &str) -> Option<String> {
        self.calls.get(id).map(String::as_str).or_else(|| self.known.item(id)).map(str::to_owned)
    }

    /// Returns an id that no other item has.
    fn fresh(&mut self, wanted: &str) -> String {
        let known = self.known;
        let count = self.ids.get_or_insert(&wanted.to_owned(), usize::from(known.is_item(wanted)));
        *count += 1;
        let mut number = *count;
        let mut id = wanted.to_owned();
        while number > 1 {
            id = format!("{wanted}~{number}");
            if self.ids.insert(id.clone(), 1).is_none() && !known.is_item(&id) {
                break;
            }
            number += 1;
        }
        if number > 1 {
            self.ids.insert(wanted.to_owned(), number);
        }
        id
    }
}

/// Returns the pointer of a message, or of the instructions beside the messages.
/// Cuts a text at what an item holds, and says how much is missing: each part of a message may be as long as that.
fn cut(text: &mut String) -> Option<String> {
    if text.len() <= limits::MAX_STRING_BYTES {
        return None;
    }
    let length = text.len();
    text.truncate(floor_char_boundary(text, limits::MAX_STRING_BYTES - CUT_LINE_BYTES));
    let missing = length - text.len();
    let _ = write!(text, "\n[the last {missing} bytes are left out]");
    Some(format!("of a text of {length} bytes the last {missing} are left out"))
}

fn path_of(index: Option<usize>) -> String {
    index.map_or_else(|| "/system".to_owned(), |index| at("/messages", index))
}

fn set_call(metadata: &mut JsonMap, id: &str, name: &str) {
    metadata.insert("tool_call_id".into(), id.into());
    if !name.is_empty() {
        metadata.insert("function_name".into(), name.into());
    }
}

const fn item_kind(role: Role) -> ItemKind {
    match role {
        Role::System => ItemKind::Policy,
        Role::User | Role::Tool => ItemKind::UserTurn,
        Role::Assistant => ItemKind::AgentMsg,
    }
}

/// Counts the tokens of a part besides those of its texts.
fn part_tokens(part: &MessagePart) -> u64 {
    match (part.tokens, &part.kind) {
        (Some(tokens), _) => tokens,
        (None, PartKind::Opaque | PartKind::Reasoning) => Estimator::V3.tokens(&part.original.to_string()),
        // What stands beside its texts, such as pages that only the provider can read.
        (None, PartKind::ServerResult { .. }) => {
            let texts = part.slots.iter().map(|slot| Estimator::V3.tokens(&slot.text)).sum();
            Estimator::V3.tokens(&part.original.to_string()).saturating_sub(texts)
        }
        (None, _) => 0,
    }
}
