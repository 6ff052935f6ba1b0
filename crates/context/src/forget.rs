//! Removing what was said for good, as people may ask for what is about them.

use serde::Serialize;

use crate::manager::ContextManager;
use contextweaver_base::Result;
use contextweaver_model::{ContextItem, CutReason, SUPERSEDED};

/// What was removed with an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ForgottenItem {
    /// Handles of the artifacts that were deleted.
    pub artifacts: Vec<String>,
    /// Ids of items that belong to it and may say the same, such as slices of its artifact: they stay.
    pub related: Vec<String>,
}

/// What marks an item whose text was removed.
const FORGOTTEN: &str = "forgotten";

impl ContextManager {
    /// Removes the text of an item, its metadata, its envelope and its artifacts, and the running prompts.
    /// The item stays in its place, empty, and stands in no prompt. Facts and episodes are deleted by their own ids.
    ///
    /// What was written of it before is where it was written: a journal must be written anew, whole.
    ///
    /// # Errors
    /// `NOT_FOUND` at `/item_id` where there is none.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "I live in Rua Augusta 5."))?;
    /// manager.forget("u1")?;
    /// assert!(!serde_json::to_string(&manager.snapshot()).unwrap().contains("Augusta"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn forget(&mut self, id: &str) -> Result<ForgottenItem> {
        let item = self.events.get(id).map_err(|error| error.at("/item_id"))?;
        let mut left = ContextItem::new(item.id.clone(), item.kind, String::new());
        left.parent_id.clone_from(&item.parent_id);
        left.sensitivity = item.sensitivity;
        left.metadata.insert(SUPERSEDED.into(), true.into());
        left.metadata.insert(FORGOTTEN.into(), true.into());
        let envelope = self.envelopes.remove(id);
        let own = item.artifact_ref.iter().chain(envelope.iter().flat_map(|envelope| &envelope.artifacts));
        let mut artifacts: Vec<String> = own.map(|artifact| artifact.handle.clone()).collect();
        contextweaver_base::order::sort_distinct(&mut artifacts);
        let is_used = |handle: &String| {
            let others = self.events.items().iter().filter(|other| other.id != id);
            others.filter_map(|other| other.artifact_ref.as_ref()).any(|artifact| artifact.handle == *handle)
        };
        artifacts.retain(|handle| !is_used(handle));
        let related = self.events.children(id).map(|child| child.id.clone()).collect();
        for handle in &artifacts {
            // One that was evicted is forgotten as well.
            self.artifacts.erase(handle);
        }
        if let Some(position) = self.events.position(id) {
            self.events.replace(position, left);
        }
        self.events.forget_unknown(id);
        self.rule_book.erase(id);
        self.running.break_off(CutReason::Edited);
        self.reading = None;
        self.indexed_changes = None;
        Ok(ForgottenItem { artifacts, related })
    }
}
