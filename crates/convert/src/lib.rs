//! Conversions both ways between the records of contextweaver and what other protocols and libraries have: messages of
//! model providers, the Model Context Protocol, tool definitions, and the context of tool calls.
//!
//! Everything is a function of its arguments. Nothing of the other side is believed or fetched, and what a record has no
//! field for is stored in its metadata, so that the way back loses nothing.
//!
//! | Module | Converts |
//! |---|---|
//! | [`providers`] | messages of `OpenAI`, Anthropic, Gemini and the AI SDK, to [`ContextItem`]s and back |
//! | [`mcp`] | tools, resources and prompts to [`SelectableItem`]s and back, results to envelopes with their bytes |
//! | [`tools`] | tool definitions of applications and their results to MCP and back; arguments are validated |
//! | [`tools::call_context`] | entries beside the arguments of a call: levels, secrets, policies, `_meta` |
//!
//! A conversation of one provider, written for another:
//!
//! ```
//! use contextweaver_convert::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
//! use serde_json::json;
//!
//! let messages = json!([
//!     { "role": "system", "content": "Answer briefly." },
//!     { "role": "user", "content": "Is it raining in Oslo?" },
//! ]);
//! let read = messages_to_items(messages, Format::OpenAiChat, &ReadOptions::default())?;
//! let written = items_to_messages(&read.items, Format::Gemini, &WriteOptions::default())?;
//! assert_eq!(written.messages, [json!({ "role": "user", "parts": [{ "text": "Is it raining in Oslo?" }] })]);
//! assert_eq!(written.system, Some(json!({ "parts": [{ "text": "Answer briefly." }] })));
//! # Ok::<(), contextweaver_base::Error>(())
//! ```
//!
//! [`ContextItem`]: contextweaver_model::ContextItem
//! [`SelectableItem`]: contextweaver_model::SelectableItem

pub mod mcp;
mod media_label;
pub mod providers;
pub mod tools;

pub use mcp::{
    McpResultOptions, Revision, ToolOptions, load_mcp_session_jsonl, mcp_prompt_to_envelope, mcp_prompt_to_selectable,
    mcp_resource_to_envelope, mcp_resource_to_selectable, mcp_result_to_envelope, mcp_tool_to_selectable,
    selectable_to_mcp_tool,
};
pub use providers::{Format, ReadOptions, WriteOptions, items_to_messages, messages_to_items};
pub use tools::{
    McpToToolDefinitionOptions, McpToToolResultOptions, ToolDefinitionToMcpOptions, ToolResultToMcpOptions,
    from_mcp_result, from_mcp_tool, from_mcp_tools, to_mcp_result, to_mcp_tool, to_mcp_tools,
    tool_definition_to_selectable, validate_args,
};
