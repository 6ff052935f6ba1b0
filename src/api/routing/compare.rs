//! Functions over lists of tools and over captures of them: evening out, comparing, examining.

use serde_json::{Value, json};

use super::catalog::below;
use contextweaver_base::Result;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::Fields;
use contextweaver_routing::catalog::{CapabilitySnapshot, NormaliseOptions, diff_snapshots, normalise};

/// Runs a function; `None` when it is none of these.
pub fn call(operation: &str, fields: &mut Fields) -> Option<Result<Value>> {
    Some(match operation {
        "normalise" => evened_out(fields),
        "capability_snapshot" => snapshot(fields),
        "capability_diff" => drift(fields),
        _ => return None,
    })
}

fn evened_out(fields: &mut Fields) -> Result<Value> {
    let items: Vec<SelectableItem> = fields.get("items")?;
    let base = NormaliseOptions::default();
    let options = NormaliseOptions {
        strict: fields.bool_or("strict", base.strict)?,
        lowercase_tags: fields.bool_or("lowercase_tags", base.lowercase_tags)?,
    };
    let (items, report) = normalise(&items, options).map_err(|error| below(error, "/items"))?;
    Ok(json!({ "items": items, "report": report }))
}

/// The text of a source, because a number that was read and written again may have changed its form.
fn snapshot(fields: &mut Fields) -> Result<Value> {
    let source = fields.string("source")?;
    let kind = fields.string_or("source_type", "mcp")?;
    Ok(json!({ "text": CapabilitySnapshot::build(&source, &kind)?.to_text() }))
}

fn drift(fields: &mut Fields) -> Result<Value> {
    let mut load = |key: &'static str| {
        let text = fields.string(key)?;
        CapabilitySnapshot::load(&text).map_err(|error| error.at(fields.at(key)))
    };
    let (before, after) = (load("before")?, load("after")?);
    Ok(json!(diff_snapshots(&before, &after)))
}
