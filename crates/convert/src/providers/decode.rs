//! From the parts of messages to items.

use serde_json::Value;

use super::drafts::{DraftKind, Flat, drafts, kind_of};
use super::part::{Body, Message, Part, Role, at};
use super::record::{Kept, Record, digest, role_name};
use super::{Format, Warnings};
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode::quote;

/// Tokens that an image counts, whatever its size.
pub const IMAGE_TOKENS: u64 = 1000;
/// Bytes up to which the record of every item of a message has what is left of the message without its parts; of a
/// larger one only the first item's.
const SMALL_SHELL_BYTES: usize = 256;
/// Levels of nesting that an item puts around a message.
const ITEM_LEVELS: usize = 8;

/// What reading depends on besides the messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Index of the first message, for lists that go on where another ended.
    pub start: usize,
    /// Begins the ids of items that are neither call nor result.
    pub id_prefix: String,
    /// Calls made in earlier messages: the provider's id and the id of the item.
    pub known_calls: Vec<(String, String)>,
    /// What the format has beside the messages: of Anthropic `system`, of Gemini `systemInstruction`.
    pub system: Option<Value>,
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
    warnings: &mut Warnings,
) -> Result<Vec<ContextItem>> {
    let mut entries = Vec::with_capacity(messages.len());
    let mut maker = Maker {
        format,
        options,
        warnings,
        items: Vec::new(),
        calls: SortedMap::new(),
        ids: SortedMap::new(),
        reasoned: SortedMap::new(),
    };
    for (call, item) in &options.known_calls {
        maker.calls.insert(call.clone(), item.clone());
        maker.ids.insert(item.clone(), 1);
    }
    let mut together: Vec<Flat> = Vec::new();
    let mut last = None;
    for (entry, message) in messages.into_iter().enumerate() {
        let Message { role, role_name, shell, parts, group, index } = message;
        let count = parts.len();
        entries.push(Entry { role, role_name, shell, group, index, runs: 0, first: true });
        let parts = if count == 0 { vec![whole(&mut entries[entry])] } else { parts };
        for (at, part) in parts.into_iter().enumerate() {
            let key = Some((group, part.step));
            if key != last && !together.is_empty() {
                maker.unit(std::mem::take(&mut together), &mut entries)?;
            }
            last = key;
            together.push(Flat { entry, at, part });
        }
    }
    maker.unit(together, &mut entries)?;
    Ok(maker.items)
}

/// Keeps a message without parts as it is.
fn whole(entry: &mut Entry) -> Part {
    Part::new(Body::Mark, "", std::mem::take(&mut entry.shell), Vec::new())
}

/// A message without its parts.
struct Entry {
    role: Role,
    role_name: String,
    shell: Value,
    group: usize,
    index: Option<usize>,
    /// Runs of text so far.
    runs: usize,
    /// Whether no item has been made of it yet.
    first: bool,
}

struct Maker<'a> {
    format: Format,
    options: &'a ReadOptions,
    warnings: &'a mut Warnings,
    items: Vec<ContextItem>,
    /// Ids of items by the provider's ids of the calls, the latest.
    calls: SortedMap<String, String>,
    /// How often an id was wanted.
    ids: SortedMap<String, usize>,
    /// How many parts of reasoning led to a call.
    reasoned: SortedMap<String, usize>,
}

