//! Resources and prompts of `resources/list` and `prompts/list` as items.

use serde_json::{Value, json};

use super::namespace::{infer_namespace, legal, legal_namespace};
use super::tool::{ConvertedTool, ToolReader, required_text};
use super::tool_id::{prompt_id, resource_id};
use contextweaver_base::Result;
use contextweaver_base::order;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, type_name, wrong_type};

/// Characters of the tag that says of what type a resource is, and of the namespace and the name in an id.
const TAG_CHARS: usize = 24;
const NAMESPACE_CHARS: usize = 64;
const NAME_CHARS: usize = 128;

/// Reads one resource of `resources/list`; only one without a `uri` is an error. Its namespace is the server, or else
/// the scheme of its address. Nothing is fetched.
///
/// # Errors
/// `INVALID_INPUT` for what is no object, `MISSING_FIELD` for a resource without a `uri`.
///
/// ```
/// use contextweaver_convert::mcp::mcp_resource_to_selectable;
/// use serde_json::json;
///
/// let converted = mcp_resource_to_selectable(json!({ "uri": "file:///readme.md", "name": "readme" }), Some("docs"))?;
/// assert_eq!((converted.item.kind.as_str(), converted.item.namespace.as_str()), ("resource", "docs"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_resource_to_selectable(resource: Value, server: Option<&str>) -> Result<ConvertedTool> {
    let mut map = object(resource)?;
    let uri = required_text(map.shift_remove("uri"), "resource", "uri")?;
    let mut reader = ToolReader::default();
    let mut text = |key: &str| reader.text(key, map.shift_remove(key));
    let (name, title, description) = (text("name"), text("title"), text("description"));
    let media_type = text("mimeType").unwrap_or_default();
    let part = legal_part(name.as_deref().unwrap_or_else(|| last_segment(&uri)));
    let namespace = server.map_or_else(|| scheme(&uri), str::to_owned);
    let mut tags = vec!["mcp".to_owned(), "read-only".to_owned(), "resource".to_owned()];
    if !media_type.is_empty() {
        tags.push(legal_part(&media_type).to_lowercase().chars().take(TAG_CHARS).collect());
    }
    order::sort(&mut tags);
    tags.dedup();
    let name = name.unwrap_or_else(|| uri.clone());
    reader.rest(map);
    let item = SelectableItem {
        id: resource_id(&legal_namespace(&namespace), &part, &uri)?,
        kind: "resource".to_owned(),
        namespace,
        description: description.or_else(|| title.clone()).unwrap_or_else(|| name.clone()),
        name,
        title,
        tags,
        metadata: entries(json!({ "uri": uri, "mime_type": media_type, "primitive": "resource" })),
        ..SelectableItem::default()
    };
    Ok(reader.finish(item))
}

/// Reads one prompt of `prompts/list`; only one without a `name` is an error. Its arguments become a schema of strings.
///
/// # Errors
/// `INVALID_INPUT` for what is no object, `MISSING_FIELD` for a prompt without a `name`.
///
/// ```
/// use contextweaver_convert::mcp::mcp_prompt_to_selectable;
/// use serde_json::json;
///
/// let prompt = json!({ "name": "review", "arguments": [{ "name": "code", "required": true }] });
/// let item = mcp_prompt_to_selectable(prompt, None)?.item;
/// assert_eq!(item.kind, "prompt");
/// assert_eq!(item.args_schema["required"], json!(["code"]));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_prompt_to_selectable(prompt: Value, server: Option<&str>) -> Result<ConvertedTool> {
    let mut map = object(prompt)?;
    let name = required_text(map.shift_remove("name"), "prompt", "name")?;
    let mut reader = ToolReader::default();
    let mut text = |key: &str| reader.text(key, map.shift_remove(key));
    let (title, description) = (text("title"), text("description"));
    let (args_schema, names) = reader.prompt_arguments(map.shift_remove("arguments"));
    let namespace = server.unwrap_or_else(|| infer_namespace(&name)).to_owned();
    let part = legal_part(&name);
    reader.rest(map);
    let item = SelectableItem {
        id: prompt_id(&legal_namespace(&namespace), &part, &part, &names)?,
        kind: "prompt".to_owned(),
        namespace,
        description: description.or_else(|| title.clone()).unwrap_or_else(|| name.clone()),
        title,
        tags: vec!["mcp".to_owned(), "prompt".to_owned()],
        args_schema,
        metadata: entries(json!({ "prompt_name": name, "primitive": "prompt", "arguments": names })),
        name,
        ..SelectableItem::default()
    };
    Ok(reader.finish(item))
}

