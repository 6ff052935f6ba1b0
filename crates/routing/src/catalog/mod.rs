//! The tools there are, by id: reading, comparing and examining them.

mod capability;
mod collisions;
mod dependencies;
mod diff;
mod finding;
mod hash;
mod inventory;
mod lint;
mod load;
mod mcp_list;
mod normalise;
mod risk;

use std::rc::Rc;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

pub use capability::{
    CAPABILITY_DIFF_SCHEMA, CapabilityChange, CapabilityDiff, CapabilitySnapshot, SNAPSHOT_SCHEMA, SOURCE_TYPES,
    diff_snapshots, validate_snapshot,
};
pub use collisions::{COLLISION_KINDS, Collision, CollisionReport, CollisionThresholds, analyze_collisions};
pub use dependencies::{DependencyReport, UnresolvedDependency, check_dependencies};
pub use diff::{CatalogDiff, ChangedItem, diff_catalogs, suggest_probes};
pub use finding::{CatalogFinding, RULES, SEVERITIES};
pub use hash::{compute_catalog_hash, fingerprint, item_fingerprint};
pub use inventory::{INVENTORY_FIELDS, attach_inventory, inventory_of, is_deprecated, validate_inventory};
pub use lint::{LintOptions, PinnedFingerprints, lint, pin, read_pins};
pub use load::{InvalidTools, LoadedCatalog, load_catalog};
pub use mcp_list::from_mcp_tools;
pub use normalise::{NormaliseOptions, NormaliseReport, normalise};
pub use risk::{RISKS, ToolChange, assess, worst};

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, pointer, there_are};
use contextweaver_model::{HydrationResult, SelectableItem};
use contextweaver_text::quote::quote;

/// Tools by id; no id is there twice. A copy shares the tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    items: SortedMap<String, Rc<SelectableItem>>,
}

impl Catalog {
    /// Makes an empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// Fails with `DUPLICATE_ID` when its id is taken and `INVALID_INPUT` when it is blank.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_base::ErrorCode;
    /// use contextweaver_model::SelectableItem;
    /// use contextweaver_routing::Catalog;
    /// use serde_json::json;
    ///
    /// let tool = json!({ "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email." });
    /// let mut catalog = Catalog::new();
    /// catalog.register(SelectableItem::from_value(tool.clone(), "")?)?;
    /// assert_eq!(catalog.get("mail.send")?.name, "send_mail");
    /// let error = catalog.register(SelectableItem::from_value(tool, "")?).unwrap_err();
    /// assert_eq!(error.code(), ErrorCode::DuplicateId);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn register(&mut self, item: SelectableItem) -> Result<()> {
        if item.id.trim().is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "the id of a tool is blank").at("/id"));
        }
        if self.items.contains_key(&item.id) {
            return Err(duplicate(&item.id));
        }
        self.items.insert(item.id.clone(), Rc::new(item));
        Ok(())
    }

    /// Adds tools: all of them, or none when one is refused. Paths of errors start with `/<index>`.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::register`] does.
    pub fn register_all(&mut self, items: Vec<SelectableItem>) -> Result<()> {
        let mut added = Self::new();
        for (at, item) in items.into_iter().enumerate() {
            let taken = self.items.contains_key(&item.id).then(|| duplicate(&item.id));
            taken.map_or_else(|| added.register(item), Err).map_err(|error| {
                let path = format!("/{at}{}", error.path());
                error.under(path)
            })?;
        }
        if self.is_empty() {
            *self = added;
        } else {
            self.items.extend(added.items.into_entries());
        }
        Ok(())
    }

    /// Removes a tool and returns it.
    pub fn remove(&mut self, id: &str) -> Option<SelectableItem> {
        self.items.remove(id).map(Rc::unwrap_or_clone)
    }

    /// Returns a tool.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn get(&self, id: &str) -> Result<&SelectableItem> {
        self.find(id).ok_or_else(|| {
            let error = Error::new(ErrorCode::NotFound, format!("no tool has the id {}", quote(id))).at("/id");
            error.hint(there_are(id, "tool", self.items.keys().map(String::as_str)))
        })
    }

    /// Returns the tool with an id, none where there is no such tool.
    pub fn find(&self, id: &str) -> Option<&SelectableItem> {
        self.items.get(id).map(Rc::as_ref)
    }

    /// Tells whether a tool has this id.
    pub fn contains(&self, id: &str) -> bool {
        self.items.contains_key(id)
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Tells whether the catalog has no tools.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the tools in the order of their ids.
    pub fn items(&self) -> impl Iterator<Item = &SelectableItem> + Clone {
        self.items.values().map(Rc::as_ref)
    }

    /// Returns the tools of exactly this namespace, by id.
    pub fn filter_by_namespace(&self, namespace: &str) -> Vec<&SelectableItem> {
        self.items().filter(|item| item.namespace == namespace).collect()
    }

    /// Returns the tools that have all these tags, by id.
    pub fn filter_by_tags(&self, tags: &[String]) -> Vec<&SelectableItem> {
        self.items().filter(|item| tags.iter().all(|tag| item.tags.contains(tag))).collect()
    }

    /// Counts the tools of each namespace.
    pub fn namespaces(&self) -> SortedMap<String, usize> {
        let mut counts = SortedMap::new();
        for item in self.items() {
            *counts.get_or_insert(&item.namespace, 0) += 1;
        }
        counts
    }

    /// Returns what a call of a tool needs to know.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn hydrate(&self, id: &str) -> Result<HydrationResult> {
        self.get(id).map(HydrationResult::of)
    }

    /// Returns a digest of everything in the catalog, to be used as the key of a cache.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.items())
    }

    /// Returns the catalog as JSON, its tools by id.
    pub fn to_json(&self) -> Value {
        json!({ "items": self.items().collect::<Vec<_>>() })
    }

    /// Reads what [`Catalog::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// Fails with `MISSING_FIELD` without `items`, with `DUPLICATE_ID` when two tools have the same id.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_routing::Catalog;
    /// use serde_json::json;
    ///
    /// let saved = json!({ "items": [{ "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send." }] });
    /// let catalog = Catalog::from_value(saved, "")?;
    /// assert_eq!(catalog.len(), 1);
    /// assert_eq!(Catalog::from_value(catalog.to_json(), "")?, catalog);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        fields.required("items")?;
        let mut catalog = Self::new();
        for (index, item) in fields.records("items", SelectableItem::from_value)?.into_iter().enumerate() {
            let at = format!("{}/{index}/id", pointer(path, "items"));
            catalog.register(item).map_err(|error| error.under(at))?;
        }
        Ok(catalog)
    }
}

impl<'de> Deserialize<'de> for Catalog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?, "").map_err(serde::de::Error::custom)
    }
}

fn duplicate(id: &str) -> Error {
    Error::new(ErrorCode::DuplicateId, format!("two tools have the id {}", quote(id))).at("/id")
}
