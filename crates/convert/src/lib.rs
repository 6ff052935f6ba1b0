//! Conversions both ways: MCP, messages of model providers, tool definitions, and the context of tool calls.

pub mod mcp;
pub mod providers;
pub mod tools;