impl ToolReader {
    /// Reads the arguments of a prompt; returns their schema, and their names in order.
    fn prompt_arguments(&mut self, value: Option<Value>) -> (JsonMap, Vec<String>) {
        let (mut properties, mut names, mut required) = (JsonMap::new(), Vec::new(), Vec::new());
        let list = match value {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.ignore("arguments", "a list", other);
                Vec::new()
            }
        };
        let mut ignored = false;
        for (at, argument) in list.iter().enumerate() {
            let path = format!("/arguments/{at}");
            let name = argument.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            let Some(name) = name.filter(|name| !properties.contains_key(*name)) else {
                let message = format!("{} without a name of its own; ignored", type_name(argument));
                self.warn("field-ignored", &message, &path);
                ignored = true;
                continue;
            };
            let mut property = entries(json!({ "type": "string" }));
            for key in ["title", "description"] {
                if let Some(text @ Value::String(_)) = argument.get(key) {
                    property.insert(key.to_owned(), text.clone());
                }
            }
            properties.insert(name.to_owned(), Value::Object(property));
            names.push(name.to_owned());
            if argument["required"] == true {
                required.push(name.to_owned());
            }
        }
        if ignored {
            self.kept_as_given("arguments", Value::Array(list));
        }
        let mut schema = entries(json!({ "type": "object", "properties": properties }));
        if !required.is_empty() {
            order::sort(&mut required);
            schema.insert("required".to_owned(), required.into());
        }
        (schema, names)
    }
}

fn object(value: Value) -> Result<JsonMap> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(wrong_type("", "an object", &other)),
    }
}

fn entries(value: Value) -> JsonMap {
    match value {
        Value::Object(map) => map,
        _ => JsonMap::new(),
    }
}

/// The last named step of an address.
fn last_segment(uri: &str) -> &str {
    let uri = uri.trim_end_matches('/');
    uri.rsplit_once('/').map_or(uri, |(_, last)| last)
}

/// The scheme of an address as a namespace; `mcp` when it has none.
fn scheme(uri: &str) -> String {
    let scheme = uri.split_once("://").or_else(|| uri.split_once(':')).map_or("", |(scheme, _)| scheme);
    let known = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || matches!(ch, '_' | '-');
    let scheme: String = scheme.to_lowercase().chars().map(|ch| if known(ch) { ch } else { '-' }).collect();
    let scheme = scheme.trim_matches(['-', '_']);
    let named = match scheme.chars().next() {
        None => "mcp".to_owned(),
        Some('a'..='z') => scheme.to_owned(),
        Some(_) => format!("mcp-{scheme}"),
    };
    named.chars().take(NAMESPACE_CHARS).collect()
}

