//! Tools: catalog, scorers, graph, router, cards.

mod cards;
mod catalog;
mod graph;
mod router;

use serde_json::{Map, Value, json};

use contextweaver_model::SelectableItem;

/// Runs one case.
pub fn run(file: &str, input: &Value) -> Result<Value, String> {
    let runners = [catalog::run, graph::run, cards::run, router::run];
    runners.iter().find_map(|run| run(file, input)).unwrap_or_else(|| Err(format!("no runner for file {file:?}")))
}

/// Returns the tools of a case: given in it, or a named catalog.
pub fn items(value: &Value) -> Vec<SelectableItem> {
    raw_items(value)
        .into_iter()
        .map(|item| SelectableItem::from_value(item, "").expect("a case has good tools"))
        .collect()
}

/// Returns the tools of a case as recorded.
pub fn raw_items(value: &Value) -> Vec<Value> {
    match value.as_str() {
        None => value.as_array().cloned().unwrap_or_default(),
        Some(name) => {
            let path = crate::vectors().join("routing/catalogs.json");
            crate::read(&path)["catalogs"][name].as_array().cloned().expect("a named catalog is recorded")
        }
    }
}

/// Returns a tool as the recordings write it: without the fields that have their default.
pub fn recorded(item: &SelectableItem) -> Value {
    let empty = json!([Value::Null, "", [], {}, false, 0.0]);
    let always = ["id", "kind", "name", "description"];
    let fields: Map<String, Value> = match json!(item) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let optional = ["depends_on", "provides", "requires"];
    let kept = fields.into_iter().filter(|(key, value)| {
        let is_default = empty.as_array().is_some_and(|list| list.contains(value));
        always.contains(&key.as_str()) || optional.contains(&key.as_str()) || !is_default
    });
    Value::Object(kept.collect())
}
