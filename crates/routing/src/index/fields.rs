//! Which texts of a tool are searched, and how much each counts.

use serde_json::Value;

use contextweaver_model::SelectableItem;
use contextweaver_model::json::JsonMap;
use contextweaver_text::hash::Hash;

/// Number of fields.
pub const FIELDS: usize = 7;

/// Name of each field, how much a word in it counts, and how much its length takes from that.
pub const FIELD_TABLE: [(&str, f64, f64); FIELDS] = [
    ("name", 2.5, 0.3),
    ("namespace", 1.0, 0.0),
    ("tags", 1.0, 0.0),
    ("description", 1.0, 0.5),
    ("argument_names", 0.5, 0.7),
    ("argument_descriptions", 0.25, 0.7),
    ("examples", 1.0, 0.5),
];

/// Levels of nested arguments that are read.
const SCHEMA_LEVELS: usize = 4;
/// Arguments of one tool that are read; a schema beyond that describes data, not a call.
const SCHEMA_NODES: usize = 5000;

/// Calls `each` with the number of a field and a text of it, field by field.
pub fn for_each_text(item: &SelectableItem, each: &mut dyn FnMut(usize, &str)) {
    each(0, &item.name);
    if let Some(title) = &item.title {
        each(0, title);
    }
    each(1, &item.namespace);
    for tag in &item.tags {
        each(2, tag);
    }
    each(3, &item.description);
    // Names and descriptions come mixed; each field has its words in order all the same.
    let mut left = SCHEMA_NODES;
    walk(&SchemaKeywords::of(&item.args_schema), 1, &mut left, each);
    for example in &item.examples {
        each(6, example);
    }
}

/// The keywords of a schema that are read, found in one pass: looking each up hashes it anew.
#[derive(Default)]
struct SchemaKeywords<'a> {
    description: Option<&'a Value>,
    choices: Option<&'a Value>,
    properties: Option<&'a Value>,
    items: Option<&'a Value>,
}

impl<'a> SchemaKeywords<'a> {
    fn of(schema: &'a JsonMap) -> Self {
        let mut found = Self::default();
        for (keyword, value) in schema {
            match keyword.as_str() {
                "description" => found.description = Some(value),
                "enum" => found.choices = Some(value),
                "properties" => found.properties = Some(value),
                "items" => found.items = Some(value),
                _ => {}
            }
        }
        found
    }
}

fn walk(schema: &SchemaKeywords, level: usize, left: &mut usize, each: &mut dyn FnMut(usize, &str)) {
    if level > SCHEMA_LEVELS {
        return;
    }
    if let Some(Value::Object(properties)) = schema.properties {
        for (name, property) in properties {
            if *left == 0 {
                return;
            }
            *left -= 1;
            each(4, name);
            let Value::Object(property) = property else { continue };
            let property = SchemaKeywords::of(property);
            if let Some(Value::String(text)) = property.description {
                each(5, text);
            }
            if let Some(Value::Array(values)) = property.choices {
                for value in values.iter().filter_map(Value::as_str) {
                    each(5, value);
                }
            }
            walk(&property, level + 1, left, each);
        }
    }
    if let Some(Value::Object(items)) = schema.items {
        walk(&SchemaKeywords::of(items), level + 1, left, each);
    }
}

/// Returns the hash of everything of a tool that an index holds.
pub fn fingerprint(item: &SelectableItem) -> [u64; 2] {
    let mut hash = Hash::default();
    hash.bytes(item.id.as_bytes());
    for_each_text(item, &mut |field, text| {
        hash.number(field as u64);
        hash.bytes(text.as_bytes());
    });
    hash.value()
}
