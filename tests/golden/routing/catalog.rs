//! Cases of the catalog room.

use serde_json::{Value, json};

use contextweaver_base::{Error, ErrorCode};
use contextweaver_convert::mcp::{
    ToolId, canonical_tool_id, parse_primitive_id, prompt_hash, prompt_id, resolve_collisions, resource_hash,
    resource_id, shape_hash,
};
use contextweaver_model::SelectableItem;
use contextweaver_routing::Catalog;
use contextweaver_routing::catalog::{
    CapabilitySnapshot, CollisionThresholds, InvalidTools, NormaliseOptions, analyze_collisions, attach_inventory,
    compute_catalog_hash, diff_catalogs, diff_snapshots, inventory_of, is_deprecated, load_catalog, normalise,
    suggest_probes, validate_inventory, validate_snapshot,
};

use contextweaver_routing::router::{IMPACT_TOP_K, Navigator, RouteProbe, RouterOptions, routing_impact};

use super::{items, recorded};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    Some(match file {
        "catalog" => Ok(catalog(input)),
        "catalog_hash" => Ok(compute_catalog_hash(&named(input, "items")).into()),
        "catalog_load" => Ok(load(input)),
        "inventory" => inventory(input),
        "normalizer" => Ok(normalizer(input)),
        "collision" => Ok(collision(input)),
        "catalog_diff" => diff(input),
        "drift" => drift(input),
        "tool_id" => tool_id(input),
        _ => return None,
    })
}

fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Returns the tools under a key, or those of a named catalog.
fn named(input: &Value, key: &str) -> Vec<SelectableItem> {
    items(input.get("catalog").unwrap_or(&input[key]))
}

fn failed(class: &str) -> Value {
    json!({ "error": class })
}

fn or_failed<T: Into<Value>>(result: Result<T, Error>, class: &str) -> Value {
    result.map_or_else(|_| failed(class), Into::into)
}

fn class(error: &Error) -> Value {
    failed(match error.code() {
        ErrorCode::NotFound => "ItemNotFoundError",
        ErrorCode::MissingField => "KeyError",
        _ if error.details().get("finding").is_some_and(|code| code == "reference-unknown") => "CatalogValidationError",
        _ => "CatalogError",
    })
}

/// Returns a tool with all its fields.
fn full(item: &SelectableItem) -> Value {
    json!(item)
}

fn ids<'a>(found: impl IntoIterator<Item = &'a SelectableItem>) -> Value {
    found.into_iter().map(|item| item.id.clone()).collect()
}

fn catalog(input: &Value) -> Value {
    let mut catalog = Catalog::new();
    let ops = input["ops"].as_array().into_iter().flatten();
    ops.map(|op| match text(op, "op") {
        "register" => SelectableItem::from_value(op["item"].clone(), "")
            .and_then(|item| catalog.register(item))
            .map_or_else(|error| class(&error), |()| "ok".into()),
        "get" => catalog.get(text(op, "id")).map_or_else(|error| class(&error), full),
        "all" => ids(catalog.items()),
        "filter_by_namespace" => ids(catalog.filter_by_namespace(text(op, "namespace"))),
        "filter_by_tags" => ids(catalog.filter_by_tags(&texts(&op["tags"]))),
        "validate_dependencies" => json!(catalog.validate_dependencies()),
        "validate_references" => json!(catalog.check_dependencies()),
        "to_dict" => catalog.to_json(),
        "from_dict" => Catalog::from_value(op["data"].clone(), "")
            .map_or_else(|error| class(&error), |catalog| ids(catalog.items())),
        "hydrate" => catalog.hydrate(text(op, "id")).map_or_else(|error| class(&error), |found| json!(found)),
        "round_trip" => (Catalog::from_value(catalog.to_json(), "").is_ok_and(|again| again == catalog)).into(),
        other => format!("no operation {other:?}").into(),
    })
    .collect()
}

