//! Operations on records of the Model Context Protocol.

use serde_json::{Value, json};

use super::{done, unknown};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::mcp::{
    ConvertedTool, IdForm, Revision, ToolOptions, describe, infer_namespace, load_mcp_session_jsonl,
    mcp_prompt_to_selectable, mcp_resource_to_selectable, mcp_tool_to_selectable, selectable_to_mcp_tool,
};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{Fields, wrong_type};
use contextweaver_text::unicode::trim;

/// The operations of this file.
pub const OPERATIONS: &[&str] = &[
    "mcp_tool_to_selectable",
    "mcp_resource_to_selectable",
    "mcp_prompt_to_selectable",
    "selectable_to_mcp_tool",
    "infer_namespace",
    "load_mcp_session",
];

/// Runs an operation.
pub fn call(operation: &str, fields: Fields) -> Result<String> {
    match operation {
        "mcp_tool_to_selectable" => tool(fields),
        "mcp_resource_to_selectable" => listed(fields, "resource", mcp_resource_to_selectable),
        "mcp_prompt_to_selectable" => listed(fields, "prompt", mcp_prompt_to_selectable),
        "selectable_to_mcp_tool" => back(fields),
        "infer_namespace" => namespace(fields),
        "load_mcp_session" => session(fields),
        other => Err(unknown(other)),
    }
}

/// Takes how tools of a server are read: `server`, `id_form`, `verb_namespaces`.
pub fn tool_options(fields: &mut Fields) -> Result<ToolOptions> {
    let base = ToolOptions::default();
    Ok(ToolOptions {
        server: server(fields)?,
        id_form: fields.parsed_or("id_form", base.id_form, IdForm::parse)?,
        verb_namespaces: fields.bool_or("verb_namespaces", base.verb_namespaces)?,
    })
}

fn server(fields: &mut Fields) -> Result<Option<String>> {
    let server = fields.opt_string("server")?;
    if server.as_deref().is_some_and(|server| trim(server).is_empty()) {
        return Err(Error::new(ErrorCode::InvalidInput, "the name of the server is blank").at(fields.at("server")));
    }
    Ok(server)
}

/// `{tool, server?, id_form?, verb_namespaces?}` gives `{item, warnings}`.
fn tool(mut fields: Fields) -> Result<String> {
    let tool = fields.require("tool")?;
    let options = tool_options(&mut fields)?;
    fields.finish()?;
    let converted = mcp_tool_to_selectable(tool, &options).map_err(|error| below("tool", error))?;
    done(&json!({ "item": describe(&converted)?, "warnings": converted.warnings }))
}

fn below(key: &str, error: Error) -> Error {
    let path = format!("/{key}{}", error.path());
    error.under(path)
}

type Listed = fn(Value, Option<&str>) -> Result<ConvertedTool>;

/// `{resource, server?}` and `{prompt, server?}` give `{item, warnings}`.
fn listed(mut fields: Fields, key: &'static str, convert: Listed) -> Result<String> {
    let given = fields.require(key)?;
    let server = server(&mut fields)?;
    fields.finish()?;
    let converted = convert(given, server.as_deref()).map_err(|error| below(key, error))?;
    done(&json!({ "item": converted.with_warnings(), "warnings": converted.warnings }))
}

/// `{item, revision?}` gives `{tool, report}`.
fn back(mut fields: Fields) -> Result<String> {
    let item: SelectableItem = fields.get("item")?;
    let revision = fields.opt_string("revision")?;
    let revision = revision.map(|name| Revision::parse(&name).map_err(|error| error.at("/revision"))).transpose()?;
    fields.finish()?;
    done(&selectable_to_mcp_tool(&item, revision))
}

/// `{name}` gives `{namespace}`.
fn namespace(mut fields: Fields) -> Result<String> {
    let name = fields.string("name")?;
    fields.finish()?;
    done(&json!({ "namespace": infer_namespace(&name) }))
}

/// `{text, strict?}` gives `{items, warnings}`.
fn session(mut fields: Fields) -> Result<String> {
    // A session may be longer than any one text of it.
    let text = match fields.require("text")? {
        Value::String(text) => text,
        other => return Err(wrong_type("/text", "a string", &other)),
    };
    let strict = fields.bool_or("strict", true)?;
    fields.finish()?;
    // The fields an error speaks of are those of a line; in the arguments it is the text.
    let in_text = |error: Error| error.under("/text");
    done(&load_mcp_session_jsonl(&text, strict).map_err(in_text)?)
}
