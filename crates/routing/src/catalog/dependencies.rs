//! What tools need of each other.

use serde::Serialize;

use super::Catalog;
use contextweaver_base::order::{self, WordSet};
use contextweaver_model::SelectableItem;

/// A tool or capability that another tool needs and the catalog lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnresolvedDependency {
    /// Id of the tool that needs it.
    pub item_id: String,
    /// The field that names it: `depends_on` or `requires`.
    pub field: &'static str,
    /// The id that no tool has, or what no tool provides.
    pub missing: String,
}

/// What the tools of a catalog need and no tool provides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DependencyReport {
    /// Number of tools in the catalog.
    pub items_processed: usize,
    /// Sorted by tool, field and what is missing.
    pub findings: Vec<UnresolvedDependency>,
}

/// Returns what tools depend on or require and none provides; a tool may depend on itself.
pub fn check_dependencies(items: &[&SelectableItem]) -> DependencyReport {
    let ids = WordSet::new(items.iter().map(|item| item.id.clone()).collect());
    let provided = WordSet::new(items.iter().filter_map(|item| item.provides.clone()).flatten().collect());
    let mut findings = Vec::new();
    for item in items {
        for (field, wanted, known) in [("depends_on", &item.depends_on, &ids), ("requires", &item.requires, &provided)]
        {
            let missing = wanted.iter().flatten().filter(|word| !known.contains(word));
            findings.extend(missing.map(|word| UnresolvedDependency {
                item_id: item.id.clone(),
                field,
                missing: word.clone(),
            }));
        }
    }
    order::sort(&mut findings);
    DependencyReport { items_processed: items.len(), findings }
}

impl Catalog {
    /// Returns what the tools need and no tool provides.
    pub fn check_dependencies(&self) -> DependencyReport {
        check_dependencies(&self.items().collect::<Vec<_>>())
    }

    /// Returns a sentence for every `depends_on` that names no tool, by tool and in its order.
    pub fn validate_dependencies(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for item in self.items() {
            for id in item.depends_on.iter().flatten().filter(|id| !self.contains(id)) {
                sentences.push(format!("Item '{}' depends_on unknown tool id '{id}'", item.id));
            }
        }
        sentences
    }
}
