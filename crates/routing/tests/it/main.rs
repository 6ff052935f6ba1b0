//! Catalogs, their index, graph and cards.

mod cards;
mod catalog;
mod graph;
mod growth;
mod index;
mod mcp_catalogs;
mod quality;
