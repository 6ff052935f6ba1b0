//! Views by media type, and the table that chooses them.

use serde_json::{Value, json};

use super::detect::detect;
use contextweaver_base::order;
use contextweaver_model::json;
use contextweaver_model::{ArtifactRef, JsonMap, SelectableItem, ViewSpec};
use contextweaver_text::lines::lines;

/// What makes the views of a media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewGenerator {
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

/// A table from media types to generators, which are compared as they are; a text type without an entry is taken for
/// `text/plain`.
#[derive(Debug, Clone)]
pub struct ViewRegistry {
    entries: Vec<(String, ViewGenerator)>,
}

impl Default for ViewRegistry {
    fn default() -> Self {
        let entries = [
            ("application/json", ViewGenerator::Json),
            ("text/csv", ViewGenerator::Csv),
            ("text/plain", ViewGenerator::Text),
        ];
        Self { entries: entries.into_iter().map(|(name, generator)| (name.to_owned(), generator)).collect() }
    }
}

impl ViewRegistry {
    /// Sets the generator of a media type, in place of the one before.
    pub fn register(&mut self, media_type: &str, generator: ViewGenerator) {
        match self.entries.iter_mut().find(|(known, _)| known == media_type) {
            Some((_, known)) => *known = generator,
            None => self.entries.push((media_type.to_owned(), generator)),
        }
    }

    /// Returns the generator of a media type.
    pub fn lookup(&self, media_type: &str) -> &ViewGenerator {
        let is_text = media_type.split_once('/').is_some_and(|(family, _)| family == "text");
        let found = self.find(media_type).or_else(|| if is_text { self.find("text/plain") } else { None });
        found.unwrap_or(&ViewGenerator::Header)
    }

    fn find(&self, name: &str) -> Option<&ViewGenerator> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, generator)| generator)
    }

    /// Returns the generator for stored bytes, whose type is detected where their record does not tell it.
    pub fn generator(&self, artifact_ref: &ArtifactRef, bytes: &[u8]) -> &ViewGenerator {
        self.lookup(detect(bytes, &artifact_ref.media_type))
    }

    /// Makes the views of stored bytes; none where the generator is the caller's.
    pub fn views(&self, artifact_ref: &ArtifactRef, bytes: &[u8]) -> Vec<ViewSpec> {
        let text = || String::from_utf8_lossy(bytes);
        match self.generator(artifact_ref, bytes) {
            ViewGenerator::Json => json_views(artifact_ref, &text()),
            ViewGenerator::Csv => ends(artifact_ref, lines(&text()).count(), &ROW_ENDS),
            ViewGenerator::Text => ends(artifact_ref, lines(&text()).count(), &LINE_ENDS),
            ViewGenerator::Header => {
                let label = format!("Header (128 bytes, {})", artifact_ref.media_type);
                vec![view(artifact_ref, "meta", label, json!({ "type": "head", "chars": 128 }))]
            }
            ViewGenerator::Custom(_) => Vec::new(),
        }
    }
}

/// Makes the views of stored bytes.
pub fn views(artifact_ref: &ArtifactRef, bytes: &[u8]) -> Vec<ViewSpec> {
    ViewRegistry::default().views(artifact_ref, bytes)
}

fn object(value: Value) -> JsonMap {
    match value {
        Value::Object(map) => map,
        _ => JsonMap::new(),
    }
}

fn view(artifact_ref: &ArtifactRef, name: &str, label: String, selector: Value) -> ViewSpec {
    ViewSpec {
        view_id: format!("{}:{name}", artifact_ref.handle),
        label,
        selector: object(selector),
        artifact_ref: Some(artifact_ref.clone()),
    }
}

