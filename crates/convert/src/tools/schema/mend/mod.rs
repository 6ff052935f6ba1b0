//! Makes a well-formed schema of whatever stands where a schema should.
//!
//! What is malformed says nothing that could be held, and whoever reads the list it is in refuses all of it. So it is
//! written as what it was meant to be where that is plain, and left out where it is not. The result never refuses what
//! the schema accepts as [`super::super::validate`] reads it. Where accepting more below one keyword would mean accepting
//! less above it, as below `not`, the keyword above is left out, too.

mod keywords;
mod targets;

use serde_json::{Value, json};

pub use self::keywords::append_description;
use super::keywords::{SubschemaKind, below};
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::{JsonMap, pointer};
use contextweaver_text::unicode::truncate;

/// How much is mended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MendOptions {
    /// Whether a `pattern` that is not of the common kind, as one that looks around itself or is none, is told in the
    /// description instead: engines differ, and some refuse the whole schema.
    pub plain_patterns: bool,
}

/// What was wrong with a part of a schema that was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MendKind {
    /// No JSON Schema of any draft.
    Malformed,
    /// As an earlier draft has it.
    EarlierDraft,
    /// JSON Schema that not everybody takes.
    Unportable,
}

/// One part of a schema that was written otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaMend {
    /// JSON pointer of the schema.
    pub path: String,
    /// The keyword; empty where it is the whole schema.
    pub keyword: String,
    /// What it was.
    pub kind: MendKind,
    /// Whether it was left out, and not written otherwise.
    pub is_removed: bool,
    /// What was wrong, and what that means now.
    pub note: &'static str,
}

/// Returns a schema as well-formed JSON Schema of 2020-12 without booleans where an object may stand. Keys keep their
/// order, unknown keywords stay as they are, and what is well-formed stays the same. Takes time in proportion to the
/// schema; what is deeper than 64 levels, and what comes after 10,000 schemas, is left open.
///
/// ```
/// use contextweaver_convert::tools::{MendOptions, mended_schema};
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "a": { "type": "int", "minimum": "1" }, "b": true }, "required": null });
/// let mut mends = Vec::new();
/// let mended = mended_schema(&schema, MendOptions::default(), &mut mends);
/// assert_eq!(json!(mended), json!({ "properties": { "a": { "type": "integer" }, "b": {} } }));
/// let told: Vec<_> = mends.iter().map(|mend| format!("{}/{}", mend.path, mend.keyword)).collect();
/// assert_eq!(told, ["/properties/a/type", "/properties/a/minimum", "/properties/b/", "/required"]);
/// ```
pub fn mended_schema(schema: &Value, options: MendOptions, mends: &mut Vec<SchemaMend>) -> JsonMap {
    let mut mender = SchemaMender::new(schema, options, mends);
    let root = mender.schema(schema, &Place::root(), 0);
    mender.settled(root)
}

/// Where a schema stands; the path is written when something is told of it.
#[derive(Clone, Copy)]
struct Place<'p> {
    above: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

/// Why a keyword is left out below which more is accepted than before.
const REVERSED: &str = "what is below it cannot be said as it was; left out";

/// Characters of a name in a path: names come from the schema.
const NAME_CHARS: usize = 80;

impl<'p> Place<'p> {
    const fn root() -> Self {
        Self { above: None, step: Step::Root }
    }

    const fn below(&'p self, step: Step<'p>) -> Self {
        Self { above: Some(self), step }
    }

    fn path(&self) -> String {
        let above = self.above.map_or_else(String::new, Place::path);
        match self.step {
            Step::Root => above,
            Step::Key(key) => pointer(&above, &truncate(key, NAME_CHARS)),
            Step::Index(index) => format!("{above}/{index}"),
        }
    }
}

/// One pass over a schema.
struct SchemaMender<'s, 'm> {
    root: &'s Value,
    options: MendOptions,
    mends: &'m mut Vec<SchemaMend>,
    /// Schemas looked at.
    schemas: usize,
    /// Bytes of the paths that were told.
    told_bytes: usize,
    /// Mends after which a schema may accept more than before.
    widened: usize,
    /// Whether something is not written as an earlier draft has it.
    is_modernised: bool,
    /// The references met so far, each with the form in which it is written.
    refs: SortedMap<String, Option<String>>,
    /// References to schemas that stand where no keyword has one.
    outside: Vec<String>,
}

