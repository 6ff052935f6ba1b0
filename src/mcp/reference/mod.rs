//! MCP records as the Python reference reads them, for compatibility.

pub mod result;
