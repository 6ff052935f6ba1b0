//! The state of reading a result: what was found, and the limits of it.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::media_label::{MediaSize, kind_of, media_label};
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::{JsonMap, type_name};
use contextweaver_model::{ArtifactRef, Warning};
use contextweaver_text::markdown::one_line;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode;

/// Characters of a label, a name or an address where people or models read it.
const LABEL_CHARS: usize = 200;

/// Most bytes of the line that says what is missing of a text.
const MISSING_LINE_BYTES: usize = 1024;

/// Bytes of a result, to be stored under a handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultBinary {
    /// The name under which to store them.
    pub handle: String,
    /// The bytes, decoded.
    pub bytes: Vec<u8>,
    /// MIME type of the bytes; of a link this is not the type of what it leads to.
    pub media_type: String,
    /// One line that describes the bytes.
    pub label: String,
    /// Of an image, a sound or a file that a model may be shown its name, which may be empty; none of bytes that are shown as
    /// text, and of those that are for the user only.
    pub media: Option<String>,
}

impl ResultBinary {
    /// Returns the label that stands in a text for media, such as `[image: image/png, 12 KiB]`.
    pub fn media_label(&self) -> Option<String> {
        let name = self.media.as_deref()?;
        Some(media_label(kind_of(&self.media_type), name, &self.media_type, MediaSize::Bytes(self.bytes.len())))
    }

    /// Returns the artifact of the bytes, not stored and without a hash.
    pub fn artifact_ref(&self) -> ArtifactRef {
        ArtifactRef {
            handle: self.handle.clone(),
            media_type: self.media_type.clone(),
            size_bytes: self.bytes.len() as u64,
            label: self.label.clone(),
            content_hash: String::new(),
        }
    }
}

/// Collects texts, facts and bytes of a result.
pub(super) struct ResultReader<'a> {
    /// The name of the tool, or the id of what was read.
    pub source: &'a str,
    /// Prefix of handles.
    prefix: String,
    /// Texts for the model, in order, everything in them visible.
    pub texts: Vec<String>,
    /// Facts stated by lines of texts, and how many facts there may be for one more of them.
    pub facts: Vec<(String, usize)>,
    pub artifacts: Vec<ArtifactRef>,
    pub binaries: Vec<ResultBinary>,
    /// Bytes that came beside the JSON, by the place where their base64 stood.
    pub attached: SortedMap<String, Vec<u8>>,
    pub warnings: Vec<Warning>,
    pub provenance: JsonMap,
    pub is_partial: bool,
    /// Whether the model does not see where resource links lead.
    pub withholds_links: bool,
    /// Bytes of text, and as many of everything else, that a result is kept up to.
    most: usize,
    /// Bytes that may still be kept.
    pub room: usize,
    /// Bytes of text that may still be shown.
    pub text_room: usize,
    /// Bytes that were cut off before the result came here, by the place of the text or of the base64.
    pub cut: SortedMap<String, usize>,
    /// Places of which bytes are missing, with how many.
    missing: Vec<(String, usize)>,
    /// Bytes that the server may still put into the provenance.
    note_room: usize,
}

/// A content block and its place.
pub(super) struct ContentBlock<'a> {
    pub map: &'a JsonMap,
    pub index: usize,
    pub path: String,
    /// Whether the model is not among those it is meant for.
    pub withheld: bool,
}

impl ContentBlock<'_> {
    pub fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.path)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Returns the value of a field that is there and not null.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }
}

impl<'a> ResultReader<'a> {
    /// Reads the result of a tool.
    pub fn of_tool(tool: &'a str, room: usize) -> Self {
        Self::new(tool, format!("mcp:{tool}"), room, &[("tool", tool), ("protocol", "mcp")])
    }

    /// Reads what is behind a resource or a prompt.
    pub fn of_primitive(kind: &'static str, id: &'a str, room: usize) -> Self {
        let key = format!("{kind}_id");
        Self::new(id, format!("{kind}:{id}"), room, &[(&key, id), ("protocol", "mcp"), ("primitive", kind)])
    }

