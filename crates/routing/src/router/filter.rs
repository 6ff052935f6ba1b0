//! Which tools take part in a route at all.

use crate::Catalog;
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;

/// What a caller leaves out or insists on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteFilters {
    /// Tools that must not be chosen.
    pub exclude_ids: WordSet,
    /// Tools with any of these tags must not be chosen.
    pub exclude_tags: WordSet,
    /// Only tools of exactly these namespaces; an empty set allows none.
    pub allowed_namespaces: Option<WordSet>,
    /// Only tools with at least one of these tags; an empty set allows none.
    pub allowed_tags: Option<WordSet>,
}

/// What filters say of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterVerdict {
    /// It takes part.
    Active,
    /// It was excluded by id or tag.
    Excluded,
    /// It is outside the allowed namespaces or tags.
    Gated,
}

impl RouteFilters {
    /// Tells whether no tool is left out.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Judges a tool; exclusion goes before allowance. Tags and namespaces are compared exactly.
    pub fn verdict(&self, item: &SelectableItem) -> FilterVerdict {
        let tagged = |tags: &WordSet| item.tags.iter().any(|tag| tags.contains(tag));
        if self.exclude_ids.contains(&item.id) || !self.exclude_tags.is_empty() && tagged(&self.exclude_tags) {
            return FilterVerdict::Excluded;
        }
        let outside = self.allowed_namespaces.as_ref().is_some_and(|allowed| !allowed.contains(&item.namespace));
        if outside || self.allowed_tags.as_ref().is_some_and(|allowed| !tagged(allowed)) {
            return FilterVerdict::Gated;
        }
        FilterVerdict::Active
    }
}

/// Adds hints, such as words of the last result, to a query; returns it with the hints that were used.
pub fn with_hints(query: &str, hints: &[String]) -> (String, Vec<String>) {
    let used: Vec<String> = hints
        .iter()
        .map(|hint| contextweaver_text::unicode::trim(hint).to_owned())
        .filter(|hint| !hint.is_empty())
        .collect();
    let augmented = if used.is_empty() { query.to_owned() } else { format!("{query} {}", used.join(" ")) };
    (augmented, used)
}

/// The tools that the filters of one route leave.
pub(super) struct ActiveTools<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) filters: &'a RouteFilters,
    pub(super) excluded: u64,
    pub(super) gated: u64,
}

impl<'a> ActiveTools<'a> {
    /// Applies the filters. Fails with `NO_CANDIDATES` when they leave nothing.
    pub(super) fn new(catalog: &'a Catalog, filters: &'a RouteFilters) -> Result<Self> {
        let mut active = Self { catalog, filters, excluded: 0, gated: 0 };
        if !filters.is_empty() {
            for item in catalog.items() {
                match filters.verdict(item) {
                    FilterVerdict::Active => {}
                    FilterVerdict::Excluded => active.excluded += 1,
                    FilterVerdict::Gated => active.gated += 1,
                }
            }
        }
        let left = catalog.len() as u64 - active.excluded - active.gated;
        if left > 0 {
            return Ok(active);
        }
        let message = if catalog.is_empty() { "the catalog is empty" } else { "the filters leave no tool" };
        Err(Error::new(ErrorCode::NoCandidates, message)
            .detail("excluded_count", active.excluded)
            .detail("gated_count", active.gated))
    }

    pub(super) fn get(&self, id: &str) -> Option<&'a SelectableItem> {
        self.catalog.find(id).filter(|item| self.filters.verdict(item) == FilterVerdict::Active)
    }
}
