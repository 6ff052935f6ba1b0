//! What the engine reads: which fields it cannot do without and which exist, found by asking it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use contextweaver::api;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::memory::ConsolidationPolicy;
use contextweaver_context::{
    CompactRequest, ContextManager, DrilldownRequest, FirewallOptions, ManagerOptions, ObservedUsage, PriceModel,
    RecallRequest, SuppliedSummary, ToolResult,
};
use contextweaver_model::json::Record;
use contextweaver_model::{
    ArtifactRef, ContextItem, ContextPolicy, Episode, Fact, MemoryEntry, ResultEnvelope, SelectableItem, ViewSpec,
};
use contextweaver_routing::Catalog;
use contextweaver_routing::router::{FeedbackWeights, RouteHistory, Router, RouterOptions, ToolFeedback};

/// How an input is read.
pub enum Reader {
    /// By an operation of a manager.
    Operation(&'static str),
    /// By an operation of a router without tools.
    Routing(&'static str),
    /// By a function.
    Function(fn(Value) -> Result<()>),
}
use Reader::{Function, Operation, Routing};

/// Inputs by their name in `drift.test-d.ts`, with the fields of the package's type where an unknown one is an error.
/// The fields of the others are those of their record.
const INPUTS: &[(&str, &str, Reader)] = &[
    (
        "ArtifactInput",
        "handle media_type label",
        Function(|value| {
            let mut manager = ContextManager::new(ManagerOptions::default());
            crate::with_bytes(&mut manager, "put_artifact", &value.to_string(), b"").map(drop)
        }),
    ),
    (
        "BuildCallOptions",
        "query query_tags hints header footer budget_tokens model running reserved_tokens head hidden_tokens prices now pin explain \
         list_dropped item_scores tool schema examples constraints",
        Operation("build_call"),
    ),
    (
        "BuildOptions",
        "phase query query_tags hints header footer budget_tokens model running reserved_tokens head hidden_tokens prices now pin explain \
         list_dropped item_scores",
        Operation("build"),
    ),
    ("ConsolidateOptions", "policy as_of apply", Operation("consolidate")),
    (
        "ContextManagerOptions",
        "profile budget policy scoring firewall limits prices thrift ledger rules calibrate active_turn redact_secrets estimator classifier summarizer \
         extractor redaction_hooks listens",
        Function(|value| ManagerOptions::from_value(value).map(drop)),
    ),
    ("EnvelopeResult", "tool_call_id tool_name envelope sensitivity", Operation("ingest_envelope")),
    ("EpisodeSearchOptions", "query top_k", Operation("episode_search")),
    ("EventCountQuery", "kinds", Operation("event_count")),
    ("EventQuery", "kinds since limit", Operation("events")),
    ("Fact", "", Function(|value| Fact::with_optional_id(value, "").map(drop))),
    ("HandoffOptions", "budget_tokens", Operation("handoff")),
    ("HydrateOptions", "tool arguments", Operation("hydrate")),
    ("InspectOptions", "pack explanation budget", Operation("inspect")),
    (
        "LimitOptions",
        "max_items max_artifact_bytes max_store_bytes max_artifacts artifact_ttl_seconds eviction",
        Function(|value| ManagerOptions::from_value(json!({ "limits": value })).map(drop)),
    ),
    (
        "CardOptions",
        "candidate_ids scores budget_tokens max_cards card_tokens max_card_tokens redact_secrets show_scores estimator",
        Routing("cards"),
    ),
    ("BrowseOptions", "path id offset limit", Routing("browse")),
    ("CatalogOptions", "items on_invalid", Function(|value| api::routing::new_catalog(&value.to_string()).map(drop))),
    ("HydrateTool", "id schemas", Routing("hydrate")),
    (
        "Lexicon",
        "base verbs nouns abbreviations generic phrases",
        Function(|value| RouterOptions::from_value(json!({ "lexicon": value })).map(drop)),
    ),
    (
        "LintOptions",
        "pinned",
        Function(|value| {
            let mut catalog = api::routing::new_catalog(r#"{"items":[]}"#)?;
            api::routing::catalog_call(&mut catalog, "lint", &value.to_string()).map(drop)
        }),
    ),
    (
        "McpCatalogOptions",
        "server id_form verb_namespaces on_invalid",
        // The list is an argument of its own.
        Function(|mut value| {
            value["mcp"] = json!([]);
            api::routing::new_catalog(&value.to_string()).map(drop)
        }),
    ),
    (
        "McpListOptions",
        "server",
        Function(|value| convert("mcp_resource_to_selectable", "resource", json!({ "uri": "u:x" }), value)),
    ),
    (
        "McpReadOptions",
        "max_bytes",
        Function(|mut value| {
            value["result"] = json!({});
            value["resource_id"] = "r".into();
            api::convert::convert_result(&value.to_string()).map(drop)
        }),
    ),
    (
        "McpToolOptions",
        "server id_form verb_namespaces",
        Function(|value| convert("mcp_tool_to_selectable", "tool", json!({ "name": "x" }), value)),
    ),
    (
        "RouteOptions",
        "query top_k exclude_ids exclude_tags allowed_namespaces allowed_tags context_hints pin_ids namespace_quota \
         history feedback query_embedding conversation include_items debug",
        Routing("route"),
    ),
    (
        "RouteTurn",
        "id kind text tool is_open",
        Function(|value| route(&json!({ "query": "", "conversation": [value] }))),
    ),
    (
        "RouterOptions",
        "navigator preset top_k ambiguity_ratio min_score min_confidence lexicon fuzzy embedding_weight scorer \
         beam_width max_depth confidence_gap max_children target_group_size strategy graph",
        Function(|value| {
            let catalog = api::routing::new_catalog(r#"{"items":[]}"#)?;
            api::routing::new_router(&catalog, &value.to_string()).map(drop)
        }),
    ),
    ("SessionOptions", "strict", Function(|value| convert("load_mcp_session", "text", json!(""), value))),
    ("SelectMemoryOptions", "entries phase budget_tokens query max_entries now ingest", Operation("select_memory")),
    ("SelectionOptions", "candidate_ids selected repair", Routing("validate_selection")),
    ("SelectionSchemaOptions", "candidate_ids provider property_name schema_name", Routing("selection_schema")),
    ("SummaryRequestOptions", "limit", Operation("summary_requests")),
    ("ToolsForOptions", "candidate_ids provider strict redact_secrets", Routing("tools_for")),
];

/// What the engine says of an input.
pub struct Input {
    /// The name of its type.
    pub name: &'static str,
    /// Fields it refuses to do without.
    pub required: BTreeSet<String>,
    /// Fields it knows, where it refuses others.
    pub fields: BTreeSet<&'static str>,
}

/// Asks the engine about every input.
pub fn all() -> Vec<Input> {
    let mut all: Vec<Input> = INPUTS.iter().map(|(name, fields, reader)| ask(name, fields, reader)).collect();
    all.extend(records());
    all.sort_by_key(|input| input.name);
    all
}

/// Inputs that are a record, which knows its fields.
fn records() -> Vec<Input> {
    vec![
        open::<ArtifactRef>("ArtifactRef"),
        closed::<CompactRequest>("CompactOptions"),
        closed::<ConsolidationPolicy>("ConsolidationPolicy"),
        open::<ContextItem>("ContextItem"),
        closed::<ContextPolicy>("ContextPolicy"),
        closed::<DrilldownRequest>("DrilldownOptions"),
        open::<ResultEnvelope>("Envelope"),
        open::<Episode>("Episode"),
        closed::<FeedbackWeights>("FeedbackWeights"),
        closed::<FirewallOptions>("FirewallOptions"),
        open::<MemoryEntry>("MemoryEntry"),
        closed::<ObservedUsage>("ObservedUsage"),
        closed::<PriceModel>("PriceModel"),
        closed::<RecallRequest>("RecallOptions"),
        closed::<RouteHistory>("RouteHistory"),
        open::<SelectableItem>("SelectableItem"),
        closed::<SuppliedSummary>("SuppliedSummary"),
        closed::<ToolFeedback>("ToolFeedback"),
        closed::<ToolResult>("ToolResult"),
        open::<ViewSpec>("ViewSpec"),
    ]
}

/// Says what a record demands.
fn open<T: Record>(name: &'static str) -> Input {
    let required = T::FIELDS.iter().filter(|(_, is_required)| *is_required).map(|(field, _)| (*field).to_owned());
    Input { name, required: required.collect(), fields: BTreeSet::new() }
}

/// Says what a record demands, and all that it knows.
pub fn closed<T: Record>(name: &'static str) -> Input {
    Input { fields: T::FIELDS.iter().map(|(field, _)| *field).collect(), ..open::<T>(name) }
}

/// Offers an input whose fields are all null, which counts as absent, and gives what is missed, until nothing is.
pub fn ask(name: &'static str, fields: &'static str, reader: &Reader) -> Input {
    let fields: BTreeSet<&str> = fields.split_whitespace().collect();
    let mut offer: Map<String, Value> = fields.iter().map(|field| ((*field).to_owned(), Value::Null)).collect();
    let mut required = BTreeSet::new();
    while let Some(error) = read(reader, Value::Object(offer.clone())) {
        if matches!(error.code(), ErrorCode::ArtifactNotFound | ErrorCode::NotFound | ErrorCode::NoCandidates) {
            // The first thing that is wrong after all fields were read.
            break;
        }
        assert_eq!(error.code(), ErrorCode::MissingField, "{name}: {error}");
        // What is read inside something else has a longer path.
        let field = error.path().rsplit('/').next().unwrap_or_default();
        assert!(required.insert(field.to_owned()), "{name}: {field} was given");
        offer.insert(field.to_owned(), something(name, field));
    }
    Input { name, required, fields }
}

fn read(reader: &Reader, value: Value) -> Option<Error> {
    match reader {
        Function(function) => function(value).err(),
        Operation(operation) => {
            let mut manager = ContextManager::new(ManagerOptions::default());
            api::manager::call(&mut manager, operation, &value.to_string()).err()
        }
        Routing(operation) => routing(operation, &value).err(),
    }
}

fn routing(operation: &str, value: &Value) -> Result<()> {
    let mut router = Router::new(Catalog::new(), RouterOptions::default());
    api::routing::router_call(&mut router, operation, &value.to_string()).map(drop)
}

/// Runs a converter on something and the options for it.
fn convert(operation: &str, key: &str, converted: Value, mut options: Value) -> Result<()> {
    options[key] = converted;
    api::convert::convert_call(operation, &options.to_string()).map(drop)
}

fn route(value: &Value) -> Result<()> {
    routing("route", value)
}

/// A value that a required field takes.
fn something(name: &str, field: &str) -> Value {
    match field {
        "envelope" => json!({ "status": "ok", "summary": "" }),
        "provider" if name == "ToolsForOptions" => json!("gemini"),
        "kind" if name == "SelectableItem" => json!("tool"),
        "kind" if name == "RouteTurn" => json!("user_turn"),
        "items" | "servers" => json!([]),
        "action" => json!("allow"),
        "kind" => json!("policy"),
        "pack" => json!({ "prompt": "" }),
        "phase" => json!("answer"),
        "selector" => json!({ "type": "head" }),
        "actual" | "estimated" | "size_bytes" => json!(1),
        "status" => json!("ok"),
        "tool" => json!({ "id": "t", "kind": "tool", "name": "t", "description": "" }),
        _ => json!("x"),
    }
}