    fn new(source: &'a str, prefix: String, room: usize, provenance: &[(&str, &str)]) -> Self {
        let provenance = provenance.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        Self {
            source,
            prefix,
            texts: Vec::new(),
            facts: Vec::new(),
            artifacts: Vec::new(),
            binaries: Vec::new(),
            attached: SortedMap::new(),
            warnings: Vec::new(),
            provenance,
            is_partial: false,
            withholds_links: false,
            most: room,
            room,
            text_room: room - (room / 16).min(MISSING_LINE_BYTES),
            cut: SortedMap::new(),
            missing: Vec::new(),
            note_room: limits::MCP_NOTE_BYTES,
        }
    }

    /// Adds a warning about something malformed that loses nothing.
    pub fn warn(&mut self, code: &'static str, message: impl Into<String>, path: impl Into<String>) {
        self.warnings.push(Warning::new(code, message, path));
    }

    /// Adds a warning and marks the result as partial.
    pub fn degrade(&mut self, code: &'static str, message: impl Into<String>, path: impl Into<String>) {
        self.is_partial = true;
        self.warn(code, message, path);
    }

    /// Stores bytes; tells whether they were within the limit.
    pub fn store(&mut self, kind: &str, bytes: Vec<u8>, media_type: &str, label: String, path: &str) -> bool {
        let Some(room) = self.room.checked_sub(bytes.len()) else {
            self.lacks(bytes.len(), 0, self.room, path);
            return false;
        };
        self.room = room;
        let handle = format!("{}:{kind}", self.prefix);
        let binary = ResultBinary { handle, bytes, media_type: media_type.to_owned(), label, media: None };
        self.artifacts.push(binary.artifact_ref());
        self.binaries.push(binary);
        true
    }

    /// Says that of so many bytes only some are kept.
    pub fn lacks(&mut self, all: usize, kept: usize, room: usize, path: &str) {
        self.degrade("too-large", format!("{all} bytes, and there is room for {room}"), path);
        let missing = all - kept;
        match self.missing.last_mut().filter(|(place, _)| place == path) {
            // It stands in two places, and the fuller one counts.
            Some((_, before)) => *before = missing.min(*before),
            None => self.missing.push((path.to_owned(), missing)),
        }
    }

    /// Returns the line that says what is missing, and notes it in the provenance.
    pub fn missing_line(&mut self) -> Option<String> {
        for (path, size) in std::mem::take(&mut self.cut).iter() {
            self.lacks(*size, 0, 0, path);
        }
        let missing = std::mem::take(&mut self.missing);
        let (first, rest) = (&missing.first()?.0, missing.len() - 1);
        let bytes: usize = missing.iter().map(|(_, bytes)| bytes).sum();
        let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
        self.provenance.insert("missing_bytes".into(), bytes.into());
        Some(format!(
            "(TOO_LARGE: {bytes} bytes of {first}{more} are missing: a result is kept up to {} bytes; call the tool \
             again for a smaller part)",
            self.most
        ))
    }

    /// Says that the bytes that were stored last are media for the model.
    pub fn show_media(&mut self, name: &str) {
        if let Some(binary) = self.binaries.last_mut().filter(|binary| !binary.bytes.is_empty()) {
            binary.media = Some(short(name));
        }
    }

    /// Keeps JSON as it came.
    pub fn keep_json(&mut self, kind: &str, value: &impl serde::Serialize, path: &str) {
        // Values that were parsed can be written.
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        let label = self.label(None, kind.split(':').next().unwrap_or(kind));
        self.store(kind, bytes, "application/json", label, path);
    }