/// The reference stops at the first bad tool; here it is what would have been reported.
fn load(input: &Value) -> Value {
    let Ok(mode) = InvalidTools::parse(text(input, "on_invalid")) else { return failed("CatalogError") };
    match load_catalog(input["data"].clone(), mode) {
        Err(error) if error.code() == ErrorCode::MissingField => failed("CatalogError"),
        Err(error) => class(&error),
        Ok(loaded) if loaded.findings.iter().any(|found| found.severity == "error") => failed("CatalogError"),
        Ok(loaded) => loaded.catalog.items().map(full).collect(),
    }
}

fn inventory(input: &Value) -> Result<Value, String> {
    let item = |metadata: &Value| SelectableItem {
        id: "a".into(),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        ..SelectableItem::default()
    };
    match text(input, "op") {
        "validate" => Ok(or_failed(validate_inventory(input["mapping"].clone(), ""), "ConfigError")),
        "attach" => Ok(match attach_inventory(&item(&input["metadata"]), input["inventory"].clone()) {
            Ok(item) => json!(item.metadata),
            Err(error) if error.path().starts_with("/metadata") => failed("CatalogError"),
            Err(_) => failed("ConfigError"),
        }),
        "inventory_of" => {
            let item = item(&input["metadata"]);
            let found = inventory_of(&item).and_then(|found| Ok((found, is_deprecated(&item)?)));
            Ok(found.map_or_else(
                |_| failed("ConfigError"),
                |(inventory, deprecated)| json!({ "inventory": inventory, "deprecated": deprecated }),
            ))
        }
        other => Err(format!("no operation {other:?}")),
    }
}

fn normalizer(input: &Value) -> Value {
    let strict = input["strict"] == true;
    let options = NormaliseOptions { strict, lowercase_tags: input["lowercase_tags"] != false };
    normalise(&items(&input["items"]), options).map_or_else(
        |error| class(&error),
        |(items, report)| {
            let changed = report.changed_count();
            json!({ "items": items.iter().map(recorded).collect::<Vec<_>>(), "report": report, "changed_count": changed })
        },
    )
}

fn collision(input: &Value) -> Value {
    let mut thresholds = CollisionThresholds { most_of_a_kind: usize::MAX, ..CollisionThresholds::default() };
    for (key, threshold) in [
        ("near_name_threshold", &mut thresholds.near_name),
        ("description_threshold", &mut thresholds.description),
        ("schema_threshold", &mut thresholds.schema),
    ] {
        *threshold = input[key].as_f64().unwrap_or(*threshold);
    }
    let report = analyze_collisions(&named(input, "items"), thresholds);
    json!({ "report": report, "markdown": report.to_markdown() })
}

fn diff(input: &Value) -> Result<Value, String> {
    match text(input, "op") {
        "diff" => Ok(diff_catalogs(&items(&input["before"]), &items(&input["after"])).map_or_else(
            |_| failed("ConfigError"),
            |diff| {
                let changed: Vec<Value> =
                    diff.changed.iter().map(|item| json!({ "id": item.id, "fields": item.fields })).collect();
                let markdown = diff.to_markdown();
                let mut record = json!(diff);
                record["changed"] = changed.into();
                json!({ "diff": record, "markdown": markdown })
            },
        )),
        "probes" => {
            let count = usize::try_from(input["n"].as_i64().unwrap_or(20)).unwrap_or(0);
            Ok(suggest_probes(&named(input, "items"), count)
                .map_or_else(|_| failed("ConfigError"), |probes| json!(probes)))
        }
        "impact" => Ok(impact(input)),
        other => Err(format!("no operation {other:?}")),
    }
}

