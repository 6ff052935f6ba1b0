//! Operations by name with JSON text in and out, rules about the code, and the records as TypeScript.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod architecture;
mod bindings;
mod built_messages;
mod decisions_service;
mod decisions_weaknesses;
mod mcp_properties;
mod mcp_results;
mod messages;
mod routing_properties;
mod routing_router;
mod stores;
#[path = "../../crates/context/tests/it/support/mod.rs"]
mod support;
mod tool_definition;

/// Runs an operation of a manager whose argument comes with bytes.
fn with_bytes(
    manager: &mut contextweaver_context::ContextManager,
    operation: &str,
    arguments: &str,
    bytes: &[u8],
) -> contextweaver_base::Result<String> {
    let beside = contextweaver::api::manager::Beside { text: "", bytes: vec![bytes.to_vec()] };
    contextweaver::api::manager::operation(operation)?.run(manager, arguments, beside)
}
