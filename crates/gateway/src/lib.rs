//! A gateway in front of MCP servers, without transport, clock or randomness: what clients see of many servers, what
//! they may do, and how a call goes.
