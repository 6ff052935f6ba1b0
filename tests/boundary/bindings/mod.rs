//! The records as TypeScript. Types of the package that are what a record is are generated (`published`); where a type tells
//! input from output, or says more, it is written by hand, and `tests/package/types/drift.test-d.ts` compares it with the
//! record, as it is written to a file beside it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod gateway;
mod inputs;
mod operations;
mod published;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use ts_rs::{Config, TS, TypeVisitor};

use contextweaver::api;
use contextweaver_base::ErrorCode;
use contextweaver_context::callbacks::Need;
use contextweaver_context::handoff::HandoffEntry;
use contextweaver_context::memory::{ConsolidationPolicy, ConsolidationReport};
use contextweaver_context::{
    CompactResult, Event, ForgottenItem, Ingested, ManagerStats, RecallAnswer, Slice, StandingRule, SummaryRequest,
    SyncedMessages,
};
use contextweaver_convert::mcp::{McpHints, McpSession, McpTool};
use contextweaver_convert::providers::{Format, FoundMessages};
use contextweaver_model::{
    Bm25nWeights, CandidateDetail, ContextPack, Episode, Fact, HydrationResult, MemoryEntry, ProfileConfig,
    RunningCosts, SelectableItem, Warning,
};
use contextweaver_routing::cards::{PackedCards, ProviderTools, SelectionValidation, SkippedCard};
use contextweaver_routing::catalog::{CapabilityDiff, CatalogDiff, CatalogFinding, NormaliseReport};
use contextweaver_routing::graph::BrowsePage;
use contextweaver_routing::index::RouteMatch;
use contextweaver_routing::router::{RouteHistory, RouteResult, RouteTurn, RoutingImpact, ToolFeedback};
use published::Published;

const GENERATED: &str = "tests/package/types/generated.ts";
const FORMATS: &str = "pkg-template/src/messages/message-formats.ts";
const UPDATE: &str = "CONTEXTWEAVER_UPDATE";
/// Serialised types without a declaration of their own.
const WITHOUT_DECLARATION: &[&str] = &[
    // Taken apart at the boundary.
    "JournalBlob",
    "JournalExport",
    "BuildOutput",
    "BuiltMessages",
    // Flattened into the statistics of a manager.
    "MetricsSummary",
    // Compared by their fields, as answers.
    "HandoffPack",
    "Snapshot",
    // Opaque to callers, a part of a snapshot.
    "RunningPrompt",
    // An input, compared by its fields.
    "PriceModel",
    // A shortened result, of which the gateway passes on the text.
    "Abridged",
    "Ledger",
    "Calibrations",
    "RuleBook",
    "RuleRecord",
    "KnownMessages",
    "JournalCounts",
    // A record without the fields that say nothing.
    "SparseItem",
    // Compared by their fields, as answers.
    "ChildTypesJson",
    "ChoiceGraph",
    "NodeJson",
    "NodesJson",
    // Not offered to JavaScript.
    "Collision",
    "CollisionReport",
    "GraphStats",
    "UnresolvedDependency",
    "DependencyReport",
    "RoutingDecision",
    "ToolId",
    "ArgumentRepair",
    // A map of pins that is borrowed.
    "Pins",
];

/// Declarations by name, of the types visited and of all they refer to.
struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Primitives and containers have no path.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        // The package's own, see `header`.
        if name == "JsonValue" {
            return;
        }
        let text = readable(&T::decl(&self.config));
        match self.found.insert(name.clone(), text.clone()) {
            None => T::visit_dependencies(self),
            Some(other) => assert_eq!(other, text, "two types are called {name}"),
        }
    }
}

