//! Tools as providers take them.

use serde::Serialize;
use serde_json::{Value, json};

use super::downlevel::{SchemaChange, SchemaDialect, down_level, renamed_properties};
use super::names::{ToolNames, unknown_name};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::JsonMap;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, mask_secrets, redact_value};
use contextweaver_text::unicode::{sanitize, truncate};

/// The providers [`tools_for`] writes for.
pub const TOOL_PROVIDERS: &[&str] = &["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"];
/// Code points of a description that `OpenAI` takes.
const DESCRIPTION_CHARS: usize = 1024;

/// How tools are written for a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderOptions<'a> {
    /// One of [`TOOL_PROVIDERS`].
    pub provider: &'a str,
    /// Asks `OpenAI` to hold the model to the schema, which takes fewer keywords and no optional properties.
    pub strict: bool,
    /// Whether secrets in descriptions and schemas are masked.
    pub redact: bool,
}

impl<'a> ProviderOptions<'a> {
    /// Returns the defaults for a provider: not strict, secrets masked.
    pub const fn new(provider: &'a str) -> Self {
        Self { provider, strict: false, redact: true }
    }
}

/// Tools for one provider, and the way back from their names.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ProviderTools {
    /// Who they are for.
    pub provider: String,
    /// The tools in the provider's form.
    pub tools: Vec<Value>,
    /// Tool ids by the name given to the provider.
    #[cfg_attr(feature = "ts", ts(type = "Record<string, string>"))]
    pub name_to_tool_id: JsonMap,
    /// What was changed in schemas and descriptions.
    pub report: Vec<SchemaChange>,
    /// Properties that got names which the provider takes, with their own names, by the name of the tool. Arguments of a
    /// call get the own names by [`super::own_arguments`].
    #[serde(skip_serializing_if = "JsonMap::is_empty")]
    #[cfg_attr(feature = "ts", ts(optional, type = "Record<string, Record<string, string>>"))]
    pub renamed: JsonMap,
}

impl ProviderTools {
    /// Returns the tool of a name.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn resolve(&self, name: &str) -> Result<&str> {
        self.name_to_tool_id.get(name).and_then(Value::as_str).ok_or_else(|| unknown_name(name))
    }
}

fn unknown_provider(provider: &str, known: &[&str]) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("no provider is called {}", quote(provider)))
        .at("/provider")
        .hint(format!("one of {}", known.join(", ")))
}

/// Writes tools for a provider: with names it accepts and schemas it understands.
///
/// `names` are those of the whole catalog, so that a tool has the same name in every list; without them names are made
/// for these tools alone.
///
/// # Errors
///
/// Fails with `INVALID_INPUT` for an unknown provider and `NOT_FOUND` for a tool without a name.
///
/// # Examples
///
/// ```
/// # use contextweaver_routing::Catalog;
/// # use serde_json::json;
/// # let catalog = Catalog::from_value(json!({ "items": [
/// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
/// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
/// # ] }), "")?;
///
/// use contextweaver_routing::{ProviderOptions, tools_for};
///
/// let written = tools_for(catalog.items(), &ProviderOptions::new("anthropic"), None)?;
/// assert_eq!(written.tools[1]["name"], "send_mail");
/// // The model calls `send_mail`: that is our tool `mail.send`.
/// assert_eq!(written.resolve("send_mail")?, "mail.send");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn tools_for<'a>(
    items: impl Iterator<Item = &'a SelectableItem> + Clone,
    options: &ProviderOptions,
    names: Option<&ToolNames>,
) -> Result<ProviderTools> {
    let dialect = match options.provider {
        "openai-chat" | "openai-responses" if options.strict => SchemaDialect::OpenAiStrict,
        "openai-chat" | "openai-responses" | "ai-sdk" => SchemaDialect::OpenAi,
        "anthropic" => SchemaDialect::Anthropic,
        "gemini" => SchemaDialect::Gemini,
        other => return Err(unknown_provider(other, TOOL_PROVIDERS)),
    };
    let own;
    let names = if let Some(names) = names {
        names
    } else {
        own = ToolNames::new(items.clone().map(|item| (item.id.as_str(), item.name.as_str())));
        &own
    };
    let mut out = ProviderTools {
        provider: options.provider.to_owned(),
        tools: Vec::new(),
        name_to_tool_id: JsonMap::new(),
        report: Vec::new(),
        renamed: JsonMap::new(),
    };
    for item in items {
        let name = names.name_of(&item.id).ok_or_else(|| {
            Error::new(ErrorCode::NotFound, format!("no name was made for the tool {}", quote(&item.id)))
        })?;
        out.name_to_tool_id.insert(name.to_owned(), Value::from(item.id.as_str()));
        let description = description(item, options, &mut out.report);
        let mut schema = down_level(&item.args_schema, dialect, &item.id, &mut out.report);
        if dialect == SchemaDialect::Anthropic {
            let renamed = renamed_properties(&item.args_schema);
            if !renamed.is_empty() {
                out.renamed.insert(name.to_owned(), Value::Object(renamed));
            }
        }
        if options.redact {
            schema = redact_value(&schema, SECRET_MASK);
        }
        out.tools.push(provider_tool(options, name, &description, schema));
    }
    Ok(out)
}

/// Writes the description of a tool, its name when it has none: everything invisible in it shows.
fn description(item: &SelectableItem, options: &ProviderOptions, report: &mut Vec<SchemaChange>) -> String {
    let text = if item.description.is_empty() { &item.name } else { &item.description };
    let clean = sanitize(text);
    let text = if options.redact { mask_secrets(&clean).into_owned() } else { clean };
    if !options.provider.starts_with("openai") || text.chars().nth(DESCRIPTION_CHARS).is_none() {
        return text;
    }
    report.push(SchemaChange {
        tool_id: item.id.clone(),
        path: String::new(),
        keyword: "description".to_owned(),
        action: "rewritten",
        note: format!("cut to {DESCRIPTION_CHARS} characters"),
    });
    truncate(&text, DESCRIPTION_CHARS - 1)
}

/// Puts the parts of a tool into the form of the provider.
fn provider_tool(options: &ProviderOptions, name: &str, description: &str, schema: Value) -> Value {
    match options.provider {
        "openai-chat" => {
            let mut function = json!({ "name": name, "description": description, "parameters": schema });
            if options.strict {
                function["strict"] = json!(true);
            }
            json!({ "type": "function", "function": function })
        }
        // Strict is the default there, so it is said in either case.
        "openai-responses" => json!({
            "type": "function", "name": name, "description": description, "parameters": schema,
            "strict": options.strict,
        }),
        "anthropic" => json!({ "name": name, "description": description, "input_schema": schema }),
        "gemini" => {
            let mut tool = json!({ "name": name, "description": description });
            // An object without properties is refused; a function without parameters is not.
            if schema.get("properties").is_some() {
                tool["parameters"] = schema;
            }
            tool
        }
        _ => json!({ "type": "function", "name": name, "description": description, "inputSchema": schema }),
    }
}
