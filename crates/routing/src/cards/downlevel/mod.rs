//! JSON Schemas in the words a provider understands, with a report of what was lost on the way.
//!
//! A provider refuses a whole request for one keyword it does not know. So what it does not know is written otherwise
//! where that means the same, widened where it does not, and left out where nothing else is possible; a caller who
//! checks arguments against the schema the tool came with loses nothing.

mod children;
mod gemini;
mod refs;
mod root;
mod strict;

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_base::order::WordSet;
use contextweaver_base::{Result, StepBudget, limits};
use contextweaver_convert::tools::{MendOptions, PropertyNames, append_description, mended_schema};
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::quote::quote;

/// Schemas within one schema, with each `$ref` followed, that are looked at; what is beyond is left open.
const MAX_SCHEMAS: usize = 5000;
/// Bytes of a text that are copied in one step.
const STEP_BYTES: usize = 64;

/// What a provider understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaDialect {
    /// Well-formed JSON Schema of 2020-12 with plain patterns; the outermost is an object without alternatives, and arrays
    /// say what is in them.
    OpenAi,
    /// The subset to which `OpenAI` holds a model: closed objects, all properties required, few keywords.
    OpenAiStrict,
    /// The same, and properties have plain names: [`own_arguments`] is the way back.
    Anthropic,
    /// A part of the schemas of `OpenAPI` 3.0: no `$ref`, no constants, texts only in enumerations.
    Gemini,
}

/// One change of a tool's schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SchemaChange {
    /// The tool.
    pub tool_id: String,
    /// JSON pointer within the rewritten schema, every `$ref` followed.
    pub path: String,
    /// The keyword.
    pub keyword: String,
    /// `removed`, `rewritten` or `inlined`.
    #[cfg_attr(feature = "ts", ts(type = "\"removed\" | \"rewritten\" | \"inlined\""))]
    pub action: &'static str,
    /// What that means.
    pub note: String,
}

/// Writes the schema of a tool's arguments for a provider; the schema itself stays as it is.
///
/// # Examples
///
/// ```
/// use contextweaver_routing::{SchemaDialect, down_level};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "unit": { "const": "kg" } } });
/// let mut report = Vec::new();
/// let written = down_level(schema.as_object().unwrap(), SchemaDialect::Gemini, "scales.weigh", &mut report);
/// assert_eq!(written["properties"]["unit"], json!({ "type": "string", "enum": ["kg"] }));
/// assert_eq!((report[0].keyword.as_str(), report[0].action), ("const", "rewritten"));
/// ```
pub fn down_level(schema: &JsonMap, dialect: SchemaDialect, tool_id: &str, report: &mut Vec<SchemaChange>) -> Value {
    let root = mended(&Value::Object(schema.clone()), tool_id, report);
    let written = rewritten(&root, dialect, tool_id, report);
    match dialect {
        SchemaDialect::Gemini | SchemaDialect::OpenAiStrict => written,
        // What a reference led to may have been joined with something else.
        SchemaDialect::OpenAi => mended(&written, tool_id, report),
        SchemaDialect::Anthropic => {
            let mut written = mended(&written, tool_id, report);
            rename(&root, &mut written, tool_id, report);
            written
        }
    }
}

/// Returns the arguments of a call as the tool has them: those that a model gave by the names of [`down_level`] for
/// `Anthropic` get their own. What has its own name stays.
///
/// # Errors
/// `TOO_LARGE` where the schema has too many alternatives to find out.
///
/// ```
/// use contextweaver_routing::own_arguments;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "filter[id]": { "type": "string" } } });
/// let given = json!({ "filter_id_": "7" });
/// let own = own_arguments(schema.as_object().unwrap(), given.as_object().unwrap())?;
/// assert_eq!(json!(own), json!({ "filter[id]": "7" }));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn own_arguments(schema: &JsonMap, arguments: &JsonMap) -> Result<JsonMap> {
    let root = mended(&Value::Object(schema.clone()), "", &mut Vec::new());
    PropertyNames::of(&root).with_own_names(&root, arguments)
}

/// Returns the names that [`down_level`] gives to properties for `Anthropic`, with their own.
pub(super) fn renamed_properties(schema: &JsonMap) -> JsonMap {
    let root = mended(&Value::Object(schema.clone()), "", &mut Vec::new());
    PropertyNames::of(&root).iter().map(|(written, own)| (written.to_owned(), Value::from(own))).collect()
}

