//! Views by media type, and the table that chooses them.

use serde_json::{Value, json};

use super::detect::detect;
use contextweaver_base::order;
use contextweaver_model::json;
use contextweaver_model::{ArtifactRef, JsonMap, SelectableItem, ViewSpec};
use contextweaver_text::lines::lines;

/// What makes the views of a media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// Keys of an object, the beginning of a list.
    Json,
    /// First and last rows.
    Csv,
    /// First and last lines.
    Text,
    /// The first bytes, for what cannot be shown.
    Header,
    /// The caller's, by name; it makes its views outside.
    Custom(String),
}

/// Media types with their generators, of which the first three are the reference's.
const DEFAULTS: &[(&str, Generator)] = &[
    ("application/json", Generator::Json),
    ("text/csv", Generator::Csv),
    ("text/plain", Generator::Text),
    ("+json", Generator::Json),
    ("text/tab-separated-values", Generator::Csv),
    ("text/*", Generator::Text),
    ("+xml", Generator::Text),
    ("+yaml", Generator::Text),
    ("application/xml", Generator::Text),
    ("application/yaml", Generator::Text),
    ("application/x-ndjson", Generator::Text),
    ("*/*", Generator::Header),
];
/// Entries of [`DEFAULTS`] that the reference has.
const REFERENCE_DEFAULTS: usize = 3;

/// A table from media types to generators.
///
/// An entry is a media type, a suffix such as `+json`, a family such as `text/*`, or `*/*`; the most exact one that
/// matches counts, in this order. Case and parameters of media types count for nothing. With `compat`, entries and
/// types are compared as they are, and a text type without an entry is taken for `text/plain`.
#[derive(Debug, Clone)]
pub struct Registry {
    entries: Vec<(String, Generator)>,
    compat: bool,
}

impl Registry {
    /// Makes the table of the mode.
    pub fn new(compat: bool) -> Self {
        let count = if compat { REFERENCE_DEFAULTS } else { DEFAULTS.len() };
        let entries = DEFAULTS[..count].iter().map(|(name, generator)| ((*name).to_owned(), generator.clone()));
        Self { entries: entries.collect(), compat }
    }

    /// Sets the generator of a media type or pattern, in place of the one before.
    pub fn register(&mut self, content_type: &str, generator: Generator) {
        let name = self.normal(content_type);
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = generator,
            None => self.entries.push((name, generator)),
        }
    }

    /// Returns the generator of a media type.
    pub fn lookup(&self, media_type: &str) -> &Generator {
        let name = self.normal(media_type);
        let family = name.split_once('/').map_or("", |(family, _)| family);
        let patterns = if self.compat {
            [if family == "text" { "text/plain" } else { "" }.to_owned(), String::new(), String::new()]
        } else {
            let suffix = name.rfind('+').map_or("", |at| &name[at..]);
            [suffix.to_owned(), format!("{family}/*"), "*/*".to_owned()]
        };
        let found = self
            .find(&name)
            .or_else(|| patterns.iter().filter(|pattern| !pattern.is_empty()).find_map(|pattern| self.find(pattern)));
        found.unwrap_or(&Generator::Header)
    }

    fn find(&self, name: &str) -> Option<&Generator> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, generator)| generator)
    }

    fn normal(&self, media_type: &str) -> String {
        if self.compat {
            return media_type.to_owned();
        }
        media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Returns the generator for stored bytes, whose type is detected where their reference does not tell it.
    pub fn generator(&self, reference: &ArtifactRef, bytes: &[u8]) -> &Generator {
        self.lookup(detect(bytes, &reference.media_type))
    }

    /// Makes the views of stored bytes; none where the generator is the caller's.
    pub fn views(&self, reference: &ArtifactRef, bytes: &[u8]) -> Vec<ViewSpec> {
        let text = || String::from_utf8_lossy(bytes);
        match self.generator(reference, bytes) {
            Generator::Json => json_views(reference, &text()),
            Generator::Csv => ends(reference, lines(&text()).count(), &ROW_ENDS),
            Generator::Text => ends(reference, lines(&text()).count(), &LINE_ENDS),
            Generator::Header => {
                let label = format!("Header (128 bytes, {})", reference.media_type);
                vec![view(reference, "meta", label, json!({ "type": "head", "chars": 128 }))]
            }
            Generator::Custom(_) => Vec::new(),
        }
    }
}

/// Makes the views of stored bytes as the reference does.
pub fn views(reference: &ArtifactRef, bytes: &[u8]) -> Vec<ViewSpec> {
    Registry::new(true).views(reference, bytes)
}

fn object(value: Value) -> JsonMap {
    match value {
        Value::Object(map) => map,
        _ => JsonMap::new(),
    }
}

fn view(reference: &ArtifactRef, name: &str, label: String, selector: Value) -> ViewSpec {
    ViewSpec {
        view_id: format!("{}:{name}", reference.handle),
        label,
        selector: object(selector),
        artifact_ref: Some(reference.clone()),
    }
}

