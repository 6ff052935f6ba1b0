//! What clients see: which tools, under which names, with which words.

mod history;
mod list;
mod mode;
mod names;
pub(crate) mod own;
mod reduced;
mod safe;
mod shown;

pub(crate) use history::{NameHistory, Resolved};
pub use mode::{FrontMode, ToolList};
pub(crate) use names::{JOINT, NameTable, ToolPlace, is_legal_name, legal_name};
pub(crate) use reduced::{ReducedSchema, reduced, without_defaults};
pub(crate) use safe::safe_line;
pub(crate) use shown::{mark_unavailable, shown_tool, without_reserved};