impl Declarations {
    fn all() -> BTreeMap<String, String> {
        // Counts and sizes; all of them are plain numbers in JSON.
        let config = Config::new().with_large_int("number");
        let mut all = Self { config, found: BTreeMap::new() };
        all.visit::<ContextPack>();
        all.visit::<CandidateDetail>();
        all.visit::<Ingested>();
        all.visit::<RecallAnswer>();
        all.visit::<Slice>();
        all.visit::<RunningCosts>();
        all.visit::<StandingRule>();
        all.visit::<SyncedMessages>();
        all.visit::<FoundMessages>();
        all.visit::<CompactResult>();
        all.visit::<SummaryRequest>();
        all.visit::<ForgottenItem>();
        all.visit::<ManagerStats>();
        all.visit::<HandoffEntry>();
        all.visit::<ConsolidationPolicy>();
        all.visit::<ConsolidationReport>();
        all.visit::<Episode>();
        all.visit::<Fact>();
        all.visit::<MemoryEntry>();
        all.visit::<SelectableItem>();
        all.visit::<HydrationResult>();
        all.visit::<ProfileConfig>();
        all.visit::<Bm25nWeights>();
        all.visit::<Need>();
        all.visit::<Event>();
        all.visit::<ErrorCode>();
        all.visit::<McpHints>();
        all.visit::<McpTool>();
        all.visit::<McpSession>();
        all.visit::<Warning>();
        all.visit::<CatalogFinding>();
        all.visit::<CapabilityDiff>();
        all.visit::<CatalogDiff>();
        all.visit::<NormaliseReport>();
        all.visit::<RoutingImpact>();
        all.visit::<RouteResult>();
        all.visit::<RouteHistory>();
        all.visit::<RouteTurn>();
        all.visit::<ToolFeedback>();
        all.visit::<RouteMatch>();
        all.visit::<PackedCards>();
        all.visit::<SkippedCard>();
        all.visit::<SelectionValidation>();
        all.visit::<ProviderTools>();
        all.visit::<BrowsePage>();
        // ts-rs cannot flatten an `Option`: the field is skipped there and added here.
        if let Some(text) = all.found.get_mut("CandidateExplanation") {
            *text = text.replace("};", "} & Partial<CandidateDetail>;");
        }
        all.found
    }

    /// The records of the gateway, without those above.
    fn of_gateway() -> BTreeMap<String, String> {
        let config = Config::new().with_large_int("number");
        let mut gateway = Self { config, found: BTreeMap::new() };
        gateway::visit(&mut gateway);
        let others = Self::all();
        gateway.found.retain(|name, text| match others.get(name) {
            Some(other) => {
                assert_eq!(other, text, "two types are called {name}");
                false
            }
            None => true,
        });
        gateway.found
    }
}

/// Takes the documentation out of a declaration, so that only its shape counts, and gives every field a line.
fn readable(declaration: &str) -> String {
    let mut parts = declaration.split("/**");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    plain.extend(parts.filter_map(|part| Some(part.split_once("*/")?.1)));
    let plain = plain.replace("{ [key in string]: JsonValue }", "JsonObject").replace(", }", ",\n}");
    let mut out = String::from("export ");
    for line in plain.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let indent = if line.starts_with("type ") || line.starts_with('}') { "" } else { "  " };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{indent}{line}");
    }
    out
}

/// The fields of answers that are put together without a record.
fn answer_keys() -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut manager = api::manager::new_manager(r#"{"rules":true}"#).unwrap();
    let mut call = |operation: &str, arguments: Value| -> Value {
        let answer = api::manager::call(&mut manager, operation, &arguments.to_string()).unwrap();
        serde_json::from_str::<Value>(&answer).unwrap()["done"].take()
    };
    let item = json!({ "id": "u", "kind": "user_turn", "text": "Which invoices are overdue?" });
    call("ingest", json!({ "items": [item] }));
    call("add_rule", json!({ "text": "Never pay twice." }));
    let pack = call("build", json!({ "phase": "answer", "explain": true }));
    let report = api::text_call("report", &json!({ "stats": pack["stats"], "phase": "answer" }).to_string());
    let report = serde_json::from_str::<Value>(&report.unwrap()).unwrap()["done"].take();
    let handoff = call("handoff", json!({}));
    let inspection = call("inspect", json!({ "explanation": pack["explanation"], "pack": pack }));
    let snapshot = call("snapshot", json!({}));
    let memory = call("select_memory", json!({ "entries": [], "phase": "answer", "budget_tokens": 1 }));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect();
    let mut all = routing_keys();
    all.extend([
        ("BuildReport", keys(&report)),
        ("BuildReportCandidates", keys(&report["data"]["candidates"])),
        ("BuildReportData", keys(&report["data"])),
        ("Handoff", keys(&handoff)),
        ("HandoffPack", keys(&handoff["pack"])),
        ("InspectedCandidate", keys(&inspection["report"]["candidates"][0])),
        ("Inspection", keys(&inspection)),
        ("InspectionReport", keys(&inspection["report"])),
        ("MemorySelection", keys(&memory)),
        ("Snapshot", keys(&snapshot)),
        ("SnapshotArtifacts", keys(&full_artifacts())),
        ("SnapshotEpisodes", keys(&snapshot["episodic_store"])),
        ("SnapshotEvents", keys(&snapshot["event_log"])),
        ("SnapshotFacts", keys(&snapshot["fact_store"])),
    ]);
    all
}

