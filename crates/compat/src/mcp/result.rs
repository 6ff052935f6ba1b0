//! Results of tools as 0.18 reads them. Where it fails, on values of another type, the value
//! is kept as text, a warning says so, and the status is `partial`.

use base64::alphabet;
use base64::engine::{Engine as _, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use contextweaver_base::{Result, limits};
use contextweaver_convert::mcp::{ConvertedResult, NO_CONTENT, ResultBinary, note_warnings};
use contextweaver_model::json::python::{is_truthy, text as text_of};
use contextweaver_model::json::{JsonMap, to_sorted_ascii, type_name, wrong_type};
use contextweaver_model::{ArtifactRef, ResultEnvelope, Status, Warning};
use contextweaver_text::lines::lines;
use contextweaver_text::unicode::{prefix, trim};

/// What is found in a result.
struct CompatResultReader<'a> {
    tool: &'a str,
    texts: Vec<String>,
    artifacts: Vec<ArtifactRef>,
    binaries: Vec<ResultBinary>,
    annotations: Vec<Value>,
    warnings: Vec<Warning>,
}

/// Converts the result of a tool call.
///
/// # Errors
/// `INVALID_INPUT` for anything but an object.
///
/// ```
/// use contextweaver_compat::mcp::mcp_result_to_envelope;
/// use serde_json::json;
///
/// let result = json!({ "content": [{ "type": "text", "text": "status: shipped" }], "isError": 0 });
/// let converted = mcp_result_to_envelope(&result, "track")?;
/// assert_eq!(converted.envelope.facts, ["status: shipped"]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn mcp_result_to_envelope(result: &Value, tool: &str) -> Result<ConvertedResult> {
    let Value::Object(map) = result else { return Err(wrong_type("/result", "an object", result)) };
    let mut reader = CompatResultReader {
        tool,
        texts: Vec::new(),
        artifacts: Vec::new(),
        binaries: Vec::new(),
        annotations: Vec::new(),
        warnings: Vec::new(),
    };
    reader.content(map.get("content").filter(|content| is_truthy(content)));
    if let Some(value) = map.get("structuredContent").filter(|value| !value.is_null()) {
        reader.structured(value);
    }
    Ok(reader.finish(map.get("isError").is_some_and(is_truthy)))
}

