//! Functions over lists of tools and over captures of them: evening out, comparing, examining.

use serde_json::json;

use super::super::done;
use super::catalog::below;
use contextweaver_base::Result;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::Fields;
use contextweaver_routing::catalog::{CapabilitySnapshot, NormaliseOptions, diff_snapshots, normalise};

pub fn normalised(mut fields: Fields) -> Result<String> {
    let items: Vec<SelectableItem> = fields.get("items")?;
    let base = NormaliseOptions::default();
    let options = NormaliseOptions {
        strict: fields.bool_or("strict", base.strict)?,
        lowercase_tags: fields.bool_or("lowercase_tags", base.lowercase_tags)?,
    };
    fields.finish()?;
    let (items, report) = normalise(&items, options).map_err(|error| below(error, "/items"))?;
    done(&json!({ "items": items, "report": report }))
}

/// The text of a source, because a number that was read and written again may have changed its form.
pub fn snapshot(mut fields: Fields) -> Result<String> {
    let source = fields.string("source")?;
    let kind = fields.string_or("source_type", "mcp")?;
    fields.finish()?;
    done(&json!({ "text": CapabilitySnapshot::build(&source, &kind)?.to_text() }))
}

pub fn drift(mut fields: Fields) -> Result<String> {
    let mut load = |key: &'static str| {
        let text = fields.string(key)?;
        CapabilitySnapshot::load(&text).map_err(|error| error.at(fields.at(key)))
    };
    let (before, after) = (load("before")?, load("after")?);
    fields.finish()?;
    done(&diff_snapshots(&before, &after))
}
