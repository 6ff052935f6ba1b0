//! Edges of a snapshot, or of the reference's file with one in each line.

use serde_json::Value;

use super::import::{ImportConflict, ImportEntries, ImportRun};
use crate::graph::DecisionEdge;
use crate::timestamps;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{parse, wrong_type};
use contextweaver_text::unicode::{quote, trim};

/// Returns the edges with their paths; a line that is no JSON is an error of its own.
pub(super) fn entries(value: Value) -> Result<ImportEntries> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            Ok(list.into_iter().enumerate().map(|(index, edge)| (format!("/edges/{index}"), Ok(edge))).collect())
        }
        Value::String(text) => {
            let lines = text.split('\n').enumerate().filter(|(_, line)| !trim(line).is_empty());
            Ok(lines.map(|(index, line)| (format!("/edges/{index}"), parse(line))).collect())
        }
        other => Err(wrong_type("/edges", "an array, or lines of JSON", &other)),
    }
}

impl ImportRun<'_> {
    /// Puts edges in whose ends are decisions of the store.
    pub(super) fn take_edges(&mut self, entries: ImportEntries) {
        let known = self.store.graph.edges().map(|edge| (name(edge), edge.created_at.clone()));
        let mut times = SortedMap::new();
        times.extend(known);
        for (path, entry) in entries {
            if let Err(error) = entry.and_then(|entry| self.take_edge(entry, &path, &times)) {
                self.refuse(None, &error, &path);
            }
        }
    }

    fn take_edge(&mut self, entry: Value, path: &str, times: &SortedMap<String, String>) -> Result<()> {
        let mut edge = DecisionEdge::from_record(entry, path)?;
        edge.created_at = timestamps::normal(&edge.created_at);
        for (field, id) in [("source_id", &edge.source), ("target_id", &edge.target)] {
            if !self.store.options.search.allow_stubs && self.store.records.get(id).is_none() {
                let message = format!("no decision has the id {}", quote(id));
                return Err(Error::new(ErrorCode::NotFound, message).at(format!("{path}/{field}")));
            }
        }
        if let Some(before) = times.get(name(&edge).as_str()) {
            match self.on_conflict {
                ImportConflict::Newer if edge.created_at > *before => {}
                ImportConflict::Newer | ImportConflict::Keep => return Ok(()),
                ImportConflict::Error => {
                    return Err(Error::new(ErrorCode::DuplicateId, "the edge is there already").at(path));
                }
            }
        }
        let source = edge.source.clone();
        self.store.graph.link(edge)?;
        self.store.changes.touch_edge(&source);
        Ok(())
    }
}

fn name(edge: &DecisionEdge) -> String {
    [edge.source.as_str(), &edge.target, edge.kind.as_str()].join("\n")
}