    /// Puts something of the server's into the provenance; what is too large for that is kept as JSON.
    pub fn note(&mut self, key: &'static str, value: Value, path: &str) {
        let size = value.to_string().len();
        if let Some(room) = self.note_room.checked_sub(size) {
            self.note_room = room;
            self.provenance.insert(key.into(), value);
        } else {
            self.degrade("too-much-metadata", format!("{size} bytes do not fit into the provenance"), path);
            self.keep_json(key, &value, path);
        }
    }

    /// Adds to a list in the provenance; once something is too large for it, the lists end there.
    fn note_of_part(&mut self, key: &str, value: Value, path: &str) {
        let Some(room) = self.note_room.checked_sub(value.to_string().len()) else {
            if std::mem::take(&mut self.note_room) > 0 {
                let message =
                    format!("metadata of parts is left out from here on, beyond {} bytes", limits::MCP_NOTE_BYTES);
                self.degrade("too-much-metadata", message, path);
            }
            return;
        };
        self.note_room = room;
        self.list(key, value);
    }

    pub fn list(&mut self, key: &str, value: Value) {
        if let Value::Array(list) = self.provenance.entry(key).or_insert_with(|| json!([])) {
            list.push(value);
        }
    }

    /// Keeps the annotations of a block; tells whether it is meant for the user only.
    pub fn annotations(&mut self, block: &ContentBlock, given: Option<&Value>) -> bool {
        let path = block.at("annotations");
        let map = match given {
            None | Some(Value::Null) => return false,
            Some(Value::Object(map)) => map,
            Some(other) => {
                self.warn("malformed-annotations", format!("annotations are {}", type_name(other)), path);
                return false;
            }
        };
        if map.is_empty() {
            return false;
        }
        let mut kept = JsonMap::new();
        kept.insert("part_index".into(), block.index.into());
        for (key, value) in map {
            match (key.as_str(), value.as_f64()) {
                ("part_index", _) => {
                    self.warn("malformed-annotations", "`part_index` is not the server's", path.as_str());
                }
                ("priority", number) if number.is_none_or(|number| !(0.0..=1.0).contains(&number)) => {
                    self.warn("malformed-annotations", "`priority` is no number from 0 to 1", path.as_str());
                    kept.extend(number.map(|number| (key.clone(), json!(number.clamp(0.0, 1.0)))));
                }
                _ => kept.extend([cloned((key, value))]),
            }
        }
        self.note_of_part("content_annotations", Value::Object(kept), &path);
        let audience = map.get("audience").and_then(Value::as_array);
        audience.is_some_and(|audience| !audience.is_empty() && audience.iter().all(|who| who == "user"))
    }

    /// Keeps the fields of the result that are not read.
    pub fn keep_rest(&mut self, map: &JsonMap, read: &[&str]) {
        let rest: JsonMap = map.iter().filter(|(key, _)| !read.contains(&key.as_str())).map(cloned).collect();
        if !rest.is_empty() {
            self.note("extra", Value::Object(rest), "");
        }
    }

    /// Keeps the fields of a block that nothing else of the result shows.
    pub fn extra(&mut self, block: &ContentBlock, read: &[&str]) {
        let known = |key: &str| read.contains(&key) || matches!(key, "type" | "annotations");
        let rest: JsonMap = block.map.iter().filter(|(key, _)| !known(key)).map(cloned).collect();
        if !rest.is_empty() {
            let note = json!({ "part_index": block.index, "fields": rest });
            self.note_of_part("content_extra", note, &block.path);
        }
    }

    pub fn label(&self, name: Option<&str>, kind: &str) -> String {
        name.map_or_else(|| format!("{kind} from {}", self.source), short)
    }
}

fn cloned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// Returns a name of the server's as one short line. Half of a credential would not be known for one, so they are masked before
/// something is cut off.
pub(super) fn short(text: &str) -> String {
    let text = if text.len() > LABEL_CHARS { mask_secrets(text) } else { Cow::Borrowed(text) };
    unicode::truncate(&one_line(unicode::prefix(&text, LABEL_CHARS)), LABEL_CHARS)
}
