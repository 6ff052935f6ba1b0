//! The right few tools out of thousands: catalog, index, graph, router, cards.
//!
//! Data flows one way: a [`Catalog`] holds the tools, an index ranks them for a query, a graph lets people and models
//! browse them, the router filters and explains, cards are what a model chooses from, and a selection is checked
//! against them before anything is called.

pub mod cards;
pub mod catalog;
pub mod graph;
pub mod index;
pub mod router;
pub mod scorers;

pub use catalog::Catalog;
