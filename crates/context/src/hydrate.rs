//! What a call needs: the tool's schema and, for arguments that are not given, values that are already known.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::callbacks::Outcome;
use crate::manager::ContextManager;
use crate::sensitivity;
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;
use contextweaver_content::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_model::json::pointer;
use contextweaver_model::{ContextItem, HydrationResult, ItemKind, JsonMap, SelectableItem};
use contextweaver_text::redact::SECRET_MASK;

/// Names that mean something else in every record; only a fact of this very name fills them.
const COMMON: &[&str] = &[
    "id",
    "name",
    "type",
    "kind",
    "key",
    "value",
    "text",
    "title",
    "query",
    "status",
    "state",
    "limit",
    "offset",
    "page",
    "count",
    "total",
    "data",
    "path",
    "url",
    "message",
    "description",
    "content",
    "result",
    "results",
    "items",
    "date",
    "time",
    "body",
    "format",
];

/// An argument that is wanted.
struct ArgumentSearch<'a> {
    schema: &'a Value,
    found: Option<(Value, Value)>,
    /// Whether the newest item that speaks of it says two things.
    doubtful: bool,
}

impl ContextManager {
    /// Returns a tool's schema, examples and constraints; with arguments also what fills those not given.
    ///
    /// A value comes from a fact whose key is the argument's name, else from the newest call or result that holds
    /// exactly one value under that name. It must have the type and be of the `enum` of the schema. Names compare without
    /// case, `_`, `-` and spaces. Nothing comes from withheld items, and nothing is guessed: what is not found is listed
    /// in `missing` when the schema requires it. Linear in the log.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an unknown redaction hook.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind, JsonMap, SelectableItem};
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("r1", ItemKind::ToolResult, r#"{"order_id": 12446}"#))?;
    /// let schema = json!({ "properties": { "orderId": { "type": "integer" } }, "required": ["orderId"] });
    /// let args_schema = schema.as_object().cloned().unwrap();
    /// let tool = SelectableItem { id: "refund".into(), args_schema, ..SelectableItem::default() };
    /// let hydrated = manager.hydrate(&tool, Some(JsonMap::new()))?.done().unwrap();
    /// assert_eq!(hydrated.arguments.unwrap()["orderId"], 12446);
    /// assert_eq!(hydrated.missing.unwrap(), Vec::<String>::new());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn hydrate(&mut self, tool: &SelectableItem, arguments: Option<JsonMap>) -> Result<Outcome<HydrationResult>> {
        let mut result = HydrationResult::of(tool);
        let Some(arguments) = arguments else { return Ok(Outcome::Done(result)) };
        self.answers.reset();
        let properties = tool.args_schema.get("properties").and_then(Value::as_object);
        let mut wanted: HashMap<String, ArgumentSearch> = properties
            .into_iter()
            .flatten()
            .filter(|(name, _)| !arguments.contains_key(*name))
            .map(|(name, schema)| (plain(name), ArgumentSearch { schema, found: None, doubtful: false }))
            .collect();
        self.take_facts(&mut wanted)?;
        self.take_items(&mut wanted);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        self.answers.settle(self.events.len());
        let mut filled = arguments;
        let mut context_used = Vec::new();
        for name in properties.into_iter().flatten().map(|(name, _)| name) {
            if let Some((value, source)) = wanted.remove(&plain(name)).and_then(|wanted| wanted.found) {
                context_used.push(json!({ "argument": name, "source": source }));
                filled.insert(name.clone(), value);
            }
        }
        let required = tool.args_schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        result.missing = Some(names.filter(|name| !filled.contains_key(*name)).map(str::to_owned).collect());
        result.arguments = Some(filled);
        result.context_used = Some(context_used);
        Ok(Outcome::Done(result))
    }

    fn take_facts(&self, wanted: &mut HashMap<String, ArgumentSearch>) -> Result<()> {
        let mut known: Vec<ContextItem> = Vec::new();
        let mut values: HashMap<&str, (&str, &str)> = HashMap::new();
        for fact in self.facts.all().filter(|fact| wanted.contains_key(&plain(&fact.key))) {
            values.insert(&fact.fact_id, (&fact.key, &fact.value));
            let mut item = ContextItem::new(fact.fact_id.clone(), ItemKind::MemoryFact, fact.value.clone());
            item.sensitivity = fact.sensitivity;
            known.push(item);
        }
        let (mut known, _) = sensitivity::filter(known, &self.options, &self.answers)?;
        let number = |item: &ContextItem| item.id.rsplit(':').next().and_then(|tail| tail.parse::<u64>().ok());
        sort_by(&mut known, |a, b| number(a).cmp(&number(b)));
        for item in known {
            let Some((key, value)) = values.get(item.id.as_str()) else { continue };
            let is_shown = item.text == *value && self.options.mask_secrets(value) == *value;
            let Some(wanted) = wanted.get_mut(&plain(key)).filter(|_| is_shown) else { continue };
            // The newest fact of a key has the highest number and comes last.
            if let Some(value) = from_text(value, wanted.schema) {
                wanted.found = Some((value, json!({ "fact_id": item.id })));
            }
        }
        Ok(())
    }

