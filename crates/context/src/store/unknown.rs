//! Fields of a snapshot that this release does not know: kept, and written back for whoever put them there.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::{Fields, JsonMap, Record};
use contextweaver_model::{ArtifactRef, ContextItem, Episode, Fact};

/// The known fields of a record, and the one among them that is a record itself.
pub(super) struct RecordFields {
    fields: &'static [(&'static str, bool)],
    nested: Option<(&'static str, &'static Self)>,
}

const fn flat<T: Record>() -> RecordFields {
    RecordFields { fields: T::FIELDS, nested: None }
}

/// What is known of an artifact.
pub(super) const ARTIFACT_REF: RecordFields = flat::<ArtifactRef>();
/// An item of the log.
pub(super) const ITEM: RecordFields =
    RecordFields { fields: ContextItem::FIELDS, nested: Some(("artifact_ref", &ARTIFACT_REF)) };
pub(super) const EPISODE: RecordFields = flat::<Episode>();
pub(super) const FACT: RecordFields = flat::<Fact>();

impl RecordFields {
    /// Takes the fields out of a record that are not known.
    pub(super) fn split(&self, record: &mut Value) -> JsonMap {
        let mut unknown = JsonMap::new();
        let Value::Object(map) = record else { return unknown };
        let is_known = |key: &String| self.fields.iter().any(|(known, _)| known == key);
        if !map.keys().all(is_known) {
            for (key, value) in std::mem::take(map) {
                let side = if is_known(&key) { &mut *map } else { &mut unknown };
                side.insert(key, value);
            }
        }
        if let Some((key, shape)) = self.nested
            && let Some(inner) = map.get_mut(key)
        {
            let rest = shape.split(inner);
            if !rest.is_empty() {
                unknown.insert(key.to_owned(), Value::Object(rest));
            }
        }
        unknown
    }

    /// Takes a list of records, each with its unknown fields.
    pub(super) fn take<T>(
        &self,
        fields: &mut Fields,
        key: &'static str,
        read: fn(Value, &str) -> Result<T>,
    ) -> Result<Vec<(T, JsonMap)>> {
        fields.records(key, |mut value, at| {
            let unknown = self.split(&mut value);
            Ok((read(value, at)?, unknown))
        })
    }
}

/// Unknown fields of a snapshot and, by name, of its records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unknown {
    /// Fields of the snapshot itself.
    pub(super) top: JsonMap,
    records: SortedMap<String, JsonMap>,
}

impl Unknown {
    /// Keeps the unknown fields of a record, in place of what was kept under its name.
    pub(super) fn keep(&mut self, name: &str, unknown: JsonMap) {
        self.forget(name);
        if !unknown.is_empty() {
            self.records.insert(name.to_owned(), unknown);
        }
    }

    /// Forgets the unknown fields of a record that is gone.
    pub(super) fn forget(&mut self, name: &str) {
        self.records.remove(name);
    }

    /// Returns the unknown fields of a record.
    pub(super) fn of(&self, name: &str) -> Option<&JsonMap> {
        self.records.get(name)
    }
}

/// A record with its unknown fields, as JSON.
pub(super) struct RecordWithRest<'a, T>(pub &'a T, pub Option<&'a JsonMap>);

impl<T: Serialize> Serialize for RecordWithRest<'_, T> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        match self.1 {
            None => self.0.serialize(s),
            // By way of text, because the writer of text is there anyway and this is rare.
            Some(unknown) => match serde_json::to_string(self.0) {
                Ok(text) => merged(&text, unknown).serialize(s),
                Err(error) => Err(serde::ser::Error::custom(error)),
            },
        }
    }
}

fn merged(text: &str, unknown: &JsonMap) -> Value {
    let mut record = serde_json::from_str(text).unwrap_or_default();
    merge(&mut record, unknown);
    record
}

fn merge(record: &mut Value, unknown: &JsonMap) {
    let Value::Object(map) = record else { return };
    for (key, value) in unknown {
        match (map.get_mut(key), value) {
            (Some(known), Value::Object(inner)) => merge(known, inner),
            _ => drop(map.insert(key.clone(), value.clone())),
        }
    }
}

/// Writes a snapshot that is one list of records, with what is not known of it.
pub(super) fn write_list<S: Serializer, T: Serialize>(
    s: S,
    key: &'static str,
    records: &[RecordWithRest<'_, T>],
    top: &JsonMap,
) -> std::result::Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(None)?;
    map.serialize_entry(key, records)?;
    write_rest::<S>(&mut map, top)?;
    map.end()
}

/// Writes the unknown fields of a snapshot after its own.
pub(super) fn write_rest<S: Serializer>(map: &mut S::SerializeMap, top: &JsonMap) -> std::result::Result<(), S::Error> {
    top.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contextweaver_model::ContextItem;
    use serde_json::json;

    #[test]
    fn unknown_fields_come_back_where_they_were() {
        let artifact = json!({ "handle": "h", "media_type": "t", "size_bytes": 1, "label": "", "v": [1] });
        let whole = json!({
            "id": "a", "kind": "policy", "text": "t", "token_estimate": 0, "sensitivity": "public", "metadata": {},
            "parent_id": null, "artifact_ref": artifact, "later": { "x": null }
        });
        let mut known = whole.clone();
        let unknown = ITEM.split(&mut known);
        assert_eq!(Value::Object(unknown.clone()), json!({ "later": { "x": null }, "artifact_ref": { "v": [1] } }));
        let item = ContextItem::from_value(known, "").unwrap();
        assert_eq!(json!(RecordWithRest(&item, Some(&unknown))), whole);
        assert_eq!(json!(RecordWithRest(&item, None)), json!(item));
    }

    #[test]
    fn known_records_keep_nothing() {
        let mut record = json!({ "fact_id": "f", "key": "k", "value": "v" });
        assert!(FACT.split(&mut record).is_empty());
        assert!(FACT.split(&mut json!("no record")).is_empty());
    }
}