impl Maker<'_> {
    /// Makes the items of what was said in one go.
    fn unit(&mut self, flats: Vec<Flat>, entries: &mut [Entry]) -> Result<()> {
        let drafts = drafts(&flats);
        let holds = |draft: &super::drafts::Draft, at: usize| {
            matches!(flats[at].part.body, Body::Reasoning) && draft.kind == DraftKind::Call
        };
        let reasoning =
            drafts.iter().map(|draft| draft.parts.iter().filter(|at| holds(draft, **at)).count()).sum::<usize>();
        let mut flats: Vec<Option<Flat>> = flats.into_iter().map(Some).collect();
        let mut parent: Option<String> = None;
        for draft in drafts {
            let parts: Vec<Flat> = draft.parts.iter().filter_map(|at| flats[*at].take()).collect();
            let item = self.item(draft.kind, parts, entries, reasoning, parent.as_deref())?;
            if parent.is_none() && item.kind == ItemKind::AgentMsg && !item.text.is_empty() {
                parent = Some(item.id.clone());
            }
            self.items.push(item);
        }
        Ok(())
    }

    fn item(
        &mut self,
        kind: DraftKind,
        parts: Vec<Flat>,
        entries: &mut [Entry],
        reasoning: usize,
        parent: Option<&str>,
    ) -> Result<ContextItem> {
        // The part that the item is made of; what rides on it may stand before.
        let main = parts.iter().position(|flat| kind_of(&flat.part.body) == Some(kind)).unwrap_or(0);
        let Some((entry, body, step)) =
            parts.get(main).map(|flat| (flat.entry, flat.part.body.clone(), flat.part.step))
        else {
            return Err(Error::new(ErrorCode::Internal, "an item without parts"));
        };
        let home = &mut entries[entry];
        let message = home.index.map(|index| index + self.options.start);
        let mut item = ContextItem::new("", item_kind(home.role), "");
        let role = if home.role_name.is_empty() { role_name(home.role) } else { &home.role_name };
        item.metadata.insert("role".into(), role.into());
        self.name(&mut item, kind, &body, home, parent);
        let group = (home.group + self.options.start, step);
        let shell = std::mem::take(&mut home.first) || home.shell.to_string().len() <= SMALL_SHELL_BYTES;
        let shell = (shell && !home.shell.is_null()).then(|| home.shell.clone());
        let (mut kept, mut texts, mut tokens) = (Vec::with_capacity(parts.len()), Vec::new(), 0);
        for Flat { entry, at, part } in parts {
            tokens += part_tokens(&part);
            let index = entries[entry].index.map(|index| index + self.options.start);
            let (part, shown) = Kept::new(part, index, at);
            texts.extend(shown);
            kept.push(part);
        }
        item.text = texts.join("\n");
        if item.text.len() > limits::MAX_STRING_BYTES {
            let message = format!("text has {} bytes, the limit is {}", item.text.len(), limits::MAX_STRING_BYTES);
            return Err(Error::new(ErrorCode::TooLarge, message).at(at("/messages", entry)));
        }
        if tokens > 0 {
            item.token_estimate = (Estimator::V3.tokens(&item.text) + tokens).min(limits::MAX_TOKEN_ESTIMATE);
        }
        // A result knows, too, whether its call may be made up.
        let reasoning = match (&item.parent_id, kind) {
            (Some(call), DraftKind::Result) => self.reasoned.get(call.as_str()).copied().unwrap_or(0),
            _ => reasoning,
        };
        if kind == DraftKind::Call && reasoning > 0 {
            self.reasoned.insert(item.id.clone(), reasoning);
        }
        let digest = digest(&item.text);
        let record = Record { format: self.format, message, group, digest, shell, reasoning, tokens, parts: kept };
        record.attach(&mut item.metadata);
        Ok(item)
    }

    /// Gives an item its id and what it answers to.
    fn name(&mut self, item: &mut ContextItem, kind: DraftKind, body: &Body, home: &mut Entry, parent: Option<&str>) {
        let path = || home.index.map_or_else(|| "/system".to_owned(), |index| at("/messages", index));
        match (kind, body) {
            (DraftKind::Call, Body::Call { id, name }) => {
                item.kind = ItemKind::ToolCall;
                item.id = self.fresh(id);
                if item.id != *id {
                    let message = format!("a call {} was made before", quote(id));
                    self.warnings.add("DUPLICATE_CALL_ID", message, path());
                }
                item.parent_id = parent.map(str::to_owned);
                self.calls.insert(id.clone(), item.id.clone());
                set_call(&mut item.metadata, id, name);
            }
            (DraftKind::Result, Body::Result { id, name, is_error }) => {
                item.kind = ItemKind::ToolResult;
                let call = self.calls.get(id.as_str()).cloned();
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
                let base = match home.index {
                    Some(index) => format!("{prefix}{}", index + self.options.start),
                    None => format!("{prefix}system"),
                };
                item.id = if home.runs == 0 { self.fresh(&base) } else { self.fresh(&format!("{base}:{}", home.runs)) };
                home.runs += 1;
            }
        }
    }

    /// Returns an id that no other item has.
    fn fresh(&mut self, wanted: &str) -> String {
        let count = self.ids.get_or_insert(&wanted.to_owned(), 0);
        *count += 1;
        let mut number = *count;
        let mut id = wanted.to_owned();
        while number > 1 {
            id = format!("{wanted}~{number}");
            if self.ids.insert(id.clone(), 1).is_none() {
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

/// Counts what a part costs besides its text.
fn part_tokens(part: &Part) -> u64 {
    match (part.tokens, &part.body) {
        (Some(tokens), _) => tokens,
        (None, Body::Opaque | Body::Reasoning) => Estimator::V3.tokens(&part.original.to_string()),
        (None, _) => 0,
    }
}
