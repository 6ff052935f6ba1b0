//! Operations of a manager.

pub mod journal;
#[cfg(all(feature = "context-exports", feature = "convert-exports"))]
mod messages;
mod prompts;
mod results;
mod stores;

#[cfg(all(feature = "context-exports", feature = "convert-exports"))]
pub use messages::read_mcp_result;

use super::operation::{self, Operation};
use super::{bytes, done, need};
use contextweaver_base::Result;
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{ContextManager, ManagerOptions};
use contextweaver_model::json::{self, Fields};
use serde::Serialize;
use serde_json::Value;

pub use self::stores::artifact_bytes;
pub use super::operation::Beside;

/// All operations, by what they are about.
pub const OPERATIONS: &[&[Operation<ContextManager>]] = &[
    prompts::OPERATIONS,
    results::OPERATIONS,
    stores::OPERATIONS,
    journal::OPERATIONS,
    #[cfg(all(feature = "context-exports", feature = "convert-exports"))]
    messages::OPERATIONS,
];

/// Makes a manager from the JSON of its options.
pub fn new_manager(options: &str) -> Result<ContextManager> {
    Ok(ContextManager::new(ManagerOptions::from_value(json::parse(options)?)?))
}

/// Makes a manager from the JSON of a snapshot and of its options.
pub fn restore_manager(snapshot: &str, options: &str) -> Result<ContextManager> {
    new_manager(options)?.restored(json::parse_snapshot(snapshot)?)
}

/// Returns a manager as the JSON that [`restore_manager`] reads.
pub fn manager_snapshot(manager: &ContextManager) -> Result<Vec<u8>> {
    bytes(&manager.snapshot())
}

/// Finds an operation.
///
/// # Errors
/// `UNSUPPORTED` for a name that none has.
pub fn operation(name: &str) -> Result<&'static Operation<ContextManager>> {
    operation::find(OPERATIONS, name)
}

/// Runs an operation.
///
/// # Errors
/// Those of [`operation()`], and those of the operation.
pub fn call(manager: &mut ContextManager, name: &str, arguments: &str) -> Result<String> {
    operation(name)?.run(manager, arguments, Beside::default())
}

fn answered<T: Serialize>(outcome: Outcome<T>) -> Result<String> {
    match outcome {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(result) => done(&result),
    }
}

/// Checks that an argument says nothing.
fn nothing(arguments: Value) -> Result<()> {
    Fields::open(arguments, "")?.finish()
}

/// Reads the one text of an argument.
fn one(arguments: Value, key: &'static str) -> Result<String> {
    Fields::open_closed(arguments, "", &[key])?.string(key)
}