fn impact(input: &Value) -> Value {
    let catalog = |key: &str| {
        let mut catalog = Catalog::new();
        catalog.register_all(items(&input[key])).map(|()| catalog)
    };
    let probe = |probe: &Value| RouteProbe {
        query: probe[0].as_str().unwrap_or_default().to_owned(),
        expected: probe[1].as_str().map(str::to_owned),
    };
    let probes: Vec<RouteProbe> = input["probes"].as_array().into_iter().flatten().map(probe).collect();
    let top_k = input["top_k"].as_i64().map_or(IMPACT_TOP_K, |top_k| u64::try_from(top_k).unwrap_or(0));
    let options = RouterOptions { navigator: Navigator::Beam, ..RouterOptions::default() };
    let compared =
        catalog("before").and_then(|before| routing_impact(&before, &catalog("after")?, &probes, top_k, &options));
    match compared {
        Ok(impact) => json!({ "impact": impact, "markdown": impact.to_markdown() }),
        Err(_) => failed("ConfigError"),
    }
}

fn drift(input: &Value) -> Result<Value, String> {
    let snapshot = |key: &str| CapabilitySnapshot::load(&input[key].to_string());
    match text(input, "op") {
        "build" => {
            let built = CapabilitySnapshot::build(text(input, "source_text"), text(input, "source_type"));
            Ok(built.map_or_else(
                |error| if error.code() == ErrorCode::MissingField { failed("CatalogError") } else { class(&error) },
                |built| built.to_value(),
            ))
        }
        "validate" => Ok(json!(validate_snapshot(&input["snapshot"].to_string()).map_err(|error| error.to_string())?)),
        "inspect" => Ok(snapshot("snapshot").map_or_else(|error| class(&error), |snapshot| snapshot.inspect())),
        "diff" => {
            let (Ok(before), Ok(after)) = (snapshot("before"), snapshot("after")) else {
                return Ok(failed("CatalogError"));
            };
            let mut diff = json!(diff_snapshots(&before, &after));
            for change in diff["changed"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                change.remove("effect");
            }
            Ok(diff)
        }
        other => Err(format!("no operation {other:?}")),
    }
}

fn tool_id(input: &Value) -> Result<Value, String> {
    let schema = Some(&input["input_schema"]).filter(|schema| !schema.is_null());
    let (namespace, name) = (text(input, "namespace"), text(input, "name"));
    let field = |key: &str| input[key].as_str().map(str::to_owned);
    let arguments = texts(&input["argument_names"]);
    let parts = |id: ToolId, kind: Option<&str>| {
        let mut record = json!(id);
        if let (Some(kind), Some(fields)) = (kind, record.as_object_mut()) {
            fields.insert("kind".into(), kind.into());
            fields.retain(|key, value| key != "version" || !value.is_null());
        }
        record
    };
    let result = match text(input, "op") {
        "hash8" => shape_hash(text(input, "upstream_name"), schema).map(Value::from),
        "parse" => ToolId::parse(text(input, "id")).map(|id| parts(id, None)),
        "parse_primitive" => parse_primitive_id(text(input, "id")).map(|(kind, id)| parts(id, Some(kind))),
        "format" | "format_tool_id" => {
            let id = ToolId {
                namespace: namespace.into(),
                name: name.into(),
                version: field("version"),
                hash8: field("hash8"),
            };
            id.to_text().map(Value::from)
        }
        "canonical" => {
            let version = field("version");
            canonical_tool_id(namespace, name, text(input, "upstream_name"), schema, version.as_deref())
                .map(Value::from)
        }
        "resource_hash" => Ok(resource_hash(text(input, "uri")).into()),
        "prompt_hash" => Ok(prompt_hash(name, &arguments).into()),
        "resource_id" => resource_id(namespace, name, text(input, "uri")).map(Value::from),
        "prompt_id" => prompt_id(namespace, name, text(input, "prompt_name"), &arguments).map(Value::from),
        "resolve_collisions" => {
            let resolved = resolve_collisions(&texts(&input["ids"])).into_iter().enumerate();
            Ok(Value::Object(resolved.map(|(index, id)| (index.to_string(), id.into())).collect()))
        }
        other => return Err(format!("no operation {other:?}")),
    };
    Ok(or_failed(result, "CatalogError"))
}