/// Makes a schema well-formed.
fn mended(schema: &Value, tool_id: &str, report: &mut Vec<SchemaChange>) -> Value {
    let mut mends = Vec::new();
    let out = mended_schema(schema, MendOptions { plain_patterns: true }, &mut mends);
    report.extend(mends.into_iter().map(|mend| SchemaChange {
        tool_id: tool_id.to_owned(),
        keyword: if mend.keyword.is_empty() { last_step(&mend.path) } else { mend.keyword },
        path: mend.path,
        action: if mend.is_removed { "removed" } else { "rewritten" },
        note: mend.note.to_owned(),
    }));
    Value::Object(out)
}

fn last_step(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~")
}

/// Gives properties the names that the provider takes.
fn rename(root: &Value, written: &mut Value, tool_id: &str, report: &mut Vec<SchemaChange>) {
    let mut renamed = Vec::new();
    PropertyNames::of(root).rename(written, &mut renamed);
    report.extend(renamed.into_iter().map(|one| SchemaChange {
        tool_id: tool_id.to_owned(),
        path: pointer(&pointer(&one.path, "properties"), &one.written),
        note: format!("names have 1 to 64 letters, digits, _ . and -; its own is {}", quote(&one.own)),
        keyword: one.own,
        action: "rewritten",
    }));
}

fn rewritten(root: &Value, dialect: SchemaDialect, tool_id: &str, report: &mut Vec<SchemaChange>) -> Value {
    let budget = StepBudget::new("rewriting the schema", limits::MAX_REWRITE_STEPS);
    let mut walk = SchemaRewriter { root, dialect, tool_id, report, open: Vec::new(), schemas: 0, budget, reported: 0 };
    let outermost = walk.root_object(root.as_object().cloned().unwrap_or_default());
    match dialect {
        SchemaDialect::Gemini | SchemaDialect::OpenAiStrict => walk.schema(&Value::Object(outermost), "", 0),
        SchemaDialect::OpenAi | SchemaDialect::Anthropic => Some(walk.kept(&Value::Object(outermost), "", 0)),
    }
    .unwrap_or_else(|| json!({ "type": "object", "properties": {} }))
}

/// One pass over a schema.
struct SchemaRewriter<'a> {
    /// The schema that each `$ref` points into.
    root: &'a Value,
    dialect: SchemaDialect,
    tool_id: &'a str,
    report: &'a mut Vec<SchemaChange>,
    /// Each `$ref` being followed, so that none is followed within itself.
    open: Vec<String>,
    /// Schemas looked at.
    schemas: usize,
    /// Of copies.
    budget: StepBudget,
    /// Bytes of the paths that were reported.
    reported: usize,
}

