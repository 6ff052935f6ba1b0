//! The option `compat: "0.18"`: the decisions of contextweaver 0.18 for Python, in builds with the feature `compat`.

#[cfg(not(feature = "compat"))]
mod absent;
#[cfg(feature = "compat")]
mod present;

#[cfg(not(feature = "compat"))]
pub use absent::Compat;
#[cfg(feature = "compat")]
pub use present::Compat;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;

/// Converters that have the option.
pub const CONVERTERS: &[&str] =
    &["mcp_tool_to_selectable", "load_mcp_session", "messages_to_items", "items_to_messages"];

/// Takes the option out of a record; with it comes what it stands for. Fails with `UNSUPPORTED` at `compat` in builds
/// without the feature, and with the code `unknown` for another version.
pub fn requested(fields: &mut Fields, unknown: ErrorCode) -> Result<Option<Compat>> {
    let read =
        match fields.opt_string("compat")?.as_deref() {
            None => return Ok(None),
            Some("0.18") => Compat::get().map(Some),
            Some(other) => Err(Error::new(unknown, format!("unknown compat version {}", quote(other)))
                .hint("the only one is \"0.18\"")),
        };
    read.map_err(|error| error.at(fields.at("compat")))
}
