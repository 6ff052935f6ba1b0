//! What the operator of a gateway says of tools in place of their servers: other names and descriptions, arguments that are given
//! in any case, and tools that are not there for clients.

use serde_json::{Value, json};

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap, pointer};
use contextweaver_text::quote::quote;

use crate::front::{JOINT, is_legal_name};
use crate::repair::{ArgumentRepair, FIXED_RULE};

/// Characters of a name that the operator gives: more of them model providers refuse.
const NAME_CHARS: usize = 64;

/// What is said of one tool in place of its server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOverride {
    /// The name that clients see.
    pub name: Option<String>,
    /// The description that clients see.
    pub description: Option<String>,
    /// Whether the tool is there for nobody.
    pub hide: bool,
    /// Arguments that a call is given where it has none of the name.
    pub defaults: JsonMap,
    /// Arguments that every call is given, and that clients do not see.
    pub fixed: JsonMap,
    /// Most tokens of a result that clients get.
    pub result_tokens: Option<u64>,
    /// Where it is said, as a JSON pointer into the options.
    pub path: String,
}

/// Overrides by the name that their server has for the tool.
pub type ToolOverrides = SortedMap<String, ToolOverride>;

/// Reads the overrides of a field: an object by the names of tools.
pub(crate) fn overrides(fields: &mut Fields, key: &'static str) -> Result<ToolOverrides> {
    let at = fields.at(key);
    let mut map = ToolOverrides::new();
    for (tool, value) in fields.object(key)? {
        let read = ToolOverride::from_value(value, &pointer(&at, &tool))?;
        map.insert(tool, read);
    }
    Ok(map)
}

impl ToolOverride {
    /// Reads `{name?, description?, hide?, arguments?: {defaults?, fixed?}, result_tokens?}`.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD`, `INVALID_INPUT`, `OUT_OF_RANGE` and `DUPLICATE_ID`, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut read = Self {
            name: fields.opt_string("name")?,
            description: fields.opt_string("description")?,
            hide: fields.bool_or("hide", false)?,
            result_tokens: result_tokens(&mut fields, "result_tokens")?,
            path: path.to_owned(),
            ..Self::default()
        };
        if let Some(mut arguments) = fields.nested("arguments")? {
            read.defaults = arguments.object("defaults")?;
            read.fixed = arguments.object("fixed")?;
            let at = arguments.at("fixed");
            arguments.finish()?;
            if let Some(twice) = read.fixed.keys().find(|name| read.defaults.contains_key(*name)) {
                let message = format!("the argument {} has a default and is fixed", quote(twice));
                let error = Error::new(ErrorCode::DuplicateId, message).at(pointer(&at, twice));
                return Err(error.hint("a fixed argument is given in any case: leave its default out"));
            }
        }
        fields.finish()?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<()> {
        let refused = |field: &str, message: String, hint: &str| {
            Err(Error::new(ErrorCode::InvalidInput, message).at(pointer(&self.path, field)).hint(hint.to_owned()))
        };
        if self.description.as_deref().is_some_and(|text| text.trim().is_empty()) {
            let hint = "leave it out to keep the server's own";
            return refused("description", "the description is empty".to_owned(), hint);
        }
        let Some(name) = &self.name else { return Ok(()) };
        if !is_legal_name(name, NAME_CHARS) {
            let hint = format!("letters, digits, `_`, `.` and `-`, at most {NAME_CHARS}");
            return refused("name", format!("{} is no name of a tool", quote(name)), &hint);
        }
        // Such a name could be that of another server's tool with the server before it.
        if name.contains(JOINT) || name.starts_with('_') {
            let hint = format!("a name without {JOINT}, which does not begin with `_`");
            return refused("name", format!("{} reads like a server and its tool", quote(name)), &hint);
        }
        Ok(())
    }

    /// Whether it says anything of the arguments.
    pub(crate) fn has_arguments(&self) -> bool {
        !self.defaults.is_empty() || !self.fixed.is_empty()
    }

    /// The schema that clients see: without what is fixed, and with defaults that a call need not give.
    pub(crate) fn shown_schema(&self, schema: &JsonMap) -> JsonMap {
        let mut shown = schema.clone();
        if let Some(Value::Object(properties)) = shown.get_mut("properties") {
            properties.retain(|name, _| !self.fixed.contains_key(name));
            for (name, value) in &self.defaults {
                if let Some(Value::Object(property)) = properties.get_mut(name) {
                    property.insert("default".to_owned(), value.clone());
                }
            }
        }
        if let Some(Value::Array(required)) = shown.get_mut("required") {
            let is_given = |name: &Value| {
                name.as_str().is_some_and(|name| self.fixed.contains_key(name) || self.defaults.contains_key(name))
            };
            required.retain(|name| !is_given(name));
            if required.is_empty() {
                shown.shift_remove("required");
            }
        }
        shown
    }

    /// Completes the arguments of a call; says which of them a client gave that are not for it to give.
    pub(crate) fn complete(&self, schema: &JsonMap, arguments: &mut JsonMap) -> Vec<ArgumentRepair> {
        for (name, value) in &self.defaults {
            // Models write null for what they leave out.
            let is_absent = match arguments.get(name) {
                None => true,
                Some(Value::Null) => !takes_null(schema, name),
                Some(_) => false,
            };
            if is_absent {
                arguments.insert(name.clone(), value.clone());
            }
        }
        let mut repairs = Vec::new();
        for (name, value) in &self.fixed {
            let given = arguments.insert(name.clone(), value.clone());
            if given.is_some_and(|given| given != *value) {
                repairs.push(ArgumentRepair { path: format!("$.{name}"), rule: FIXED_RULE });
            }
        }
        repairs
    }
}