impl<'s, 'm> SchemaMender<'s, 'm> {
    fn new(root: &'s Value, options: MendOptions, mends: &'m mut Vec<SchemaMend>) -> Self {
        Self {
            root,
            options,
            mends,
            schemas: 0,
            told_bytes: 0,
            widened: 0,
            is_modernised: false,
            refs: SortedMap::new(),
            outside: Vec::new(),
        }
    }

    /// Tells of a change, as long as there is room for its path.
    fn told(&mut self, place: &Place<'_>, keyword: &str, kind: MendKind, is_removed: bool, note: &'static str) {
        if self.told_bytes > limits::MAX_REPORTED_BYTES {
            return;
        }
        let path = place.path();
        let keyword = truncate(keyword, NAME_CHARS);
        self.told_bytes += path.len() + keyword.len();
        self.mends.push(SchemaMend { path, keyword, kind, is_removed, note });
    }

    /// Tells of a malformed keyword that is left out.
    fn removed(&mut self, place: &Place<'_>, keyword: &str, note: &'static str) {
        self.widened += 1;
        self.told(place, keyword, MendKind::Malformed, true, note);
    }

    /// Tells of a keyword that is left out since what it says cannot be said in another way.
    fn given_up(&mut self, place: &Place<'_>, keyword: &str, note: &'static str) {
        self.widened += 1;
        self.told(place, keyword, MendKind::Unportable, true, note);
    }

    /// Mends what stands where a schema should.
    fn schema(&mut self, value: &Value, place: &Place<'_>, depth: usize) -> JsonMap {
        self.schemas += 1;
        match value {
            Value::Object(_) if depth > limits::MAX_DEPTH || self.schemas > limits::MAX_SCHEMA_NODES => {
                self.given_up(place, "", "the schema is too large or too deep; left open here");
                JsonMap::new()
            }
            Value::Object(map) => self.object(map, place, depth),
            Value::Bool(is_open) => {
                self.told(place, "", MendKind::Unportable, false, "true or false as a schema, written as an object");
                if *is_open { JsonMap::new() } else { nothing() }
            }
            _ => {
                self.told(place, "", MendKind::Malformed, false, "no schema; anything fits here");
                JsonMap::new()
            }
        }
    }

    fn object(&mut self, map: &JsonMap, place: &Place<'_>, depth: usize) -> JsonMap {
        let mut out = JsonMap::new();
        let mut patterns = Vec::new();
        let before = self.widened;
        for (key, value) in map {
            let kept = match below(key) {
                SubschemaKind::Nothing => self.plain(key, value, place, &mut patterns),
                SubschemaKind::Map => self.named_schemas(map, key, value, place, depth),
                SubschemaKind::List => self.list(key, value, place, depth),
                SubschemaKind::One | SubschemaKind::OneOrList => self.one(key, value, place, depth),
            };
            if let Some(kept) = kept {
                out.insert(key.clone(), kept);
            }
        }
        if self.widened > before {
            self.open_rest(map, &mut out, place);
        }
        self.tuple(map, &mut out, place);
        self.exclusive_bounds(&mut out, place);
        for pattern in patterns {
            append_description(&mut out, &format!("Pattern: {}.", truncate(&pattern, keywords::PATTERN_CHARS)));
        }
        out
    }

    /// Leaves out what speaks of the rest, where some of what it was the rest of is left out.
    fn open_rest(&mut self, map: &JsonMap, out: &mut JsonMap, place: &Place<'_>) {
        let names = |map: &JsonMap| map.get("patternProperties").and_then(Value::as_object).map_or(0, JsonMap::len);
        let lost = if names(out) < names(map) { "additionalProperties" } else { "" };
        for key in [lost, "unevaluatedProperties", "unevaluatedItems"] {
            if out.shift_remove(key).is_some() {
                self.given_up(place, key, "some of what it stands beside is left out");
            }
        }
    }

