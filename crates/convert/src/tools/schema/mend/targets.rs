//! What references lead to, and what becomes of it.

use serde_json::Value;

use super::super::keywords::{SubschemaKind, below, each_schema};
use super::super::refs::local_pointer;
use super::{MendKind, Place, REVERSED, SchemaMender};
use contextweaver_base::order::WordSet;
use contextweaver_model::json::{JsonMap, pointer};

/// Bytes of a reference.
const MAX_REF_BYTES: usize = 2_000;
/// References that lead to one another.
const MAX_CHAIN: usize = 64;
/// Keywords below which there are values of arguments.
const DATA: &[&str] = &["default", "examples", "enum", "const", "required", "dependentRequired", "type"];

/// What stands at a pointer.
enum Target<'s> {
    /// A schema below the keywords of others, with the pointer as it is written once tuples are `prefixItems`.
    Schema(&'s Value, String),
    /// What may be a schema, where no keyword has one.
    Outside(&'s Value),
}

/// A place on the way of a pointer.
enum On<'s> {
    Schema(&'s Value),
    List(&'s [Value]),
    Map(&'s JsonMap),
    Outside(&'s Value),
}

/// Finds what a reference leads to.
fn target<'s>(root: &'s Value, text: &str) -> Option<Target<'s>> {
    let place = local_pointer(text)?;
    let mut on = On::Schema(root);
    let mut written = String::from("#");
    for token in place.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let mut name = token.as_str();
        on = match on {
            On::Schema(schema) => {
                let value = schema.get(&token)?;
                let has_tuple = schema.get("items").is_some_and(Value::is_array);
                if has_tuple && token == "items" {
                    name = "prefixItems";
                } else if has_tuple && token == "additionalItems" {
                    name = "items";
                }
                match (below(&token), value) {
                    (SubschemaKind::Nothing, _) if DATA.contains(&token.as_str()) => return None,
                    (SubschemaKind::Nothing, _) => On::Outside(value),
                    (SubschemaKind::Map, Value::Object(map)) => On::Map(map),
                    (SubschemaKind::List | SubschemaKind::OneOrList, Value::Array(list)) => On::List(list),
                    (SubschemaKind::One | SubschemaKind::OneOrList, _) => On::Schema(value),
                    _ => return None,
                }
            }
            On::Map(map) => On::Schema(map.get(&token)?),
            On::List(list) => On::Schema(list.get(index(&token)?)?),
            On::Outside(Value::Object(map)) => On::Outside(map.get(&token)?),
            On::Outside(Value::Array(list)) => On::Outside(list.get(index(&token)?)?),
            On::Outside(_) => return None,
        };
        written = pointer(&written, name);
    }
    match on {
        On::Schema(schema @ (Value::Object(_) | Value::Bool(_))) => Some(Target::Schema(schema, written)),
        On::Outside(schema @ Value::Object(_)) => Some(Target::Outside(schema)),
        _ => None,
    }
}

fn index(token: &str) -> Option<usize> {
    let is_plain = token == "0" || !token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit());
    token.parse().ok().filter(|_| is_plain)
}

impl SchemaMender<'_, '_> {
    /// Returns a reference as it is written, nothing for one that leads to no schema or only to references.
    pub(super) fn reference(&mut self, text: &str) -> Option<String> {
        if text.len() > MAX_REF_BYTES {
            return None;
        }
        if let Some(known) = self.refs.get(text) {
            return known.clone();
        }
        let written = self.followed(text);
        self.refs.insert(text.to_owned(), written.clone());
        written
    }

    fn followed(&mut self, text: &str) -> Option<String> {
        let mut at = text;
        for _ in 0..MAX_CHAIN {
            let (Target::Schema(schema, _) | Target::Outside(schema)) = target(self.root, at)?;
            match schema.get("$ref").and_then(Value::as_str) {
                Some(next) if next.len() <= MAX_REF_BYTES => at = next,
                _ => {
                    return Some(match target(self.root, text)? {
                        Target::Schema(_, written) if written != unescaped(text) => written,
                        Target::Schema(..) => text.to_owned(),
                        Target::Outside(_) => {
                            self.outside.push(text.to_owned());
                            text.to_owned()
                        }
                    });
                }
            }
        }
        None
    }

    /// Mends what is referred to outside of the keywords, and leaves out what no longer holds.
    pub(super) fn settled(&mut self, root: JsonMap) -> JsonMap {
        let mut whole = Value::Object(root);
        let mut done = 0;
        while let Some(text) = self.outside.get(done).cloned() {
            done += 1;
            let Some(Target::Outside(schema)) = target(self.root, &text) else { continue };
            let mended = self.schema(schema, &Place::root(), 0);
            match local_pointer(&text).and_then(|place| whole.pointer_mut(&place)) {
                Some(slot) => *slot = Value::Object(mended),
                None => self.widened += 1,
            }
        }
        if self.widened > 0 {
            self.relax(&mut whole);
            self.drop_dangling(&mut whole);
        }
        let Value::Object(mut root) = whole else { return JsonMap::new() };
        if self.is_modernised {
            root.shift_remove("$schema");
        }
        root
    }

    /// Leaves out keywords that turn round what is below them, where that is a reference to what may accept more now.
    fn relax(&mut self, schema: &mut Value) {
        let Value::Object(map) = schema else { return };
        for key in ["not", "if", "contains", "oneOf"] {
            if map.get(key).is_some_and(has_ref) {
                map.shift_remove(key);
                self.given_up(&Place::root(), key, REVERSED);
            }
        }
        each_below(map, &mut |below| self.relax(below));
    }

    /// Leaves out references to what was left out.
    fn drop_dangling(&mut self, whole: &mut Value) {
        let mut lost = Vec::new();
        let _ = each_schema(whole, "", &mut |map, _| {
            let text = map.get("$ref").and_then(Value::as_str);
            lost.extend(text.filter(|text| target(whole, text).is_none()).map(str::to_owned));
            Ok(())
        });
        if lost.is_empty() {
            return;
        }
        self.told(&Place::root(), "$ref", MendKind::Malformed, true, "it leads to what was left out; left out");
        drop_refs(whole, &WordSet::new(lost));
    }
}

fn drop_refs(schema: &mut Value, lost: &WordSet) {
    let Value::Object(map) = schema else { return };
    if map.get("$ref").and_then(Value::as_str).is_some_and(|text| lost.contains(text)) {
        map.shift_remove("$ref");
    }
    each_below(map, &mut |below| drop_refs(below, lost));
}

/// Returns a reference with nothing in it that could be written in another way.
fn unescaped(text: &str) -> String {
    local_pointer(text).map_or_else(|| text.to_owned(), |place| format!("#{place}"))
}

fn has_ref(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| key == "$ref" || has_ref(value)),
        Value::Array(list) => list.iter().any(has_ref),
        _ => false,
    }
}

/// Calls a function with every schema right below one.
fn each_below(map: &mut JsonMap, run: &mut dyn FnMut(&mut Value)) {
    for (key, value) in map {
        match (below(key), value) {
            (SubschemaKind::Map, Value::Object(map)) => map.values_mut().for_each(&mut *run),
            (SubschemaKind::List | SubschemaKind::OneOrList, Value::Array(list)) => list.iter_mut().for_each(&mut *run),
            (SubschemaKind::One | SubschemaKind::OneOrList, value) => run(value),
            _ => {}
        }
    }
}
