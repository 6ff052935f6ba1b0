//! What tools are called with besides their input: the rules of the context.

pub mod call_context;
pub mod meta;
pub mod meta_name;
mod trace;
