//! The items that artifacts belong to, found in one pass over the log.

use std::collections::HashMap;

use crate::ingest::mcp;
use crate::store::EventLog;
use contextweaver_base::order::sort_distinct;
use contextweaver_model::ContextItem;

/// What `ContextManager::owners` finds for one handle, looked up for many.
pub(super) struct Owners<'a> {
    events: &'a EventLog,
    by_artifact: HashMap<&'a str, Vec<usize>>,
    /// By what the handles of the parts of a result begin with.
    by_part: HashMap<String, Vec<usize>>,
}

impl<'a> Owners<'a> {
    pub(super) fn new(events: &'a EventLog) -> Self {
        let (mut by_artifact, mut by_part): (HashMap<_, Vec<usize>>, HashMap<_, Vec<usize>>) = Default::default();
        for (at, item) in events.items().iter().enumerate() {
            if let Some(artifact) = &item.artifact_ref {
                by_artifact.entry(artifact.handle.as_str()).or_default().push(at);
            }
            if let Some(part) = mcp::part_prefix(item) {
                by_part.entry(part).or_default().push(at);
            }
        }
        Self { events, by_artifact, by_part }
    }

    /// Returns the items that refer to an artifact, in the order of the log.
    pub(super) fn of(&self, handle: &str) -> impl Iterator<Item = &'a ContextItem> + use<'a> {
        let events = self.events;
        let is_own = |at: &usize| events.items()[*at].artifact_ref.is_none();
        let own = handle.strip_prefix("artifact:").and_then(|id| events.position(id)).filter(is_own);
        let named = self.by_artifact.get(handle).into_iter().flatten();
        let prefixes = handle.match_indices(':').map(|(at, _)| &handle[..=at]);
        let parts = prefixes.filter_map(|prefix| self.by_part.get(prefix)).flatten();
        let mut found: Vec<usize> = own.into_iter().chain(named.chain(parts).copied()).collect();
        sort_distinct(&mut found);
        found.into_iter().map(|at| &events.items()[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContextManager, ManagerOptions};
    use contextweaver_model::ItemKind;

    #[test]
    fn owners_are_those_that_a_walk_over_the_log_finds() {
        let mut manager = ContextManager::new(ManagerOptions::default());
        manager.put_artifact("shared", b"text", "text/plain", "").unwrap();
        let artifact = manager.artifacts().artifact_ref("shared").unwrap().clone();
        let item = |id: &str, tool: &str, parent: &str, refers: bool| {
            let mut item = ContextItem::new(id, ItemKind::ToolResult, "x");
            item.metadata.insert("tool_name".into(), tool.into());
            item.parent_id = (!parent.is_empty()).then(|| parent.to_owned());
            item.artifact_ref = refers.then(|| artifact.clone());
            item
        };
        let items = [
            item("r1", "list", "c1", false),
            item("r2", "list", "c1", true),
            item("r3", "list", "c1:a", true),
            item("r4", "list:c1", "a", false),
            item("r5", "", "c1", false),
            item("r6", "list", "", false),
            item("r:7", "list", "c", false),
        ];
        manager.ingest_all(items.to_vec()).unwrap();
        let owners = Owners::new(manager.events());
        let mut count = 0;
        for handle in [
            "shared",
            "artifact:r1",
            "artifact:r2",
            "artifact:r:7",
            "artifact:none",
            "mcp:list:c1:structured_content",
            "mcp:list:c1:a:image:1",
            "mcp:list:c:",
            "mcp:list:c1",
            "mcp::c1:x",
            "mcp:",
            "",
        ] {
            let found: Vec<&str> = owners.of(handle).map(|item| item.id.as_str()).collect();
            let expected: Vec<&str> = manager.owners(handle).map(|item| item.id.as_str()).collect();
            assert_eq!(found, expected, "{handle}");
            count += found.len();
        }
        assert!(count > 10, "{count}");
    }
}