    fn take_items(&self, wanted: &mut HashMap<String, ArgumentSearch>) {
        for name in COMMON {
            if let Some(wanted) = wanted.get_mut(*name) {
                wanted.doubtful = true;
            }
        }
        for (at, item) in self.events.items().iter().enumerate().rev() {
            if wanted.values().all(|wanted| wanted.doubtful || wanted.found.is_some()) {
                return;
            }
            if !matches!(item.kind, ItemKind::ToolCall | ItemKind::ToolResult)
                || item.metadata_flag("redacted")
                || item.is_superseded()
            {
                continue;
            }
            let text = self.index.entry(at).source(item, &self.artifacts);
            let Some(json) = text.find(['{', '[']).map(|from| &text[from..]) else { continue };
            let json = json.trim_end_matches([')', ' ', '\n']);
            let Some(tree) = JsonTree::parse(json) else { continue };
            let level = sensitivity::classified(item, &self.options, &self.answers);
            if level < self.options.policy.sensitivity_floor {
                let mut values = HashMap::new();
                collect(tree.root(), "", wanted, &mut values);
                for (name, value) in values {
                    settle(wanted, &name, value, item);
                }
            }
        }
    }
}

/// Takes the one value an item has for a name; two of them are none, and older items are not asked instead.
fn settle(
    wanted: &mut HashMap<String, ArgumentSearch>,
    name: &str,
    found: Option<(Value, String)>,
    item: &ContextItem,
) {
    let Some(wanted) = wanted.get_mut(name).filter(|wanted| wanted.found.is_none() && !wanted.doubtful) else { return };
    match found {
        Some((value, path)) => wanted.found = Some((value, json!({ "item_id": item.id, "path": path }))),
        None => wanted.doubtful = true,
    }
}

/// Finds the values of wanted names: one value with its place, or `None` for names with several.
fn collect(
    node: JsonNode,
    path: &str,
    wanted: &HashMap<String, ArgumentSearch>,
    found: &mut HashMap<String, Option<(Value, String)>>,
) {
    for (index, child) in node.items().enumerate().filter(|(_, child)| child.is_container()) {
        collect(child, &format!("{path}/{index}"), wanted, found);
    }
    for (key, child) in node.members() {
        let name = plain(&key);
        let at = || pointer(path, &key);
        if let Some(wanted) = wanted.get(&name)
            && let Some(value) = from_node(child, wanted.schema)
        {
            let known = found.entry(name).or_insert_with(|| Some((value.clone(), at())));
            if known.as_ref().is_some_and(|(known, _)| *known != value) {
                *known = None;
            }
        }
        if child.is_container() {
            collect(child, &at(), wanted, found);
        }
    }
}

/// Folds what spellings of one name differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|ch| !matches!(ch, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

fn accepts(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(any)) => any.iter().any(|one| one.as_str() == Some(kind)),
        _ => true,
    }
}

fn in_enum(value: Value, schema: &Value) -> Option<Value> {
    let allowed = schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&value));
    allowed.then_some(value)
}

/// Reads a JSON value as the schema wants it; a number may stand for a string, as it is written.
fn from_node(node: JsonNode, schema: &Value) -> Option<Value> {
    let raw = node.raw();
    if raw.contains(SECRET_MASK) {
        return None;
    }
    let value = match node.kind() {
        JsonKind::Null => return None,
        JsonKind::Number if node.number().is_some_and(|n| n.fract() == 0.0) && accepts(schema, "integer") => {
            parsed(raw)?
        }
        JsonKind::Number if accepts(schema, "number") => parsed(raw)?,
        JsonKind::Number if accepts(schema, "string") => raw.into(),
        kind if accepts(schema, kind.name()) => parsed(raw)?,
        _ => return None,
    };
    in_enum(value, schema)
}

/// Reads a fact's text as the schema wants it.
fn from_text(text: &str, schema: &Value) -> Option<Value> {
    if schema.get("type").is_none() || accepts(schema, "string") {
        return in_enum(text.into(), schema);
    }
    JsonTree::parse(text).and_then(|tree| from_node(tree.root(), schema))
}

fn parsed(raw: &str) -> Option<Value> {
    contextweaver_model::json::parse(raw).ok()
}
