//! Fields of an MCP tool that its item stores in the metadata, so that writing the tool back loses nothing.

use serde_json::Value;

use super::hints::HINTS;
use contextweaver_model::RESERVED_KEY;
use contextweaver_model::json::JsonMap;

/// Key below the reserved key of metadata.
const PART: &str = "mcp";

/// The fields of a tool that an item has no field for; in the metadata, below `_contextweaver.mcp`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct StoredTool {
    /// Fields of the tool that an item has no field for: `icons`, `execution`, `_meta`, and the server's own.
    pub fields: JsonMap,
    /// Fields as they were, where writing them anew from the item would not give the same. Not for use: what was
    /// ignored is here, too.
    pub given: JsonMap,
    /// Fields that were not there and would be written.
    pub absent: Vec<String>,
    /// Keys of annotations that are the server's own or malformed; other metadata are not annotations.
    pub annotations: Vec<String>,
}

impl StoredTool {
    /// Notes that a field was absent.
    pub fn absent(&mut self, key: &str) {
        self.absent.push(key.to_owned());
    }

    /// Stores a field as it was.
    pub fn given(&mut self, key: &str, value: Value) {
        self.given.insert(key.to_owned(), value);
    }

    /// Notes the annotations that would not be taken for such without being told.
    pub fn note_annotations(&mut self, annotations: &JsonMap) {
        let own = annotations.iter().filter(|(key, value)| !is_plain_annotation(key, value));
        self.annotations.extend(own.map(|(key, _)| key.clone()));
    }

    /// Writes the fields into the metadata of an item, with further entries.
    pub fn put(self, metadata: &mut JsonMap, further: JsonMap) {
        let mut record = JsonMap::new();
        let lists = [("absent", self.absent), ("annotations", self.annotations)];
        for (key, map) in [("fields", self.fields), ("given", self.given)] {
            if !map.is_empty() {
                record.insert(key.to_owned(), Value::Object(map));
            }
        }
        for (key, list) in lists {
            if !list.is_empty() {
                record.insert(key.to_owned(), list.into());
            }
        }
        record.extend(further);
        if !record.is_empty() {
            let mut own = JsonMap::new();
            own.insert(PART.to_owned(), Value::Object(record));
            metadata.insert(RESERVED_KEY.to_owned(), Value::Object(own));
        }
    }

    /// Reads the fields from the metadata of an item; malformed ones count as absent.
    pub fn of(metadata: &JsonMap) -> Self {
        let record = metadata.get(RESERVED_KEY).and_then(|own| own.get(PART));
        let part = |key: &str| record.and_then(|record| record.get(key));
        let map = |key: &str| part(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let texts = |key: &str| {
            let list = part(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        Self { fields: map("fields"), given: map("given"), absent: texts("absent"), annotations: texts("annotations") }
    }

    /// Tells whether fields are to be as they were.
    pub fn has_notes(&self) -> bool {
        !(self.given.is_empty() && self.absent.is_empty())
    }
}

/// Tells whether metadata under this key is an annotation of the protocol.
pub(super) fn is_plain_annotation(key: &str, value: &Value) -> bool {
    HINTS.contains(&key) && value.is_boolean() || key == "title" && value.is_string()
}
