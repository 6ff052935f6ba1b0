//! The promises of the context compiler, over random logs and over what went wrong before.

mod growth;
mod hydration;
mod messages;
mod policy;
mod properties;
mod results;
mod support;
mod weaknesses;
