//! Operations of a catalog of tools.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::convert::tool_options;
use super::super::operation::{self, Operation};
use super::super::{One, bytes, done};
use super::router_options;
use contextweaver_base::{Error, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{self, Fields};
use contextweaver_routing::Catalog;
use contextweaver_routing::catalog::{
    CatalogFinding, InvalidTools, LintOptions, LoadedCatalog, diff_catalogs, from_mcp_tools, lint, load_catalog, pin,
    read_pins, suggest_probes,
};
use contextweaver_routing::router::{IMPACT_TOP_K, MAX_TOP_K, RouteProbe, routing_impact};

/// Queries asked to compare routes, unless the caller gives them.
const SUGGESTED_PROBES: usize = 20;

/// Makes a catalog from `{"items": [...]}` or from `{"mcp": <tools/list>, "server"?, "id_form"?}`, with
/// `"on_invalid": "raise" | "report"`.
pub fn new_catalog(text: &str) -> Result<LoadedCatalog> {
    let mut fields = Fields::open(json::parse_snapshot(text)?, "")?;
    // Null is no list of tools.
    let listed = fields.has("mcp").then(|| fields.take("mcp").unwrap_or(Value::Null));
    if listed.is_none() {
        fields.required("items").map_err(|error| error.hint("a catalog is what toJSON returned, {items: [...]}"))?;
    }
    let default = if listed.is_some() { InvalidTools::Report } else { InvalidTools::Raise };
    let on_invalid = fields.parsed_or("on_invalid", default, InvalidTools::parse)?;
    let loaded = match listed {
        Some(listed) => {
            let loaded = from_mcp_tools(listed, &tool_options(&mut fields)?)?;
            if on_invalid == InvalidTools::Raise {
                loaded.raise("/mcp")?;
            }
            loaded
        }
        None if on_invalid == InvalidTools::Report => load_catalog(fields.require("items")?, on_invalid)?,
        None => {
            let mut catalog = Catalog::new();
            let items: Vec<SelectableItem> = fields.get("items")?;
            catalog.register_all(items).map_err(|error| below(error, "/items"))?;
            LoadedCatalog { catalog, findings: Vec::new() }
        }
    };
    fields.finish()?;
    Ok(loaded)
}

/// Returns a catalog as the JSON that [`restore_catalog`] reads: its tools, and what was found when it was made.
pub fn catalog_snapshot(loaded: &LoadedCatalog) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct CatalogSnapshot<'a> {
        items: Vec<&'a SelectableItem>,
        findings: &'a [CatalogFinding],
    }
    bytes(&CatalogSnapshot { items: loaded.catalog.items().collect(), findings: &loaded.findings })
}

/// Makes a catalog of what [`catalog_snapshot`] returned.
pub fn restore_catalog(snapshot: &str) -> Result<LoadedCatalog> {
    let mut fields = Fields::open(json::parse_snapshot(snapshot)?, "")?;
    let mut catalog = Catalog::new();
    catalog.register_all(fields.get::<Vec<SelectableItem>>("items")?)?;
    let findings = fields.records("findings", CatalogFinding::from_value)?;
    fields.finish()?;
    Ok(LoadedCatalog { catalog, findings })
}

pub(super) fn below(error: Error, path: &str) -> Error {
    let path = format!("{path}{}", error.path());
    error.under(path)
}

