//! Answers of the tools that read on, among the messages of a conversation: parts of what is stored, not new results.

use std::collections::HashMap;

use crate::digest_note::{HANDLE_FIELD, RECALLED_FIELD};
use crate::manager::ContextManager;
use contextweaver_convert::providers::tool_name;
use contextweaver_model::{ContextItem, ItemKind, Sensitivity, json};

impl ContextManager {
    /// Marks results that are parts of what is stored here, so that they stay as they were read. A digest of a slice would
    /// hide what the model has just asked for.
    ///
    /// The name of a tool proves nothing, as callers may have tools of the same names: a drilldown is one of ours by the
    /// handle that it asked for, a recall by the places that it cites.
    pub(super) fn mark_parts(&self, items: &mut [ContextItem]) {
        let mut calls: HashMap<&str, &ContextItem> = HashMap::new();
        let mut parts = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match item.kind {
                ItemKind::ToolCall => drop(calls.insert(&item.id, item)),
                _ => parts.extend(self.part_of(item, &calls).map(|part| (at, part))),
            }
        }
        for (at, (field, handle)) in parts {
            let level = match field {
                HANDLE_FIELD => self.owner_sensitivity(&handle).ok(),
                _ => Some(self.cited(&items[at].text).map(|(_, level)| level).max().unwrap_or(Sensitivity::Public)),
            };
            // What may not be looked at is no part that anybody was given.
            let Some(level) = level else { continue };
            let item = &mut items[at];
            item.sensitivity = item.sensitivity.max(level);
            item.metadata.insert(field.into(), handle.into());
        }
    }

    /// Returns the field that marks an item behind calls, and what to note there.
    fn part_of(&self, item: &ContextItem, calls: &HashMap<&str, &ContextItem>) -> Option<(&'static str, String)> {
        let item = Some(item).filter(|item| item.kind == ItemKind::ToolResult && item.artifact_ref.is_none())?;
        let id = item.parent_id.as_deref()?;
        let logged = || self.events.find(id).filter(|call| call.kind == ItemKind::ToolCall);
        let call = calls.get(id).copied().or_else(logged)?;
        match tool_name(call)? {
            "drilldown" => {
                let arguments = json::parse(&call.text).ok()?;
                let handle = arguments.get("handle")?.as_str()?;
                self.is_stored(handle).then(|| (HANDLE_FIELD, handle.to_owned()))
            }
            "recall" => self.cited(&item.text).next().map(|(place, _)| (RECALLED_FIELD, place.to_owned())),
            _ => None,
        }
    }

    fn is_stored(&self, handle: &str) -> bool {
        self.artifacts.exists(handle) || self.owners(handle).next().is_some()
    }

    /// Returns the places that the label lines of an answer of `recall` cite, as far as they are here, with their labels of
    /// sensitivity: `[TOOL RESULT [artifact:result:c1 chars 120-480 of 8800]]`. An answer begins with such a line.
    fn cited<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, Sensitivity)> + 'a {
        let labels = text.lines().filter(|_| text.starts_with('['));
        let names = labels.filter_map(|line| {
            let (label, names) = line.strip_prefix('[')?.strip_suffix("]]")?.split_once(" [")?;
            let is_label = label.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b' ');
            names.split(' ').next().filter(|_| is_label)
        });
        names.filter_map(|name| match self.events.find(name) {
            Some(item) => Some((name, item.sensitivity)),
            None if self.is_stored(name) => Some((name, self.owner_sensitivity(name).ok()?)),
            None => None,
        })
    }
}