impl CompatResultReader<'_> {
    fn warn(&mut self, message: String, path: String) {
        self.warnings.push(Warning::new("malformed-part", message, path));
    }

    fn content(&mut self, content: Option<&Value>) {
        let parts = match content {
            None => &[],
            Some(Value::Array(list)) => list.as_slice(),
            Some(other) => {
                self.warn(format!("`content` is {}, not an array", type_name(other)), "/content".to_owned());
                std::slice::from_ref(other)
            }
        };
        for (index, part) in parts.iter().enumerate() {
            match part {
                Value::Object(map) => self.part(index, map),
                other => {
                    let message = format!("the part is {}, not an object", type_name(other));
                    self.warn(message, format!("/content/{index}"));
                    if !other.is_null() {
                        self.texts.push(text_of(other));
                    }
                }
            }
        }
    }

    fn part(&mut self, index: usize, map: &JsonMap) {
        if let Some(Value::Object(annotations)) = map.get("annotations")
            && !annotations.is_empty()
        {
            let mut entry = JsonMap::new();
            entry.insert("part_index".into(), index.into());
            entry.extend(annotations.iter().map(|(key, value)| (key.clone(), value.clone())));
            self.annotations.push(Value::Object(entry));
        }
        match map.get("type").map(Value::as_str) {
            None | Some(Some("text")) => {
                let text = match map.get("text") {
                    None => String::new(),
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => {
                        self.warn(format!("the text is {}", type_name(other)), format!("/content/{index}/text"));
                        text_of(other)
                    }
                };
                self.texts.push(text);
            }
            Some(Some("image")) => self.media(index, map, "image", "image/png"),
            Some(Some("audio")) => self.media(index, map, "audio", "audio/wav"),
            Some(Some("resource")) => self.resource(index, map),
            Some(Some("resource_link")) => self.link(index, map),
            Some(_) => {}
        }
    }

    fn keep(&mut self, kind: &str, bytes: Vec<u8>, media_type: String, label: String) {
        let handle = format!("mcp:{}:{kind}", self.tool);
        let binary = ResultBinary { handle, bytes, media_type, label, media: None };
        self.artifacts.push(binary.artifact_ref());
        self.binaries.push(binary);
    }

    fn media(&mut self, index: usize, map: &JsonMap, kind: &str, default: &str) {
        let bytes = match map.get("data").filter(|data| is_truthy(data)) {
            None => Vec::new(),
            Some(data) => {
                let text = text_of(data);
                let decoded = if data.is_string() { decode_base64(&text) } else { None };
                decoded.unwrap_or_else(|| text.into_bytes())
            }
        };
        let label = format!("{kind} from {}", self.tool);
        let media_type = self.media_type(map, default, &format!("/content/{index}"));
        self.keep(&format!("{kind}:{index}"), bytes, media_type, label);
    }

    /// 0.18 lets anything pass for a media type.
    fn media_type(&mut self, map: &JsonMap, default: &str, path: &str) -> String {
        match map.get("mimeType") {
            None => default.to_owned(),
            Some(Value::String(name)) => name.clone(),
            Some(other) => {
                self.warn(format!("`mimeType` is {}, not a string", type_name(other)), format!("{path}/mimeType"));
                default.to_owned()
            }
        }
    }

    fn resource(&mut self, index: usize, map: &JsonMap) {
        let path = format!("/content/{index}/resource");
        let none = JsonMap::new();
        let resource = match map.get("resource") {
            None => &none,
            Some(Value::Object(resource)) => resource,
            Some(other) => {
                self.warn(format!("`resource` is {}, not an object", type_name(other)), path.clone());
                &none
            }
        };
        let value = resource.get("text");
        let text = value.map_or_else(String::new, text_of);
        if value.is_some_and(is_truthy) {
            self.texts.push(text.clone());
        }
        let label = resource.get("uri").filter(|uri| is_truthy(uri));
        let label = label.map_or_else(|| format!("resource from {}", self.tool), text_of);
        let media_type = self.media_type(resource, "application/octet-stream", &path);
        self.keep(&format!("resource:{index}"), text.into_bytes(), media_type, label);
    }

    fn link(&mut self, index: usize, map: &JsonMap) {
        let path = format!("/content/{index}");
        let uri = match map.get("uri") {
            None => String::new(),
            Some(Value::String(uri)) => uri.clone(),
            Some(other) => {
                self.warn(format!("`uri` is {}, not a string", type_name(other)), format!("{path}/uri"));
                if other.is_null() { String::new() } else { text_of(other) }
            }
        };
        let names = [map.get("name"), map.get("uri")];
        let label = names.into_iter().flatten().find(|name| is_truthy(name));
        let label = label.map_or_else(|| format!("resource link from {}", self.tool), text_of);
        let target = self.media_type(map, "application/octet-stream", &path);
        self.keep(&format!("resource_link:{index}"), uri.into_bytes(), "text/uri-list".to_owned(), label);
        if let Some(artifact) = self.artifacts.last_mut() {
            artifact.media_type = target;
        }
    }

    fn structured(&mut self, value: &Value) {
        let label = format!("structured content from {}", self.tool);
        let bytes = to_sorted_ascii(value, None).into_bytes();
        self.keep("structured_content", bytes, "application/json".to_owned(), label);
        for (key, value) in value.as_object().into_iter().flatten() {
            let rendered = text_of(value);
            if rendered.chars().count() < limits::MCP_FACT_CHARS {
                self.texts.push(format!("{key}: {rendered}"));
            }
        }
    }

    fn finish(self, is_error: bool) -> ConvertedResult {
        let full_text = if self.texts.is_empty() { NO_CONTENT.to_owned() } else { self.texts.join("\n") };
        let is_fact = |line: &&str| line.contains(':') && line.chars().count() < limits::MCP_FACT_CHARS;
        let stated = self.texts.iter().flat_map(|text| lines(text)).map(trim).filter(is_fact);
        let facts = stated.take(limits::MCP_FACTS).map(str::to_owned).collect();
        let mut provenance = JsonMap::new();
        provenance.insert("tool".into(), self.tool.into());
        provenance.insert("protocol".into(), "mcp".into());
        if !self.annotations.is_empty() {
            provenance.insert("content_annotations".into(), self.annotations.into());
        }
        note_warnings(&mut provenance, &self.warnings);
        let envelope = ResultEnvelope {
            status: match (is_error, self.warnings.is_empty()) {
                (true, _) => Status::Error,
                (false, true) => Status::Ok,
                (false, false) => Status::Partial,
            },
            summary: prefix(&full_text, limits::SUMMARY_CHARS).to_owned(),
            facts,
            artifacts: self.artifacts,
            views: Vec::new(),
            provenance,
            firewall_stats: None,
        };
        ConvertedResult { envelope, binaries: self.binaries, full_text, warnings: self.warnings }
    }
}

/// Decodes base64 as 0.18 does: the standard alphabet with its padding and nothing else, but any number of
/// `=` behind groups that are complete.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    const STRICT: GeneralPurposeConfig = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let digits = text.trim_end_matches('=');
    let is_complete = digits.len().is_multiple_of(4) && !digits.is_empty();
    GeneralPurpose::new(&alphabet::STANDARD, STRICT).decode(if is_complete { digits } else { text }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exactly_the_standard_is_decoded() {
        let decoded = decode_base64;
        for text in ["QQ==", "QR==", "QUJD", "QUJD=", "QUJD====", "aGVsbG9=", ""] {
            assert!(decoded(text).is_some(), "{text}");
        }
        for text in ["QQ", "QQ=", "Q===", "=", "====", "QQ==QQ==", "QUI==", "aGVs\n", "-_-_", "QU=D", "QUJD=QUJD"] {
            assert!(decoded(text).is_none(), "{text}");
        }
    }
}