/// The same of catalogs and routers.
fn routing_keys() -> BTreeMap<&'static str, BTreeSet<String>> {
    let tools = json!({ "items": [{ "id": "a.b", "kind": "tool", "name": "b", "namespace": "a", "description": "" }] });
    let mut catalog = api::routing::new_catalog(&tools.to_string()).unwrap();
    let mut router = api::routing::new_router(&catalog, "{}").unwrap();
    let done = |answer: String| serde_json::from_str::<Value>(&answer).unwrap()["done"].take();
    let listed = done(api::routing::catalog_call(&mut catalog, "items", "{}").unwrap());
    let namespaces = done(api::routing::catalog_call(&mut catalog, "namespaces", "{}").unwrap());
    let mut call = |operation: &str, arguments: Value| -> Value {
        done(api::routing::router_call(&mut router, operation, &arguments.to_string()).unwrap())
    };
    let graph = call("graph", json!({}));
    let route = call("route", json!({ "query": "b" }));
    let packed = call("cards", json!({ "candidate_ids": ["a.b"] }));
    let explained = api::routing::routing_call("explain_route", &json!({ "result": route }).to_string()).unwrap();
    let root = graph["root_id"].as_str().unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect();
    BTreeMap::from([
        ("CatalogJson", keys(&listed)),
        ("ChoiceGraph", keys(&graph)),
        ("ChoiceGraphNode", keys(&graph["nodes"][root])),
        ("NamespaceCount", keys(&namespaces["namespaces"][0])),
        ("PackedCards", keys(&packed)),
        ("RouteExplanation", keys(&done(explained))),
    ])
}

/// The snapshot of an artifact store with everything that it may hold.
fn full_artifacts() -> Value {
    let options = json!({ "limits": { "max_artifacts": 1, "eviction": "lru" } });
    let mut manager = api::manager::new_manager(&options.to_string()).unwrap();
    for handle in ["evicted", "pinned"] {
        crate::with_bytes(&mut manager, "put_artifact", &json!({ "handle": handle }).to_string(), b"x").unwrap();
    }
    manager.artifacts_mut().pin("pinned").unwrap();
    json!(manager.snapshot())["artifact_store"].take()
}

fn command() -> String {
    format!("{UPDATE}=1 cargo test -p contextweaver --test boundary bindings")
}

/// Says what the file is, and imports what the package has of what the declarations name.
fn header(declarations: &str, published: &Published) -> String {
    let exported = published.found.keys().map(String::as_str).filter(|name| *name != published::PART);
    let names = exported.chain(["JsonObject", "JsonValue", "Selector"]);
    let imported = |name: &str| {
        let record = published::record_of(name);
        let is_used = published::words(declarations).any(|word| word == record);
        is_used.then(|| if record == name { name.to_owned() } else { format!("{name} as {record}") })
    };
    let names: Vec<String> = names.filter_map(imported).collect();
    format!(
        "// What the engine's records are as JSON. Generated by `{}`; do not edit.\nimport type {{ {} }} from \"contextweaver\";\n",
        command(),
        names.join(", ")
    )
}