fn json_views(artifact_ref: &ArtifactRef, text: &str) -> Vec<ViewSpec> {
    let Ok(value) = json::parse(text) else { return Vec::new() };
    let mut views = Vec::new();
    match &value {
        Value::Object(map) if !map.is_empty() => {
            let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
            order::sort(&mut keys);
            let more = if keys.len() > 5 { "…" } else { "" };
            let label = format!("JSON keys: {}{more}", keys[..keys.len().min(5)].join(", "));
            views.push(view(artifact_ref, "json_keys", label, json!({ "type": "json_keys", "keys": keys })));
            views.extend(keys.iter().take(10).map(|key| {
                let selector = json!({ "type": "json_keys", "keys": [key] });
                view(artifact_ref, &format!("key:{key}"), format!("JSON key '{key}'"), selector)
            }));
        }
        Value::Array(list) if !list.is_empty() => {
            let label = format!("Array head ({} of {} items)", list.len().min(5), list.len());
            views.push(view(artifact_ref, "array_head", label, json!({ "type": "head", "chars": 500 })));
        }
        _ => {}
    }
    if text.chars().nth(200).is_some() {
        let selector = json!({ "type": "head", "chars": 500 });
        views.push(view(artifact_ref, "head", "Head (500 chars)".to_owned(), selector));
    }
    views
}

/// How the two ends of a text in lines are offered.
struct TextEnds {
    /// Lines of one end.
    count: usize,
    selector: &'static str,
    head: &'static str,
    tail: &'static str,
    /// Labels around the count of one end and, where there is one, the count of all.
    labels: [[&'static str; 3]; 2],
}

const ROW_ENDS: TextEnds = TextEnds {
    count: 10,
    selector: "rows",
    head: "head_rows",
    tail: "tail_rows",
    labels: [["Head rows (first ", " of ", ")"], ["Tail rows (last ", " of ", ")"]],
};
const LINE_ENDS: TextEnds = TextEnds {
    count: 20,
    selector: "lines",
    head: "head",
    tail: "tail",
    labels: [["Head (", "", " lines)"], ["Tail (", "", " lines)"]],
};

fn ends(artifact_ref: &ArtifactRef, total: usize, ends: &TextEnds) -> Vec<ViewSpec> {
    let count = ends.count.min(total);
    let mut views = Vec::new();
    let mut offer = |name, [before, of, after]: [&str; 3], start: usize| {
        let all = if of.is_empty() { String::new() } else { total.to_string() };
        let selector = json!({ "type": ends.selector, "start": start, "end": start + count });
        views.push(view(artifact_ref, name, format!("{before}{count}{of}{all}{after}"), selector));
    };
    if total > 0 {
        offer(ends.head, ends.labels[0], 0);
    }
    if total > ends.count {
        offer(ends.tail, ends.labels[1], total - count);
    }
    views
}

/// Returns the tool that lets a model read a slice of a stored artifact, with the selectors of 0.18.
pub fn drilldown_tool() -> SelectableItem {
    let args_schema = object(json!({
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
    }));
    let description = "Fetch a specific slice of a stored artifact. Provide an artifact handle and a selector to retrieve only the \
                       data you need.";
    SelectableItem { description: description.to_owned(), args_schema, ..contextweaver_content::drilldown_tool() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_compared_as_they_are() {
        let table = [
            ("application/json", ViewGenerator::Json),
            ("Application/JSON; charset=utf-8", ViewGenerator::Header),
            ("application/vnd.api+json", ViewGenerator::Header),
            ("text/tab-separated-values", ViewGenerator::Text),
            ("text/html", ViewGenerator::Text),
            ("text/x+json", ViewGenerator::Text),
            ("text", ViewGenerator::Header),
            ("image/png", ViewGenerator::Header),
            ("image/svg+xml", ViewGenerator::Header),
            ("", ViewGenerator::Header),
        ];
        for (media_type, generator) in table {
            assert_eq!(ViewRegistry::default().lookup(media_type), &generator, "{media_type}");
        }
        let mut registry = ViewRegistry::default();
        for name in ["image/*", "Image/*", "text/plain", "*/*"] {
            registry.register(name, ViewGenerator::Custom(name.to_owned()));
        }
        let found = ["image/png", "text/html", "audio/wav"].map(|media_type| registry.lookup(media_type).clone());
        assert_eq!(
            found,
            [ViewGenerator::Header, ViewGenerator::Custom("text/plain".to_owned()), ViewGenerator::Header]
        );
    }
}
