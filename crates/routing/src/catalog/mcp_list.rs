//! Catalogs of what an MCP server lists.

use serde_json::Value;

use super::finding::CatalogFinding;
use super::load::LoadedCatalog;
use contextweaver_base::Result;
use contextweaver_convert::mcp::{ConvertedTool, ToolOptions, mcp_tool_to_selectable, tool_list};

/// Reads a `tools/list` capture: a list of tools, `{"tools": […]}`, or the JSON-RPC response around it.
///
/// A tool that cannot be read is reported and left out; of one that can, what was ignored is reported. What a tool has no
/// field for is kept in its metadata, below `_contextweaver.mcp`. What a server says about the effects of its tools is a
/// hint, never a permission.
///
/// # Errors
///
/// Fails with `INVALID_INPUT` for what is no list of tools.
///
/// # Examples
///
/// ```
/// use contextweaver_convert::mcp::ToolOptions;
/// use contextweaver_routing::from_mcp_tools;
/// use serde_json::json;
///
/// let listing = json!({ "tools": [
///     { "name": "send_mail", "description": "Send an email.", "inputSchema": { "type": "object" } },
///     { "description": "a tool without a name" },
/// ] });
/// let loaded = from_mcp_tools(listing, &ToolOptions::default())?;
/// assert_eq!(loaded.catalog.items().next().map(|item| item.name.as_str()), Some("send_mail"));
/// assert_eq!(loaded.findings[0].code, "tool-invalid");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_mcp_tools(value: Value, options: &ToolOptions) -> Result<LoadedCatalog> {
    let mut loaded = LoadedCatalog::default();
    for (index, tool) in tool_list(value)?.into_iter().enumerate() {
        let mut warnings = Vec::new();
        let added = loaded.add(index, tool, |tool| {
            let ConvertedTool { item, warnings: found } = mcp_tool_to_selectable(tool, options)?;
            warnings = found;
            Ok(item)
        });
        let Some(id) = added else { continue };
        // Of hints the examination of the catalog tells.
        for warning in warnings.into_iter().filter(|warning| warning.code != "hint-ignored") {
            let finding = CatalogFinding::new("field-ignored", &id, warning.path).message(warning.message);
            loaded.findings.push(finding.index(index));
        }
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use contextweaver_convert::mcp::IdForm;

    #[test]
    fn bad_tools_do_not_keep_good_ones_out() {
        let tools = json!([
            { "name": "DATA.export", "inputSchema": { "properties": { "a": {} } }, "_meta": { "x": 1 }, "icons": [] },
            { "name": "9 lives", "title": "Lives", "annotations": { "readOnlyHint": "false", "costHint": -1 } },
            { "name": "a", "annotations": [] },
            { "name": "b", "inputSchema": { "properties": [] } },
            7,
            { "description": "nameless" },
            { "name": "both", "annotations": { "readOnlyHint": true, "destructiveHint": true, "costHint": 2 } },
            { "name": "both" },
        ]);
        let canonical = ToolOptions { id_form: IdForm::Canonical, ..ToolOptions::default() };
        for capture in [tools.clone(), json!({ "tools": tools }), json!({ "id": 1, "result": { "tools": tools } })] {
            let loaded = from_mcp_tools(capture, &canonical).unwrap();
            let ids: Vec<&str> = loaded.catalog.items().map(|item| item.id.as_str()).collect();
            let wanted = ["data:export#ac0123de", "mcp:_9_lives#10d059c3", "mcp:a", "mcp:b", "mcp:both#7b45bf2b"];
            assert_eq!(ids.len(), wanted.len());
            assert!(ids.iter().zip(wanted).all(|(id, wanted)| id.starts_with(wanted)), "{ids:?}");
            let found: Vec<_> = loaded.findings.iter().map(|found| (found.code, found.index.unwrap())).collect();
            let invalid = |index| ("tool-invalid", index);
            assert_eq!(found, [("field-ignored", 2), invalid(4), invalid(5), ("duplicate-id", 7)]);
            let both = loaded.catalog.get(ids[4]).unwrap();
            assert!(both.side_effects && (both.cost_hint - 2.0).abs() < 1e-9 && both.metadata["readOnlyHint"] == true);
            let export = loaded.catalog.get(ids[0]).unwrap();
            let kept = json!({ "fields": { "_meta": { "x": 1 }, "icons": [] }, "absent": ["description"] });
            assert_eq!(json!(export.metadata), json!({ "_contextweaver": { "mcp": kept } }));
            assert_eq!(loaded.catalog.get(ids[1]).unwrap().description, "Lives");
        }
        let short = ToolOptions { server: Some("fs".into()), ..ToolOptions::default() };
        let loaded = from_mcp_tools(json!([{ "name": "read" }]), &short).unwrap();
        assert!(loaded.catalog.contains("mcp:fs/read"));
        for bad in [json!({}), json!({ "tools": {} }), json!({ "result": {} }), json!(1)] {
            assert!(from_mcp_tools(bad, &short).is_err());
        }
    }
}
