//! Operations on definitions of tools, their results and their arguments.

use serde_json::{Value, json};

use super::{done, unknown};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::mcp::{IdForm, Revision, ToolOptions, describe};
use contextweaver_convert::tools::{
    DataFormat, FetchedAt, McpToToolDefinitionOptions, McpToToolResultOptions, MetaPrefix, SchemaFormat,
    ToolDefinitionToMcpOptions, ToolResultToMcpOptions, ToolSchemaOptions, from_mcp_result, from_mcp_tool,
    from_mcp_tools, to_mcp_result, to_mcp_tool, to_mcp_tools, tool_definition_to_selectable, validate_args,
};
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;

/// The operations of this file. Paths of errors and warnings are those in the definition, tool or result itself, and in
/// the options.
pub const OPERATIONS: &[&str] = &[
    "tool_definition_to_mcp",
    "mcp_to_tool_definition",
    "tool_definition_to_selectable",
    "tool_result_to_mcp",
    "mcp_to_tool_result",
    "validate_args",
];

/// Runs an operation.
pub fn call(operation: &str, fields: Fields) -> Result<String> {
    match operation {
        "tool_definition_to_mcp" => to_mcp(fields),
        "mcp_to_tool_definition" => from_mcp(fields),
        "tool_definition_to_selectable" => to_selectable(fields),
        "tool_result_to_mcp" => result_to_mcp(fields),
        "mcp_to_tool_result" => result_from_mcp(fields),
        "validate_args" => validate(fields),
        other => Err(unknown(other)),
    }
}

/// Takes one of several words.
fn word<T: Copy>(fields: &mut Fields, key: &'static str, default: T, words: &[(&str, T)]) -> Result<T> {
    let Some(given) = fields.opt_string(key)? else { return Ok(default) };
    words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Error::new(ErrorCode::InvalidInput, format!("{} is none of the known words", quote(&given)))
            .at(fields.at(key))
            .hint(format!("one of {}", known.join(", ")))
    })
}

fn revision(fields: &mut Fields) -> Result<Revision> {
    fields.parsed_or("protocolVersion", Revision::default(), Revision::parse)
}

fn prefix(fields: &mut Fields) -> Result<MetaPrefix> {
    fields.parsed_or("prefix", MetaPrefix::default(), MetaPrefix::new)
}

/// Takes `protocolVersion`, `prefix`, `meta`, `title`, `tagsInDescription`, `schemaFormat`, `inlineRefs`.
fn to_mcp_options(fields: &mut Fields) -> Result<ToolDefinitionToMcpOptions> {
    let format = |text: &str| SchemaFormat::parse(text).map(Some);
    Ok(ToolDefinitionToMcpOptions {
        schema: ToolSchemaOptions {
            revision: revision(fields)?,
            format: fields.parsed_or("schemaFormat", None, format)?,
            inline_refs: fields.bool_or("inlineRefs", false)?,
        },
        prefix: prefix(fields)?,
        meta: fields.bool_or("meta", true)?,
        humanize_title: word(fields, "title", false, &[("keep", false), ("humanize", true)])?,
        tags_in_description: fields.bool_or("tagsInDescription", false)?,
    })
}

/// `{definition, …options}` gives `{tool, handler, warnings}`, `{definitions, strict?, …options}` gives
/// `{tools, handlers, errors, warnings}`.
fn to_mcp(mut fields: Fields) -> Result<String> {
    let options = to_mcp_options(&mut fields)?;
    if !fields.has("definitions") {
        let definition = fields.require("definition")?;
        fields.finish()?;
        return done(&to_mcp_tool(&definition, "", &options)?);
    }
    let definitions = fields.list("definitions")?;
    let strict = fields.bool_or("strict", false)?;
    fields.finish()?;
    done(&to_mcp_tools(&definitions, &options, strict)?)
}

