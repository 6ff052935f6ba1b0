//! The right few tools out of thousands: catalog, index, graph, router, cards.
//!
//! Data flows one way: a [`Catalog`] holds the tools, an [`index::ToolIndex`] ranks them for a query, a
//! [`graph::ChoiceGraph`] lets people and models browse them, the [`Router`] filters and explains, cards are what a model
//! chooses from, and a selection is checked against them before anything is called.
//!
//! ```
//! use contextweaver_convert::mcp::ToolOptions;
//! use contextweaver_routing::{
//!     ProviderOptions, RouteOptions, Router, RouterOptions, ValidateOptions, from_mcp_tools, tools_for,
//!     validate_selection,
//! };
//! use serde_json::json;
//!
//! // The tools of an MCP server, as `tools/list` returns them.
//! let listing = json!({ "tools": [
//!     { "name": "send_mail", "description": "Send an email to a person.", "inputSchema": { "type": "object" } },
//!     { "name": "read_file", "description": "Read a file from the disk.", "inputSchema": { "type": "object" } },
//! ] });
//! let catalog = from_mcp_tools(listing, &ToolOptions::default())?.catalog;
//!
//! // The best few for a query.
//! let mut router = Router::new(catalog, RouterOptions::default());
//! let route = router.route("write an email to Ada", &RouteOptions::default())?;
//! let best = &route.candidate_ids[0];
//! assert_eq!(router.catalog().get(best)?.name, "send_mail");
//!
//! // Those tools as a provider wants them.
//! let items = route.candidate_ids.iter().filter_map(|id| router.catalog().find(id));
//! let written = tools_for(items, &ProviderOptions::new("openai-chat"), None)?;
//! let name = written.tools[0]["function"]["name"].as_str().unwrap_or_default();
//! assert_eq!(written.resolve(name)?, best);
//!
//! // What the model chose is one of them, or rejected.
//! let ids: Vec<&str> = route.candidate_ids.iter().map(String::as_str).collect();
//! assert_eq!(validate_selection(Some("delete_everything"), &ids, &ValidateOptions::default()).status, "rejected");
//! # Ok::<(), contextweaver_base::Error>(())
//! ```

pub mod cards;
pub mod catalog;
pub mod graph;
pub mod index;
pub mod router;
pub mod scorers;

pub use cards::{
    CardOptions, CardStyle, ChoiceCard, ProviderOptions, ProviderTools, SchemaDialect, SchemaSource,
    SelectionSchemaOptions, SelectionValidation, ToolNames, ValidateOptions, down_level, hydrate_with_schema,
    make_choice_cards, own_arguments, pack_cards, render_cards, selection_schema, tools_for, validate_selection,
};
pub use catalog::{
    CapabilitySnapshot, Catalog, CatalogFinding, InvalidTools, LintOptions, LoadedCatalog, NormaliseOptions,
    diff_catalogs, diff_snapshots, from_mcp_tools, lint, load_catalog, normalise, pin,
};
pub use router::{
    Conversation, DecisionParts, QueryCompletion, RouteExplanation, RouteFeedback, RouteHistory, RouteOptions,
    RouteProbe, RouteResult, RouteTurn, Router, RouterOptions, RoutingDecision, ToolFeedback, aggregate_feedback,
    routing_impact,
};