    /// Mends a schema below a keyword that has one.
    fn one(&mut self, key: &str, value: &Value, place: &Place<'_>, depth: usize) -> Option<Value> {
        let at = place.below(Step::Key(key));
        match value {
            Value::Array(list) if key == "items" => Some(self.each(list, &at, depth)),
            Value::Bool(_) if matches!(key, "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems") => {
                Some(value.clone())
            }
            Value::Object(_) | Value::Bool(_) => {
                let before = self.widened;
                let schema = self.schema(value, &at, depth + 1);
                let is_reversed = matches!(key, "not" | "if" | "contains");
                if is_reversed && self.widened > before {
                    self.given_up(place, key, REVERSED);
                    return None;
                }
                Some(Value::Object(schema))
            }
            _ => {
                self.removed(place, key, "no schema; left out");
                None
            }
        }
    }

    /// Mends a list of schemas.
    fn list(&mut self, key: &str, value: &Value, place: &Place<'_>, depth: usize) -> Option<Value> {
        let at = place.below(Step::Key(key));
        match value {
            Value::Array(list) if !list.is_empty() => {
                let before = self.widened;
                let mended = self.each(list, &at, depth);
                if key == "oneOf" && self.widened > before {
                    // One that accepts more may accept what another one does.
                    self.given_up(place, key, REVERSED);
                    return None;
                }
                Some(mended)
            }
            _ => {
                self.removed(place, key, "no list of schemas; left out");
                None
            }
        }
    }

    fn each(&mut self, list: &[Value], at: &Place<'_>, depth: usize) -> Value {
        let each = |(index, one)| Value::Object(self.schema(one, &at.below(Step::Index(index)), depth + 2));
        list.iter().enumerate().map(each).collect()
    }

    /// Mends schemas by name. What is no schema among properties has slipped in there, as `required` has that stands one
    /// level too deep: it is left out where any other property may be there as well.
    fn named_schemas(
        &mut self,
        map: &JsonMap,
        key: &str,
        value: &Value,
        place: &Place<'_>,
        depth: usize,
    ) -> Option<Value> {
        let at = place.below(Step::Key(key));
        let Value::Object(schemas) = value else {
            self.removed(place, key, "no schemas by name; left out");
            return None;
        };
        let is_open = ["additionalProperties", "unevaluatedProperties", "patternProperties"]
            .iter()
            .all(|key| map.get(*key).is_none_or(|value| *value == Value::Bool(true)));
        let mut out = JsonMap::new();
        for (name, schema) in schemas {
            let place = at.below(Step::Key(name));
            if key == "patternProperties" && !self.is_usable_pattern(name) {
                self.given_up(&place, "", "the pattern of the names is not of the common kind; left out");
            } else if key == "properties" && is_open && !schema.is_object() && !schema.is_boolean() {
                self.removed(&place, "", "no schema among the properties; left out");
            } else {
                out.insert(name.clone(), Value::Object(self.schema(schema, &place, depth + 2)));
            }
        }
        Some(Value::Object(out))
    }

    /// Writes a list below `items` as `prefixItems`.
    fn tuple(&mut self, map: &JsonMap, out: &mut JsonMap, place: &Place<'_>) {
        if !out.get("items").is_some_and(Value::is_array) {
            return;
        }
        let rest = out.shift_remove("additionalItems");
        let Some(list) = out.get_mut("items").map(Value::take) else { return };
        let is_twice = map.contains_key("prefixItems");
        match rest {
            Some(rest) if !is_twice => {
                out.insert("items".to_owned(), rest);
            }
            _ => {
                out.shift_remove("items");
            }
        }
        if !is_twice && list.as_array().is_some_and(|list| !list.is_empty()) {
            out.insert("prefixItems".to_owned(), list);
        }
        self.is_modernised = true;
        self.told(place, "items", MendKind::EarlierDraft, false, "a list of items is called prefixItems");
    }

    /// Writes a bound that excludes itself by true as the bound.
    fn exclusive_bounds(&mut self, out: &mut JsonMap, place: &Place<'_>) {
        for (keyword, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            let Some(Value::Bool(is_exclusive)) = out.get(keyword).cloned() else { continue };
            out.shift_remove(keyword);
            if let Some(limit) = if is_exclusive { out.shift_remove(bound) } else { None } {
                out.insert(keyword.to_owned(), limit);
            }
            self.is_modernised = true;
            let note = "the bound itself stands there, not true or false";
            self.told(place, keyword, MendKind::EarlierDraft, false, note);
        }
    }
}

/// The schema that nothing fits.
fn nothing() -> JsonMap {
    JsonMap::from_iter([("not".to_owned(), json!({}))])
}