/// `{tool, trusted?, prefix?, rename?}` gives `{definition, mcp_name?, warnings}`, `{tools, strict?, …}` gives
/// `{definitions, names, errors, warnings}`.
fn from_mcp(mut fields: Fields) -> Result<String> {
    let options = McpToToolDefinitionOptions {
        prefix: prefix(&mut fields)?,
        trusted: fields.bool_or("trusted", false)?,
        snake_case: word(&mut fields, "rename", false, &[("keep", false), ("snake_case", true)])?,
    };
    if !fields.has("tools") {
        let tool = fields.require("tool")?;
        fields.finish()?;
        return done(&from_mcp_tool(&tool, "", &options)?);
    }
    let tools = fields.list("tools")?;
    let strict = fields.bool_or("strict", false)?;
    fields.finish()?;
    done(&from_mcp_tools(&tools, &options, strict)?)
}

/// `{definition, server?, id_form?, namespace?, …options}` gives `{item, warnings}`.
fn to_selectable(mut fields: Fields) -> Result<String> {
    let mapping = to_mcp_options(&mut fields)?;
    let base = ToolOptions::default();
    let tool = ToolOptions {
        server: fields.opt_string("server")?,
        id_form: fields.parsed_or("id_form", base.id_form, IdForm::parse)?,
        ..base
    };
    let namespace = fields.opt_string("namespace")?;
    let definition = fields.require("definition")?;
    fields.finish()?;
    let converted = tool_definition_to_selectable(&definition, "", &mapping, &tool, namespace)?;
    done(&json!({ "item": describe(&converted)?, "warnings": converted.warnings }))
}

/// `{result, protocolVersion?, prefix?, wrapKey?, fetchedAt?, explicitIsError?, dedupePrefix?, render?, text?,
/// outputSchema?}` gives `{result, warnings}`.
fn result_to_mcp(mut fields: Fields) -> Result<String> {
    let times = [("meta", FetchedAt::Meta), ("structured", FetchedAt::Structured), ("omit", FetchedAt::Omit)];
    let renders = [("json", DataFormat::Json), ("pretty", DataFormat::Pretty), ("summary", DataFormat::Summary)];
    let options = ToolResultToMcpOptions {
        revision: revision(&mut fields)?,
        prefix: prefix(&mut fields)?,
        wrap_key: fields.string_or("wrapKey", "result")?,
        fetched_at: word(&mut fields, "fetchedAt", FetchedAt::Meta, &times)?,
        explicit_is_error: fields.bool_or("explicitIsError", false)?,
        dedupe_prefix: fields.bool_or("dedupePrefix", false)?,
        render: word(&mut fields, "render", DataFormat::Json, &renders)?,
        text: fields.opt_string("text")?,
        output_schema: fields.take("outputSchema"),
    };
    let result = fields.require("result")?;
    fields.finish()?;
    done(&to_mcp_result(&result, "", &options)?)
}

/// `{result, tool, now?, parseText?, prefix?}` gives `{outcome: "result", result, meta?, warnings}`, or the outcome
/// `input_required` or `task` with the `request`.
fn result_from_mcp(mut fields: Fields) -> Result<String> {
    let options = McpToToolResultOptions {
        prefix: prefix(&mut fields)?,
        tool: fields.string("tool")?,
        now: fields.opt_string("now")?,
        parse_text: fields.bool_or("parseText", false)?,
    };
    let result = fields.require("result")?;
    fields.finish()?;
    done(&from_mcp_result(&result, "", &options)?)
}

/// `{schema, args, useDefaults?}` gives `{valid, errors, warnings, value?}`. Absent arguments are none: `{}`.
fn validate(mut fields: Fields) -> Result<String> {
    let schema = fields.require("schema")?;
    let is_given = fields.has("args");
    let args = fields.take("args");
    let use_defaults = fields.bool_or("useDefaults", false)?;
    fields.finish()?;
    let args = args.unwrap_or(if is_given { Value::Null } else { json!({}) });
    done(&validate_args(&schema, "", &args, use_defaults)?)
}
