//! The tools there are, by id.

use crate::error::{Error, ErrorCode, Result};
use crate::model::SelectableItem;
use crate::order::SortedMap;
use crate::text::unicode::quote;

/// Tools by id; no id is there twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    items: SortedMap<String, SelectableItem>,
}

impl Catalog {
    /// Makes an empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. Fails with `DUPLICATE_ID` when its id is taken and `INVALID_INPUT` when it is blank.
    pub fn register(&mut self, item: SelectableItem) -> Result<()> {
        if item.id.trim().is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, "the id of a tool is blank").at("/id"));
        }
        if self.items.contains_key(&item.id) {
            return Err(duplicate(&item.id));
        }
        self.items.insert(item.id.clone(), item);
        Ok(())
    }

    /// Adds tools: all of them, or none when one is refused. Paths of errors start with `/<index>`.
    pub fn register_all(&mut self, items: Vec<SelectableItem>) -> Result<()> {
        let mut added = Self::new();
        for (at, item) in items.into_iter().enumerate() {
            let taken = self.items.contains_key(&item.id).then(|| duplicate(&item.id));
            taken.map_or_else(|| added.register(item), Err).map_err(|error| {
                let path = format!("/{at}{}", error.path());
                error.under(path)
            })?;
        }
        self.items.extend(added.items.into_entries());
        Ok(())
    }

    /// Removes a tool and returns it.
    pub fn remove(&mut self, id: &str) -> Option<SelectableItem> {
        self.items.remove(id)
    }

    /// Returns a tool. Fails with `NOT_FOUND`.
    pub fn get(&self, id: &str) -> Result<&SelectableItem> {
        self.items
            .get(id)
            .ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no tool has the id {}", quote(id))).at("/id"))
    }

    /// Returns a tool, if it is there.
    pub fn find(&self, id: &str) -> Option<&SelectableItem> {
        self.items.get(id)
    }

    /// Tells whether a tool has this id.
    pub fn contains(&self, id: &str) -> bool {
        self.items.contains_key(id)
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Tells whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the tools in the order of their ids.
    pub fn items(&self) -> impl Iterator<Item = &SelectableItem> + Clone {
        self.items.values()
    }
}

fn duplicate(id: &str) -> Error {
    Error::new(ErrorCode::DuplicateId, format!("two tools have the id {}", quote(id))).at("/id")
}
