//! The mode in a build with the feature.

use serde_json::{Value, json};

use crate::api::{done, unknown};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_compat::{mcp, messages};
use contextweaver_context::{ContextManager, ManagerOptions, compat};
use contextweaver_convert::mcp::{ConvertedResult, mcp_tool_to_capability};
use contextweaver_convert::providers::{Format, ReadMessages, WrittenMessages};
use contextweaver_model::ContextItem;
use contextweaver_model::json::{Fields, wrong_type};

/// The mode.
#[derive(Debug, Clone, Copy)]
pub struct Compat;

#[expect(clippy::unused_self, reason = "in a build without the feature nothing can be called")]
impl Compat {
    #[expect(clippy::unnecessary_wraps, reason = "a build without the feature fails")]
    pub fn get() -> Result<Self> {
        Ok(Self)
    }

    /// Runs one of [`super::CONVERTERS`]. Options that 0.18 does not have are unknown fields.
    pub fn convert_call(self, operation: &str, fields: Fields) -> Result<String> {
        match operation {
            "mcp_tool_to_selectable" => tool(fields),
            "load_mcp_session" => session(fields),
            "messages_to_items" => messages_to_items(fields),
            "items_to_messages" => items_to_messages(fields),
            other => Err(unknown(other)),
        }
    }

    /// Takes the result of an MCP tool apart.
    pub fn mcp_result_to_envelope(self, result: &Value, tool_name: &str) -> Result<ConvertedResult> {
        mcp::mcp_result_to_envelope(result, tool_name)
    }

    /// Makes a manager from the fields of its options, over those of the mode.
    pub fn manager(self, options: Fields) -> Result<ContextManager> {
        Ok(compat::manager(ManagerOptions::from_fields(options, compat::options())?))
    }
}

/// `{tool}` gives `{item, warnings}`.
fn tool(mut fields: Fields) -> Result<String> {
    let tool = fields.require("tool")?;
    fields.finish()?;
    let item = mcp_tool_to_capability(tool, "/tool")?;
    done(&json!({ "item": item, "warnings": [] }))
}

/// `{text, strict?}` gives `{items, warnings}`; the first problem is an error whatever `strict` says.
fn session(mut fields: Fields) -> Result<String> {
    let text = match fields.require("text")? {
        Value::String(text) => text,
        other => return Err(wrong_type("/text", "a string", &other)),
    };
    fields.bool_or("strict", true)?;
    fields.finish()?;
    let items = mcp::load_mcp_session_jsonl(&text).map_err(|error| error.under("/text"))?;
    done(&json!({ "items": items, "warnings": [] }))
}

fn unsupported_format() -> Error {
    Error::new(ErrorCode::Unsupported, "the compat mode does not convert this format")
        .at("/format")
        .hint("one of: openai-chat anthropic gemini")
}

/// `{messages, format}` gives `{items, warnings}`.
fn messages_to_items(mut fields: Fields) -> Result<String> {
    let read = match fields.parsed("format", Format::parse)? {
        Format::OpenAiChat => messages::from_openai,
        Format::Anthropic => messages::from_anthropic,
        Format::Gemini => messages::from_gemini,
        _ => return Err(unsupported_format()),
    };
    let given = fields.require("messages")?;
    fields.finish()?;
    done(&ReadMessages { items: read(&given, "/messages")?, warnings: Vec::new() })
}

/// `{items, format}` gives `{messages, warnings}`.
fn items_to_messages(mut fields: Fields) -> Result<String> {
    let write = match fields.parsed("format", Format::parse)? {
        Format::OpenAiChat => messages::to_openai,
        Format::Anthropic => messages::to_anthropic,
        Format::Gemini => messages::to_gemini,
        _ => return Err(unsupported_format()),
    };
    let items = fields.records("items", ContextItem::from_value)?;
    fields.finish()?;
    let messages = write(&items, "/items")?;
    done(&WrittenMessages { messages, system: None, warnings: Vec::new() })
}