fn generate(published: &Published) -> String {
    let (mut declarations, of_gateway) = (Declarations::all(), Declarations::of_gateway());
    declarations.retain(|name, _| name == published::PART || !published.found.contains_key(published::name_of(name)));
    let text: String = declarations.values().chain(of_gateway.values()).flat_map(|text| ["\n", text]).collect();
    let mut out = header(&text, published) + &text;
    out.push_str("\n/** Every record above, so that none can be forgotten. */\nexport interface Records {\n");
    for name in declarations.keys() {
        let _ = writeln!(out, "  {name}: {name};");
    }
    out.push_str("}\n\n/** The same of the gateway. */\nexport interface GatewayRecords {\n");
    for name in of_gateway.keys() {
        let _ = writeln!(out, "  {name}: {name};");
    }
    out.push_str("}\n\n/** Fields of the answers that have no record. */\nexport interface AnswerKeys {\n");
    for (name, keys) in answer_keys() {
        let _ = writeln!(out, "  {name}: {};", union(&keys));
    }
    out.push_str("}\n\n/** Inputs: the fields the engine must have, and those it knows where it refuses others. */\n");
    for (name, inputs) in [("Inputs", inputs::all()), ("GatewayInputs", gateway::inputs())] {
        let _ = writeln!(out, "export interface {name} {{");
        for input in inputs {
            let (required, fields) = (union(&input.required), union(&input.fields));
            let _ = writeln!(out, "  {}: {{ required: {required}; fields: {fields} }};", input.name);
        }
        out.push_str("}\n");
    }
    out
}

/// Writes strings as a union type.
fn union(strings: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let members: Vec<String> = strings.into_iter().map(|text| format!("\"{}\"", text.as_ref())).collect();
    if members.is_empty() { "never".to_owned() } else { members.join(" | ") }
}

/// Writes the names of the message formats, which the facade also needs as values.
fn formats(command: &str) -> String {
    let names: Vec<String> = Format::ALL.iter().map(|format| format!("  \"{}\",\n", format.as_str())).collect();
    let names = names.concat();
    format!(
        "// Generated by `{command}`; do not edit.\n\n/** The names of all formats of messages. */\nexport const MESSAGE_FORMATS = [\n{names}] as const;\n"
    )
}

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The stores are written into snapshots, whose fields are compared as answers.
        if path.ends_with("context/src/store") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_generated_types_are_current() {
    let published = Published::all();
    let generated = [
        (GENERATED, generate(&published)),
        (published::FILE, published.file(&command())),
        (operations::OF_MANAGERS, operations::of_managers(&command())),
        (operations::NAMES, operations::names(&command())),
        (FORMATS, formats(&command())),
    ];
    for (file, wanted) in generated {
        let path = at(file);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, &wanted).unwrap();
            continue;
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        let line = found.lines().zip(wanted.lines()).find(|(old, new)| old != new);
        assert!(
            found == wanted,
            "{file} is out of date, first at {line:?}.\nRun `{}`, then make tests/package/types/drift.test-d.ts and \
             pkg-template/src agree with it (`cargo xtask check`).",
            command()
        );
    }
}

/// A record that nobody lists, or an optional field that is not marked so, would escape the comparison.
#[test]
fn every_serialised_record_is_declared() {
    let mut declared = Declarations::all();
    declared.extend(Declarations::of_gateway());
    let mut texts = Vec::new();
    for folder in ["model/src", "context/src", "convert/src/mcp", "routing/src", "gateway/src"] {
        sources(&at(&format!("crates/{folder}")), &mut texts);
    }
    let mut count = 0;
    for text in &texts {
        let (mut derives, mut is_taken_apart) = (false, false);
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().copied().unwrap_or_default();
            if line.contains("skip_serializing_if") && !line.contains("flatten") && !is_taken_apart {
                assert!(next.contains("optional"), "{line} needs `ts(optional)`, before: {next}");
            }
            derives |= line.starts_with("#[derive(") && line.contains("Serialize");
            let by_derive = ["pub struct ", "pub enum "].into_iter().find_map(|start| line.strip_prefix(start));
            let by_hand = line.strip_prefix("impl Serialize for ");
            let name = match (by_derive, by_hand) {
                (Some(rest), _) if std::mem::take(&mut derives) => rest,
                (_, Some(rest)) => rest,
                _ => continue,
            };
            let name = name.split(|ch: char| !ch.is_alphanumeric()).next().unwrap_or_default();
            is_taken_apart = WITHOUT_DECLARATION.contains(&name);
            let known = declared.contains_key(name) || is_taken_apart;
            assert!(known, "{name} is serialised but not declared: derive `TS`, visit it in `Declarations::all`");
            count += 1;
        }
    }
    assert!(count > 25, "found {count} records: are they still where this test looks?");
}
