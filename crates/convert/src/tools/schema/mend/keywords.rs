//! Keywords that have no schemas below them.

use serde_json::Value;

use super::super::well_formed::{TYPES, misfit};
use super::{MendKind, Place, SchemaMender};
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::{JsonMap, to_sorted_ascii};
use contextweaver_text::pattern::{Dialect, Pattern};

/// Characters of a pattern that is told in a description.
pub(super) const PATTERN_CHARS: usize = 256;

/// What other languages call the types.
const SYNONYMS: &[(&str, &str)] = &[
    ("arr", "array"),
    ("list", "array"),
    ("tuple", "array"),
    ("bool", "boolean"),
    ("int", "integer"),
    ("int32", "integer"),
    ("int64", "integer"),
    ("long", "integer"),
    ("nil", "null"),
    ("none", "null"),
    ("decimal", "number"),
    ("double", "number"),
    ("float", "number"),
    ("dict", "object"),
    ("map", "object"),
    ("record", "object"),
    ("str", "string"),
    ("text", "string"),
];

/// Appends a sentence to the description of a schema.
#[doc(hidden)]
pub fn append_description(schema: &mut JsonMap, sentence: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => format!("{text} {sentence}"),
        _ => sentence.to_owned(),
    };
    schema.insert("description".to_owned(), Value::from(text));
}

impl SchemaMender<'_, '_> {
    /// Mends the value of a keyword without schemas below it; nothing where it is left out. A pattern that is to be told
    /// in the description is added to `patterns`.
    pub(super) fn plain(
        &mut self,
        key: &str,
        value: &Value,
        place: &Place<'_>,
        patterns: &mut Vec<String>,
    ) -> Option<Value> {
        match (key, value) {
            ("type", _) => self.types(value, place),
            ("enum", Value::Array(list)) => self.choices(list, place),
            ("required", Value::Array(list)) => Some(self.names(key, list, place)),
            ("dependentRequired", Value::Object(map)) => Some(self.names_by_name(map, place)),
            ("pattern", Value::String(text)) if !self.is_usable_pattern(text) => {
                self.given_up(place, key, "not of the common kind of patterns; told in the description");
                patterns.push(text.clone());
                None
            }
            ("$ref", Value::String(text)) => {
                let written = self.reference(text);
                if written.is_none() {
                    self.removed(place, key, "it leads to no schema here; left out");
                }
                written.map(Value::from)
            }
            ("$dynamicRef" | "$recursiveRef", _) => {
                self.given_up(place, key, "only schemas that name their target are followed; left out");
                None
            }
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => Some(value.clone()),
            _ if misfit(key, value).is_some() => {
                self.removed(place, key, "not a value that the keyword has; left out");
                None
            }
            _ => Some(value.clone()),
        }
    }

    /// Tells whether a pattern is one that every engine reads alike, where that is asked for.
    pub(super) fn is_usable_pattern(&self, text: &str) -> bool {
        !self.options.plain_patterns || Pattern::expression(text, Dialect::Whole, false).is_ok()
    }

    fn types(&mut self, value: &Value, place: &Place<'_>) -> Option<Value> {
        let given = match value {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut names: Vec<&str> = Vec::new();
        for name in given {
            let Some(name) = name.as_str().and_then(type_of) else {
                self.removed(place, "type", "no type of JSON Schema; anything fits");
                return None;
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let written = match value {
            Value::Array(_) if names.is_empty() => {
                self.removed(place, "type", "a list without types; left out");
                return None;
            }
            Value::Array(_) => names.into(),
            _ => Value::from(names.first().copied().unwrap_or_default()),
        };
        if written != *value {
            self.told(place, "type", MendKind::Malformed, false, "written with the names that JSON Schema has");
        }
        Some(written)
    }

    fn choices(&mut self, list: &[Value], place: &Place<'_>) -> Option<Value> {
        if list.is_empty() {
            self.removed(place, "enum", "a list without values; left out");
            return None;
        }
        let mut known = SortedMap::new();
        let mut is_new = |value: &&Value| known.insert(to_sorted_ascii(value, None), ()).is_none();
        let different: Vec<Value> = list.iter().filter(|value| is_new(value)).cloned().collect();
        if different.len() < list.len() {
            self.told(place, "enum", MendKind::Unportable, false, "each value once");
        }
        Some(Value::Array(different))
    }

    /// Keeps the texts of a list, each once.
    fn names(&mut self, key: &str, list: &[Value], place: &Place<'_>) -> Value {
        let mut known = SortedMap::new();
        let mut is_new = |name: &&Value| name.as_str().is_some_and(|name| known.insert(name.to_owned(), ()).is_none());
        let names: Vec<Value> = list.iter().filter(|name| is_new(name)).cloned().collect();
        if names.len() < list.len() {
            self.told(place, key, MendKind::Malformed, false, "names of properties, each once");
        }
        Value::Array(names)
    }

    fn names_by_name(&mut self, map: &JsonMap, place: &Place<'_>) -> Value {
        let mut out = JsonMap::new();
        for (name, list) in map {
            match list {
                Value::Array(list) => {
                    out.insert(name.clone(), self.names("dependentRequired", list, place));
                }
                _ => self.removed(place, "dependentRequired", "no list of names; left out"),
            }
        }
        Value::Object(out)
    }
}

/// Returns the type of JSON Schema that a name means.
fn type_of(name: &str) -> Option<&'static str> {
    let known = |name: &str| TYPES.iter().copied().find(|known| *known == name);
    known(name).or_else(|| {
        let lower = name.trim().to_ascii_lowercase();
        known(&lower).or_else(|| SYNONYMS.iter().find(|(other, _)| *other == lower).map(|(_, known)| *known))
    })
}
