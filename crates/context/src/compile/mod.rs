//! How a prompt is compiled: what a build reads and its state, the stages in a file each, and [`pipeline`], which runs them.

pub mod candidates;
pub mod closure;
pub mod dedup;
pub mod excerpt;
pub mod explain;
pub mod firewall;
pub mod frame;
pub mod inputs;
pub mod ledger;
pub mod output;
pub mod pipeline;
pub mod prompt;
pub mod render;
pub mod repeats;
pub mod score;
pub mod select;
pub mod sensitivity;
pub mod state;
