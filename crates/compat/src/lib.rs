//! What contextweaver 0.18 for Python decides differently. No other library crate imports this one: programs that want
//! these decisions pass what is here to the default crates, and programs that do not leave it out of their build.

pub mod mcp;
pub mod messages;
pub mod routing;