fn json_views(reference: &ArtifactRef, text: &str) -> Vec<ViewSpec> {
    let Ok(value) = json::parse(text) else { return Vec::new() };
    let mut views = Vec::new();
    match &value {
        Value::Object(map) if !map.is_empty() => {
            let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
            order::sort(&mut keys);
            let more = if keys.len() > 5 { "…" } else { "" };
            let label = format!("JSON keys: {}{more}", keys[..keys.len().min(5)].join(", "));
            views.push(view(reference, "json_keys", label, json!({ "type": "json_keys", "keys": keys })));
            views.extend(keys.iter().take(10).map(|key| {
                let selector = json!({ "type": "json_keys", "keys": [key] });
                view(reference, &format!("key:{key}"), format!("JSON key '{key}'"), selector)
            }));
        }
        Value::Array(list) if !list.is_empty() => {
            let label = format!("Array head ({} of {} items)", list.len().min(5), list.len());
            views.push(view(reference, "array_head", label, json!({ "type": "head", "chars": 500 })));
        }
        _ => {}
    }
    if text.chars().nth(200).is_some() {
        let selector = json!({ "type": "head", "chars": 500 });
        views.push(view(reference, "head", "Head (500 chars)".to_owned(), selector));
    }
    views
}

/// How the two ends of a text in lines are offered.
struct Ends {
    /// Lines of one end.
    count: usize,
    selector: &'static str,
    head: &'static str,
    tail: &'static str,
    /// Labels around the count of one end and, where there is one, the count of all.
    labels: [[&'static str; 3]; 2],
}

const ROW_ENDS: Ends = Ends {
    count: 10,
    selector: "rows",
    head: "head_rows",
    tail: "tail_rows",
    labels: [["Head rows (first ", " of ", ")"], ["Tail rows (last ", " of ", ")"]],
};
const LINE_ENDS: Ends = Ends {
    count: 20,
    selector: "lines",
    head: "head",
    tail: "tail",
    labels: [["Head (", "", " lines)"], ["Tail (", "", " lines)"]],
};

fn ends(reference: &ArtifactRef, total: usize, ends: &Ends) -> Vec<ViewSpec> {
    let count = ends.count.min(total);
    let mut views = Vec::new();
    let mut offer = |name, [before, of, after]: [&str; 3], start: usize| {
        let all = if of.is_empty() { String::new() } else { total.to_string() };
        let selector = json!({ "type": ends.selector, "start": start, "end": start + count });
        views.push(view(reference, name, format!("{before}{count}{of}{all}{after}"), selector));
    };
    if total > 0 {
        offer(ends.head, ends.labels[0], 0);
    }
    if total > ends.count {
        offer(ends.tail, ends.labels[1], total - count);
    }
    views
}

/// Returns the tool that lets a model read a slice of a stored artifact; to be offered when results are interpreted.
pub fn drilldown_tool() -> SelectableItem {
    let text = str::to_owned;
    SelectableItem {
        id: text("contextweaver:drilldown"),
        kind: text("internal"),
        name: text("drilldown"),
        description: text(
            "Fetch a specific slice of a stored artifact. Provide an artifact handle and a selector to retrieve only \
             the data you need.",
        ),
        tags: ["progressive-disclosure", "drilldown", "artifact"].map(str::to_owned).to_vec(),
        namespace: String::new(),
        args_schema: object(json!({
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "Artifact handle." },
                "selector": {
                    "type": "object",
                    "description": "Selector: \"head\", \"lines\", \"json_keys\", or \"rows\".",
                    "properties": { "type": { "type": "string", "enum": ["head", "lines", "json_keys", "rows"] } },
                    "required": ["type"],
                },
            },
            "required": ["handle", "selector"],
        })),
        metadata: object(json!({ "builtin": true, "phase": "interpret" })),
        ..SelectableItem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_serves_both_modes() {
        let custom = |name: &str| Generator::Custom(name.to_owned());
        let table = [
            ("application/json", Generator::Json, Generator::Json),
            ("Application/JSON; charset=utf-8", Generator::Json, Generator::Header),
            ("application/vnd.api+json", Generator::Json, Generator::Header),
            ("text/tab-separated-values", Generator::Csv, Generator::Text),
            ("text/html", Generator::Text, Generator::Text),
            ("text/x+json", Generator::Json, Generator::Text),
            ("text", Generator::Header, Generator::Header),
            ("image/png", Generator::Header, Generator::Header),
            ("image/svg+xml", Generator::Text, Generator::Header),
            ("", Generator::Header, Generator::Header),
        ];
        for (media_type, ours, theirs) in table {
            assert_eq!(Registry::new(false).lookup(media_type), &ours, "{media_type}");
            assert_eq!(Registry::new(true).lookup(media_type), &theirs, "{media_type}");
        }
        for compat in [false, true] {
            let mut registry = Registry::new(compat);
            for (pattern, name) in [("image/*", "one"), ("Image/*", "two"), ("text/plain", "text"), ("*/*", "any")] {
                registry.register(pattern, custom(name));
            }
            let found = ["image/png", "text/html", "audio/wav"].map(|media_type| registry.lookup(media_type).clone());
            let header = || Generator::Header;
            let expected = if compat {
                [header(), custom("text"), header()]
            } else {
                [custom("two"), Generator::Text, custom("any")]
            };
            assert_eq!(found, expected);
        }
    }
}
