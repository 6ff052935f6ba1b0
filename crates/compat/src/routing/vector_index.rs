//! The vector index of 0.18 over tools: search, near duplicates, what a match rests on.

use serde_json::Value;

use contextweaver_base::order::{SortedMap, WordSet, sort, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, number_text};
use contextweaver_routing::scorers::embeddings::{HashingEmbedding, SparseVector, similarity};
use contextweaver_text::quote::quote;
use contextweaver_text::tokenize::token_set;

/// The parts of a tool's text, in order.
const SECTIONS: [&str; 4] = ["name", "description", "schema", "metadata"];

/// A tool in the index.
#[derive(Debug, Clone)]
struct IndexedItem {
    text: String,
    vector: SparseVector,
    sections: [WordSet; 4],
}

/// Tools by id with their vectors.
#[derive(Debug, Clone, Default)]
pub struct VectorIndex {
    hashing: HashingEmbedding,
    entries: SortedMap<String, IndexedItem>,
}

/// The id of a tool, its similarity to the query from 0 to 1, and the part of its text that matches best.
pub type SimilarItem = (String, f64, &'static str);

impl VectorIndex {
    /// Makes an empty index.
    pub fn new(hashing: HashingEmbedding) -> Self {
        Self { hashing, entries: SortedMap::new() }
    }

    /// Makes the index one of these tools; returns how many had to be read anew.
    ///
    /// # Errors
    /// `DUPLICATE_ID` when two tools have one id.
    ///
    /// ```
    /// use contextweaver_compat::routing::vector_index::VectorIndex;
    /// use contextweaver_model::SelectableItem;
    ///
    /// let tool = |id: &str, text: &str| SelectableItem { id: id.into(), name: id.into(), description: text.into(), ..Default::default() };
    /// let (mail, clock) = (tool("mail", "Sends an email message."), tool("clock", "Tells the time."));
    /// let mut index = VectorIndex::default();
    /// index.refresh(&[&mail, &clock])?;
    /// assert_eq!(index.query("send an email", 1)[0].0, "mail");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn refresh(&mut self, items: &[&SelectableItem]) -> Result<usize> {
        let (mut fresh, mut read) = (SortedMap::new(), 0);
        for item in items {
            let parts = sections(item);
            let text = text_of(&parts);
            let entry = match self.entries.get(&item.id) {
                Some(known) if known.text == text => known.clone(),
                _ => {
                    read += 1;
                    IndexedItem {
                        vector: self.hashing.embed(&text),
                        sections: parts.each_ref().map(|part| token_set(part)),
                        text,
                    }
                }
            };
            if fresh.insert(item.id.clone(), entry).is_some() {
                let message = format!("two tools have the id {}", quote(&item.id));
                return Err(Error::new(ErrorCode::DuplicateId, message));
            }
        }
        self.entries = fresh;
        Ok(read)
    }

    /// Returns the tools most like a text, the best first, equal ones by id.
    pub fn query(&self, text: &str, top_k: usize) -> Vec<SimilarItem> {
        if text.trim().is_empty() || top_k == 0 {
            return Vec::new();
        }
        let (vector, words) = (self.hashing.embed(text), token_set(text));
        let mut found: Vec<(&String, &IndexedItem, f64)> =
            self.entries.iter().map(|(id, entry)| (id, entry, similarity(&vector, &entry.vector))).collect();
        sort_by(&mut found, |a, b| b.2.total_cmp(&a.2));
        found.truncate(top_k);
        found.into_iter().map(|(id, entry, score)| (id.clone(), score, evidence(entry, &words))).collect()
    }

    /// Returns pairs of tools at least so alike, in the order of their ids.
    ///
    /// # Errors
    /// `OUT_OF_RANGE` for a threshold outside 0 to 1.
    pub fn duplicates(&self, threshold: f64) -> Result<Vec<(String, String, f64)>> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(Error::new(ErrorCode::OutOfRange, "the threshold must be from 0 to 1").at("/threshold"));
        }
        let entries: Vec<(&String, &IndexedItem)> = self.entries.iter().collect();
        let mut pairs = Vec::new();
        for (index, (id, entry)) in entries.iter().enumerate() {
            for (other_id, other) in &entries[index + 1..] {
                let score = similarity(&entry.vector, &other.vector);
                if score >= threshold {
                    pairs.push(((*id).clone(), (*other_id).clone(), score));
                }
            }
        }
        Ok(pairs)
    }
}

fn evidence(entry: &IndexedItem, words: &WordSet) -> &'static str {
    let (mut best, mut most) = ("semantic", 0);
    for (name, section) in SECTIONS.iter().zip(&entry.sections) {
        let shared = words.shared(section);
        if shared > most {
            (best, most) = (name, shared);
        }
    }
    best
}

/// Returns the text a tool is compared by.
pub fn canonical_text(item: &SelectableItem) -> String {
    text_of(&sections(item))
}

fn text_of(sections: &[String; 4]) -> String {
    let lines: Vec<String> = SECTIONS.iter().zip(sections).map(|(name, text)| format!("{name}: {text}")).collect();
    lines.join("\n")
}

fn sections(item: &SelectableItem) -> [String; 4] {
    [item.name.clone(), item.description.clone(), schema_section(item), metadata_section(item)]
}

fn properties(schema: &JsonMap) -> Vec<(&String, &Value)> {
    let mut list: Vec<(&String, &Value)> =
        schema.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
    sort_by(&mut list, |a, b| a.0.cmp(b.0));
    list
}

fn schema_section(item: &SelectableItem) -> String {
    let described = |(name, property): (&String, &Value)| match &property["description"] {
        Value::String(text) if !text.is_empty() => format!("{name}: {text}"),
        Value::Number(number) => format!("{name}: {}", number_text(number)),
        _ => name.clone(),
    };
    let mut parts: Vec<String> = properties(&item.args_schema).into_iter().map(described).collect();
    let output: Vec<&str> = item.output_schema.iter().flat_map(properties).map(|(name, _)| name.as_str()).collect();
    if !output.is_empty() {
        parts.push(format!("output: {}", output.join(", ")));
    }
    parts.join("; ")
}

fn metadata_section(item: &SelectableItem) -> String {
    let mut parts = Vec::new();
    for (name, list, joint) in [("examples", &item.examples, "; "), ("tags", &item.tags, ", ")] {
        let mut list = list.clone();
        sort(&mut list);
        if !list.is_empty() {
            parts.push(format!("{name}: {}", list.join(joint)));
        }
    }
    if !item.namespace.is_empty() {
        parts.push(format!("namespace: {}", item.namespace));
    }
    let inventory = item.metadata.get("_contextweaver").and_then(|own| own.get("inventory"));
    for name in ["owner", "domain", "lifecycle"] {
        let text = inventory.and_then(|inventory| inventory.get(name)).and_then(Value::as_str).unwrap_or_default();
        if !text.is_empty() {
            parts.push(format!("{name}: {text}"));
        }
    }
    parts.join("; ")
}
