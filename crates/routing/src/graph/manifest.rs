//! What a built graph says of its making.

use serde_json::{Value, json};

use contextweaver_model::json::JsonMap;

/// What went into a graph.
#[derive(Debug, Clone)]
pub struct GraphManifest<'a> {
    /// Hash of the catalog.
    pub catalog_hash: &'a str,
    /// How many items there are.
    pub items: usize,
    /// How the items were put into groups.
    pub strategy: &'a str,
    /// Edges from the root to the farthest item.
    pub max_depth: u64,
    /// Most children of a node.
    pub max_children: u64,
    /// Version of the builder.
    pub tree_builder: &'a str,
    /// Version of what names the groups.
    pub labeler: &'a str,
}

impl GraphManifest<'_> {
    /// Returns the record a graph carries as `build_meta`. Its time is always zero, so that equal catalogs give equal
    /// bytes.
    pub fn build_meta(&self) -> JsonMap {
        let Self { catalog_hash, items, strategy, max_depth, max_children, tree_builder, labeler } = self;
        let meta = json!({
            "version": "1.0",
            "strategy": strategy,
            "item_count": items,
            "max_depth": max_depth,
            "manifest": {
                "manifest_version": 1,
                "build_hash": catalog_hash,
                "seed": null,
                "engine_versions": { "tree_builder": tree_builder, "labeler": labeler },
                "timestamp": 0.0,
                "item_count": items,
                "strategy": strategy,
                "max_depth": max_depth,
                "extra": { "max_children": max_children },
            },
        });
        match meta {
            Value::Object(map) => map,
            _ => JsonMap::new(),
        }
    }
}

/// Tells whether a graph was built of the catalog with this hash.
pub fn matches_catalog(build_meta: &JsonMap, catalog_hash: &str) -> bool {
    build_meta.get("manifest").is_some_and(|manifest| manifest["build_hash"] == catalog_hash)
}