/// The operations of a catalog.
pub const OPERATIONS: &[Operation<LoadedCatalog>] = &[
    Operation::of_large_fields("register", |loaded, mut fields| {
        let item: SelectableItem = fields.get("item")?;
        fields.finish()?;
        loaded.catalog.register(item).map_err(|error| below(error, "/item"))?;
        done(&json!({}))
    }),
    Operation::of_large_fields("get", |loaded, fields| done(loaded.catalog.get(&only_id(fields)?)?)),
    Operation::of_large_fields("has", |loaded, fields| done(&One("has", &loaded.catalog.contains(&only_id(fields)?)))),
    Operation::of_large_fields("remove", |loaded, fields| {
        done(&One("removed", &loaded.catalog.remove(&only_id(fields)?).is_some()))
    }),
    Operation::of_large_fields("diff", |loaded, mut fields| {
        let next = other_catalog(&mut fields)?;
        fields.finish()?;
        let [before, after] = [&loaded.catalog, &next].map(|catalog| catalog.items().cloned().collect::<Vec<_>>());
        done(&diff_catalogs(&before, &after)?)
    }),
    Operation::of_large_fields("impact", |loaded, mut fields| {
        let answer = impact(&loaded.catalog, &mut fields)?;
        fields.finish()?;
        done(&answer)
    }),
    Operation::of_large_fields("lint", |loaded, mut fields| {
        let pinned = fields.take("pinned").map(|pins| read_pins(pins, "/pinned")).transpose()?;
        fields.finish()?;
        // What was left out while loading comes first: it is worst.
        let mut found = loaded.findings.clone();
        found.retain(|finding| finding.index.is_some());
        found.extend(lint(&loaded.catalog, &LintOptions { pinned, ..LintOptions::default() }));
        done(&One::<[CatalogFinding]>("findings", &found))
    }),
    Operation::of_large_fields("items", |loaded, fields| {
        fields.finish()?;
        done(&One("items", &loaded.catalog.items().collect::<Vec<_>>()))
    }),
    Operation::of_large_fields("size", |loaded, fields| {
        fields.finish()?;
        done(&One("size", &loaded.catalog.len()))
    }),
    Operation::of_large_fields("pin", |loaded, fields| {
        fields.finish()?;
        done(&One("pins", &pin(&loaded.catalog)))
    }),
    Operation::of_large_fields("findings", |loaded, fields| {
        fields.finish()?;
        done(&One::<[CatalogFinding]>("findings", &loaded.findings))
    }),
    Operation::of_large_fields("namespaces", |loaded, fields| {
        fields.finish()?;
        let namespaces = loaded.catalog.namespaces();
        let list: Vec<Value> =
            namespaces.iter().map(|(name, tools)| json!({ "namespace": name, "tools": tools })).collect();
        done(&One("namespaces", &list))
    }),
    Operation::of_large_fields("hash", |loaded, fields| {
        fields.finish()?;
        done(&One("hash", &loaded.catalog.fingerprint()))
    }),
];

/// Runs an operation of a catalog.
pub fn catalog_call(loaded: &mut LoadedCatalog, operation: &str, arguments: &str) -> Result<String> {
    operation::call(OPERATIONS, loaded, operation, arguments)
}

fn other_catalog(fields: &mut Fields) -> Result<Catalog> {
    let next = fields.require("next")?;
    Catalog::from_value(next, "/next")
}

/// Compares the routes of queries over this catalog and the next one; without queries, of those its tools suggest.
fn impact(catalog: &Catalog, fields: &mut Fields) -> Result<Value> {
    let next = other_catalog(fields)?;
    let top_k = fields.uint_or("top_k", IMPACT_TOP_K, MAX_TOP_K)?;
    let mut router = Fields::open(fields.take("router").unwrap_or_else(|| json!({})), "/router")?;
    let options = router_options(&mut router)?;
    router.finish()?;
    let probes = if fields.has("probes") {
        fields.get::<Vec<RouteProbe>>("probes")?
    } else {
        let items: Vec<SelectableItem> = catalog.items().cloned().collect();
        let suggested = suggest_probes(&items, SUGGESTED_PROBES)?.into_iter();
        suggested.map(|(query, id)| RouteProbe { query, expected: Some(id) }).collect()
    };
    let impact = routing_impact(catalog, &next, &probes, top_k, &options)?;
    Ok(json!({ "impact": impact, "markdown": impact.to_markdown() }))
}

fn only_id(mut fields: Fields) -> Result<String> {
    let id = fields.string("id")?;
    fields.finish()?;
    Ok(id)
}
