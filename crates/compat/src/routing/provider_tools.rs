//! Tools as 0.18 writes them for providers.

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::JsonMap;
use contextweaver_routing::cards::ProviderTools;
use contextweaver_text::quote::quote;
use serde_json::{Value, json};

/// The providers that 0.18 knows.
const PROVIDERS: &[&str] = &["openai", "anthropic", "gemini"];

/// Writes tools as 0.18 does; `schema` gives the schema of a tool that has none of its own.
///
/// Names depend on the order of the tools here, and schemas stay as they are.
///
/// # Errors
/// `INVALID_INPUT` for another provider than `openai`, `anthropic` and `gemini`.
///
/// ```
/// use contextweaver_compat::routing::export_tools;
/// use contextweaver_model::SelectableItem;
///
/// let item = SelectableItem { id: "t1".into(), name: "get weather".into(), ..SelectableItem::default() };
/// let exported = export_tools(std::iter::once(&item), "anthropic", &|_| None)?;
/// assert_eq!(exported.tools[0]["name"], "get_weather");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn export_tools<'a>(
    items: impl Iterator<Item = &'a SelectableItem>,
    provider: &str,
    schema: &dyn Fn(&str) -> Option<JsonMap>,
) -> Result<ProviderTools> {
    if !PROVIDERS.contains(&provider) {
        return Err(Error::new(ErrorCode::InvalidInput, format!("no provider is called {}", quote(provider)))
            .at("/provider")
            .hint(format!("one of {}", PROVIDERS.join(", "))));
    }
    let own = if provider == "openai" { "openai-chat" } else { provider };
    let mut taken = SortedMap::new();
    let mut out = ProviderTools {
        provider: provider.to_owned(),
        tools: Vec::new(),
        name_to_tool_id: JsonMap::new(),
        report: Vec::new(),
        renamed: JsonMap::new(),
    };
    for item in items {
        let name = legal_name(item, &mut taken);
        let description = if item.description.is_empty() { &item.name } else { &item.description };
        let mut parameters = item.args_schema.clone();
        if parameters.is_empty() {
            parameters = schema(&item.id).filter(|schema| !schema.is_empty()).unwrap_or_else(|| {
                JsonMap::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), json!({}))])
            });
        }
        let mut tool = json!({ "name": name, "description": description });
        let key = if provider == "anthropic" { "input_schema" } else { "parameters" };
        tool[key] = Value::Object(parameters);
        out.tools.push(if own == "openai-chat" { json!({ "type": "function", "function": tool }) } else { tool });
        out.name_to_tool_id.insert(name, Value::from(item.id.as_str()));
    }
    Ok(out)
}

/// Makes a name: from the name, with the namespace when that is taken, then with a number.
fn legal_name(item: &SelectableItem, taken: &mut SortedMap<String, u64>) -> String {
    let clean = |text: &str| {
        let legal: String = text
            .chars()
            .map(|ch| if ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-') { ch } else { '_' })
            .collect();
        let legal = legal.trim_matches('_');
        let name = if legal.is_empty() { "tool" } else { legal };
        name[..name.len().min(64)].to_owned()
    };
    let mut base = clean(&item.name);
    if taken.contains_key(&base) && !item.namespace.is_empty() {
        base = clean(&format!("{}__{base}", item.namespace));
    }
    // Every name keeps the number to try next, as a number taken stays taken.
    let mut name = base.clone();
    while taken.contains_key(&name) {
        let number = taken.get_or_insert(&base, 2);
        let suffix = format!("_{number}");
        *number += 1;
        name = base[..base.len().min(64 - suffix.len())].to_owned() + &suffix;
    }
    taken.insert(name.clone(), 2);
    name
}