impl SchemaRewriter<'_> {
    /// Pays for copying a value so many times; tells whether there is room for it.
    fn has_room(&mut self, value: &Value, times: usize) -> bool {
        self.schemas <= MAX_SCHEMAS && weigh(value, times.max(1), &mut self.budget).is_ok()
    }

    fn changed(&mut self, path: &str, keyword: &str, action: &'static str, note: impl Into<String>) {
        let before = self.reported;
        self.reported += path.len();
        let (path, keyword, action, note) =
            match (before <= limits::MAX_REPORTED_BYTES, self.reported <= limits::MAX_REPORTED_BYTES) {
                (true, true) => (path, keyword, action, note.into()),
                (true, false) => {
                    ("", "", "removed", "further changes are not listed, their paths are too long".to_owned())
                }
                _ => return,
            };
        self.report.push(SchemaChange {
            tool_id: self.tool_id.to_owned(),
            path: path.to_owned(),
            keyword: keyword.to_owned(),
            action,
            note,
        });
    }

    fn removed(&mut self, path: &str, keyword: &str, note: &str) {
        self.changed(path, keyword, "removed", note);
    }

    fn rewritten(&mut self, path: &str, keyword: &str, note: &str) {
        self.changed(path, keyword, "rewritten", note);
    }

    /// Rewrites one schema and all within, nothing for one that no value fits.
    fn schema(&mut self, value: &Value, path: &str, depth: usize) -> Option<Value> {
        self.schemas += 1;
        if depth > limits::MAX_DEPTH || self.schemas > MAX_SCHEMAS {
            self.removed(path, "", "the schema is too large or too deep; this part is left open");
            return Some(json!({ "type": "string" }));
        }
        let before = self.open.len();
        let node = match value {
            Value::Object(map) => self.flat(map.clone(), path),
            Value::Bool(false) => None,
            _ => Some(JsonMap::new()),
        };
        let out = node.and_then(|node| match self.dialect {
            SchemaDialect::Gemini => self.gemini(node, path, depth),
            _ => Some(self.strict(node, path, depth)),
        });
        self.open.truncate(before);
        out.map(Value::Object)
    }

    /// Rewrites the properties of an object; those that no value fits are left out.
    fn properties(&mut self, node: &mut JsonMap, path: &str, depth: usize) {
        let Some(Value::Object(properties)) = node.get("properties") else {
            if node.shift_remove("properties").is_some() {
                self.removed(path, "properties", "not an object");
            }
            return;
        };
        let mut out = JsonMap::new();
        for (name, property) in &properties.clone() {
            let at = pointer(&pointer(path, "properties"), name);
            match self.schema(property, &at, depth + 1) {
                Some(schema) => {
                    out.insert(name.clone(), schema);
                }
                None => self.removed(&at, name, "no value fits this property"),
            }
        }
        node.insert("properties".to_owned(), Value::Object(out));
    }

    /// Rewrites a list of alternatives.
    fn alternatives(&mut self, list: &[Value], path: &str, depth: usize) -> Vec<Value> {
        let at = |index: usize| format!("{path}/anyOf/{index}");
        list.iter().enumerate().filter_map(|(index, value)| self.schema(value, &at(index), depth + 1)).collect()
    }

    /// Makes one list of alternatives of `anyOf` and `oneOf`.
    fn join_alternatives(&mut self, node: &mut JsonMap, path: &str) {
        let Some(one_of) = node.shift_remove("oneOf") else {
            return;
        };
        if node.contains_key("anyOf") {
            self.removed(path, "oneOf", "there is anyOf beside it");
        } else {
            self.rewritten(path, "oneOf", "anyOf: a value may fit more than one");
            node.insert("anyOf".to_owned(), one_of);
        }
    }

    /// Makes one schema for all entries of the form that gives each entry its own.
    fn join_items(&mut self, node: &mut JsonMap, path: &str) {
        if let Some(Value::Array(mut list)) = node.shift_remove("prefixItems") {
            // Beyond them there may be nothing.
            let rest = node.shift_remove("items").filter(|rest| *rest != json!({}) && *rest != json!({ "not": {} }));
            list.extend(rest);
            self.rewritten(path, "prefixItems", "any entry fits any place");
            node.insert("items".to_owned(), json!({ "anyOf": list }));
        }
    }

    /// Leaves out the keywords that are not in a list.
    fn keep_only(&mut self, node: &mut JsonMap, path: &str, allowed: &[&str], why: &str) {
        // Taken out one by one, each would move all that follow.
        node.retain(|key, _| {
            let is_kept = allowed.contains(&key.as_str());
            if !is_kept {
                self.removed(path, key, why);
            }
            is_kept
        });
    }
}

/// Counts the steps of copying a value so many times.
fn weigh(value: &Value, times: usize, budget: &mut StepBudget) -> Result<()> {
    match value {
        Value::String(text) => budget.charge(times.saturating_mul(1 + text.len() / STEP_BYTES)),
        Value::Array(list) => {
            budget.charge(times)?;
            list.iter().try_for_each(|value| weigh(value, times, budget))
        }
        Value::Object(map) => {
            budget.charge(times)?;
            map.iter().try_for_each(|(key, value)| {
                budget.charge(times.saturating_mul(key.len() / STEP_BYTES))?;
                weigh(value, times, budget)
            })
        }
        _ => budget.charge(times),
    }
}

/// Returns the texts of a list, to be asked for many times.
fn words(list: &[Value]) -> WordSet {
    WordSet::new(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Returns the types a schema names.
fn types(node: &JsonMap) -> Vec<String> {
    const KNOWN: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];
    let known = |value: &Value| value.as_str().filter(|name| KNOWN.contains(name)).map(str::to_owned);
    let mut out: Vec<String> = Vec::new();
    for name in match node.get("type") {
        Some(Value::Array(list)) => list.iter().filter_map(known).collect(),
        Some(one) => Vec::from_iter(known(one)),
        None => Vec::new(),
    } {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Returns the type that the other keywords of a schema speak of.
fn implied_type(node: &JsonMap) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| node.contains_key(*key));
    if has(&["properties", "additionalProperties", "required", "patternProperties"]) {
        Some("object")
    } else if has(&["items", "prefixItems", "minItems", "maxItems"]) {
        Some("array")
    } else if has(&["pattern", "format", "minLength", "maxLength"]) {
        Some("string")
    } else if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) {
        Some("number")
    } else {
        None
    }
}

// The properties need a crate that does not exist on WebAssembly.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