/// A name as the part of an id.
fn legal_part(text: &str) -> String {
    let part = legal(text, usize::MAX);
    let part = part.trim_matches(['-', '.']);
    let part = match part.chars().next() {
        None => "item".to_owned(),
        Some(first) if first == '_' || first.is_ascii_alphabetic() => part.to_owned(),
        Some(_) => format!("r_{part}"),
    };
    part.chars().take(NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(value: Value) -> SelectableItem {
        mcp_resource_to_selectable(value, None).unwrap().item
    }

    #[test]
    fn addresses_become_ids() {
        for (uri, id, namespace) in [
            ("x", "resource::mcp:x#50743abb", "mcp"),
            ("a:", "resource::a:a_#3423ae1e", "a"),
            ("://x", "resource::mcp:x#23e53ab8", "mcp"),
            ("file:///a/b/", "resource::file:b#e9394931", "file"),
            ("A+b://c", "resource::a-b:c#7b7e5945", "a-b"),
            ("é://x", "resource::mcp:x#ac8de17d", "mcp"),
            (" u:x ", "resource::u:_u_x_#9cfd27d0", "u"),
            ("-_://x", "resource::mcp:x#902aaced", "mcp"),
            ("u:x?q=1#f", "resource::u:u_x_q_1_f#dbee3c10", "u"),
        ] {
            let item = resource(json!({ "uri": uri }));
            assert_eq!((item.id.as_str(), item.namespace.as_str()), (id, namespace), "{uri}");
        }
        assert_eq!(resource(json!({ "uri": "9:q", "name": "9p" })).id, "resource::mcp-9:r_9p#4c55c29f");
        assert_eq!(resource(json!({ "uri": "A+b://c", "name": "..." })).id, "resource::a-b:item#7b7e5945");
        assert!(resource(json!({ "uri": format!("http://h/{}", "y".repeat(500)) })).id.len() < 240);
        let server = mcp_resource_to_selectable(json!({ "uri": "u:x" }), Some("My Server")).unwrap().item;
        assert_eq!((server.namespace.as_str(), server.id.as_str()), ("My Server", "resource::my_server:u_x#6315f572"));
    }

    #[test]
    fn what_an_item_has_no_field_for_is_kept() {
        let item = resource(json!({ "uri": "u:x", "title": "T", "size": 5, "mimeType": "---a/b.---", "_meta": {} }));
        assert_eq!((item.title.as_deref(), item.description.as_str()), (Some("T"), "T"));
        assert_eq!(item.tags, ["a_b", "mcp", "read-only", "resource"]);
        assert_eq!(item.metadata["_contextweaver"]["mcp"]["fields"], json!({ "size": 5, "_meta": {} }));
        let converted = mcp_resource_to_selectable(json!({ "uri": "u:x", "name": 5 }), None).unwrap();
        assert_eq!(converted.warnings[0].path, "/name");
        assert_eq!(converted.item.metadata["_contextweaver"]["mcp"]["given"], json!({ "name": 5 }));
    }

    #[test]
    fn arguments_of_prompts_are_a_schema_of_strings() {
        let arguments = json!([{ "name": "b", "required": true }, { "name": "" }, 5, { "name": "b" }, { "name": "a",
            "description": "A", "required": true }, { "name": "c", "required": "yes" }]);
        let converted = mcp_prompt_to_selectable(json!({ "name": "Gh.p", "arguments": arguments }), None).unwrap();
        let item = converted.item;
        assert_eq!(
            item.args_schema,
            entries(json!({
                "type": "object",
                "properties": {
                    "b": { "type": "string" }, "a": { "type": "string", "description": "A" }, "c": { "type": "string" },
                },
                "required": ["a", "b"],
            }))
        );
        assert_eq!(item.metadata["arguments"], json!(["b", "a", "c"]));
        assert!(item.id.starts_with("prompt::gh:Gh.p#") && item.namespace == "Gh", "{}", item.id);
        let paths: Vec<&str> = converted.warnings.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!(paths, ["/arguments/1", "/arguments/2", "/arguments/3"]);
        assert_eq!(item.metadata["_contextweaver"]["mcp"]["given"]["arguments"], arguments);
    }

    #[test]
    fn what_names_nothing_is_an_error() {
        for (value, path) in [(json!({}), "/uri"), (json!({ "uri": " " }), "/uri"), (json!({ "uri": 5 }), "/uri")] {
            assert_eq!(mcp_resource_to_selectable(value, None).unwrap_err().path(), path);
        }
        assert_eq!(mcp_prompt_to_selectable(json!({ "name": null }), None).unwrap_err().path(), "/name");
        assert_eq!(mcp_prompt_to_selectable(json!([]), None).unwrap_err().path(), "");
    }
}
