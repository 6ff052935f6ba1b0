//! Who owns a tool and how it may be used, kept in its metadata under the reserved key.

use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap};
use contextweaver_model::{RESERVED_KEY, SelectableItem};
use contextweaver_text::quote::quote;

/// The fields of an inventory with the values they may have; none for free text.
pub const INVENTORY_FIELDS: &[(&str, &[&str])] = &[
    ("owner_team", &[]),
    ("business_domain", &[]),
    ("contact", &[]),
    ("source_repo", &[]),
    ("risk_level", &["low", "medium", "high"]),
    ("side_effects", &["none", "read", "write", "destructive"]),
    ("lifecycle", &["experimental", "active", "deprecated", "blocked"]),
    ("environment", &["dev", "staging", "prod"]),
    ("service_tier", &["best_effort", "supported", "critical"]),
];

/// Reads an inventory; nulls are left out, unknown fields and values are refused.
///
/// # Errors
///
/// Fails with `UNKNOWN_FIELD` or `INVALID_INPUT`, with the path of the field.
pub fn validate_inventory(value: Value, path: &str) -> Result<JsonMap> {
    let mut fields = Fields::open(value, path)?;
    let mut out = JsonMap::new();
    for (name, values) in INVENTORY_FIELDS {
        if let Some(text) = fields.opt_string(name)? {
            check(name, values, text, &fields.at(name), &mut out)?;
        }
    }
    fields.finish()?;
    Ok(out)
}

fn check(name: &str, values: &[&str], text: String, at: &str, out: &mut JsonMap) -> Result<()> {
    if !values.is_empty() && !values.contains(&text.as_str()) {
        let message = format!("{} is no {name}", quote(&text));
        return Err(Error::new(ErrorCode::InvalidInput, message).at(at).hint(format!("one of {}", values.join(", "))));
    }
    out.insert(name.to_owned(), text.into());
    Ok(())
}

/// Returns a copy of a tool with this inventory; what else the reserved key holds stays.
///
/// # Errors
///
/// Fails as [`validate_inventory`] does.
pub fn attach_inventory(item: &SelectableItem, inventory: Value) -> Result<SelectableItem> {
    let inventory = validate_inventory(inventory, "/inventory")?;
    let mut item = item.clone();
    let reserved = item.metadata.entry(RESERVED_KEY).or_insert_with(|| Value::Object(JsonMap::new()));
    match reserved {
        Value::Object(map) => map.insert("inventory".to_owned(), Value::Object(inventory)),
        other => return Err(contextweaver_model::json::wrong_type("/metadata/_contextweaver", "an object", other)),
    };
    Ok(item)
}

/// Returns the inventory of a tool, if it has one.
///
/// # Errors
///
/// Fails when it cannot be read.
pub fn inventory_of(item: &SelectableItem) -> Result<Option<JsonMap>> {
    let inventory = item.metadata.get(RESERVED_KEY).and_then(|reserved| reserved.get("inventory"));
    inventory.map(|value| validate_inventory(value.clone(), "/metadata/_contextweaver/inventory")).transpose()
}

/// Tells whether the inventory of a tool calls it deprecated.
///
/// # Errors
///
/// Fails when the inventory cannot be read.
pub fn is_deprecated(item: &SelectableItem) -> Result<bool> {
    Ok(inventory_of(item)?
        .is_some_and(|inventory| inventory.get("lifecycle").is_some_and(|state| state == "deprecated")))
}