fn takes_null(schema: &JsonMap, name: &str) -> bool {
    let property = schema.get("properties").and_then(|all| all.get(name)).cloned().unwrap_or_else(|| json!({}));
    match property.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        Some(name) => name == "null",
        None => property.get("anyOf").or_else(|| property.get("oneOf")).is_some(),
    }
}

/// The overrides of one server: its own, and those of the gateway whose key begins with its name.
pub(crate) fn of_server(server: &str, own: &ToolOverrides, all: &ToolOverrides) -> ToolOverrides {
    let mut found = own.clone();
    for (tool, said) in named(server, all) {
        found.insert(tool.to_owned(), said.clone());
    }
    found
}

/// The overrides of the gateway that speak of a server's tools, by the names of these.
fn named<'a>(server: &'a str, all: &'a ToolOverrides) -> impl Iterator<Item = (&'a str, &'a ToolOverride)> {
    let of_server = move |key: &'a str| key.strip_prefix(server)?.strip_prefix(JOINT);
    all.iter().filter_map(move |(key, said)| Some((of_server(key)?, said)))
}

/// Checks that no tool is spoken of by its server's overrides and by the gateway's.
pub(crate) fn check_distinct(server: &str, own: &ToolOverrides, all: &ToolOverrides) -> Result<()> {
    let Some((tool, said, other)) = named(server, all).find_map(|(tool, said)| Some((tool, said, own.get(tool)?)))
    else {
        return Ok(());
    };
    let message = format!("two overrides speak of the tool {} of {}", quote(tool), quote(server));
    let error = Error::new(ErrorCode::DuplicateId, message).at(said.path.clone());
    Err(error.hint(format!("the other one is at {}", other.path)))
}

/// Reads how many tokens of a result clients get.
pub(crate) fn result_tokens(fields: &mut Fields, key: &'static str) -> Result<Option<u64>> {
    let tokens = fields.opt_uint(key, limits::MAX_BUDGET_TOKENS)?;
    if tokens == Some(0) {
        return Err(Error::new(ErrorCode::OutOfRange, format!("`{key}` is at least 1")).at(fields.at(key)));
    }
    Ok(tokens)
}
