//! Reads what a server listed: one bad entry does not keep the others out.

use std::borrow::Cow;

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, parse, type_name};

use super::report::SkippedEntry;

/// Stands for an entry that nests too deep to be read.
const TOO_DEEP: &str = "\u{0}too deep";
/// Levels of a listing: its object, a list, and an entry.
const ENTRY_DEPTH: usize = 3;

/// What a server listed, entry by entry.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub tools: Vec<(usize, Value)>,
    pub resources: Vec<Value>,
    pub resource_templates: Vec<Value>,
    pub prompts: Vec<Value>,
    pub instructions: Option<String>,
    pub skipped: Vec<SkippedEntry>,
}

impl Listing {
    /// Reads a listing.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > limits::MAX_LISTING_BYTES {
            let message = format!("the listing has {} bytes, the limit is {}", bytes.len(), limits::MAX_LISTING_BYTES);
            return Err(Error::new(ErrorCode::TooLarge, message));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|_| Error::new(ErrorCode::DecodeFailed, "the listing is not UTF-8"))?;
        let mut fields = Fields::open(parse(&readable(text))?, "")?;
        let mut listing = Self::default();
        listing.tools = listing.entries(&mut fields, "tools", "name")?;
        let mut plain = |list: &'static str, key| -> Result<Vec<Value>> {
            Ok(listing.entries(&mut fields, list, key)?.into_iter().map(|(_, entry)| entry).collect())
        };
        let resources = plain("resources", "uri")?;
        let resource_templates = plain("resource_templates", "uriTemplate")?;
        let prompts = plain("prompts", "name")?;
        let instructions = fields.opt_string("instructions")?;
        fields.finish()?;
        Ok(Self { resources, resource_templates, prompts, instructions, ..listing })
    }

    /// Takes a list of objects that are named by `key`; of those with one name the first is kept.
    fn entries(&mut self, fields: &mut Fields, list: &'static str, key: &'static str) -> Result<Vec<(usize, Value)>> {
        let mut entries: Vec<(usize, Value)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut skip = |index, reason: String| self.skipped.push(SkippedEntry { list, index, reason });
        for (index, entry) in fields.list(list)?.into_iter().enumerate() {
            if index >= limits::MAX_SERVER_TOOLS {
                skip(index, format!("only the first {} are read", limits::MAX_SERVER_TOOLS));
                break;
            }
            if entry == TOO_DEEP {
                skip(index, format!("the entry nests deeper than {} levels", limits::MAX_DEPTH));
                continue;
            }
            match entry.get(key) {
                Some(Value::String(name)) if !name.is_empty() && name.len() <= limits::MCP_URI_CHARS => {
                    names.push(name.clone());
                    entries.push((index, entry));
                }
                Some(Value::String(name)) if name.is_empty() => skip(index, format!("`{key}` is empty")),
                Some(Value::String(name)) => {
                    skip(index, format!("`{key}` has {} bytes, the limit is {}", name.len(), limits::MCP_URI_CHARS));
                }
                Some(other) => skip(index, format!("`{key}` is {}, not a string", type_name(other))),
                None if entry.is_object() => skip(index, format!("there is no `{key}`")),
                None => skip(index, format!("expected an object, got {}", type_name(&entry))),
            }
        }
        let mut sorted: Vec<usize> = (0..names.len()).collect();
        contextweaver_base::order::sort_by(&mut sorted, |a, b| (&names[*a], a).cmp(&(&names[*b], b)));
        let mut repeated = vec![false; names.len()];
        for pair in sorted.windows(2) {
            repeated[pair[1]] = names[pair[0]] == names[pair[1]];
        }
        for (place, (index, _)) in entries.iter().enumerate() {
            if repeated[place] {
                skip(*index, format!("another entry has the same `{key}`"));
            }
        }
        let mut place = 0;
        entries.retain(|_| {
            place += 1;
            !repeated[place - 1]
        });
        Ok(entries)
    }
}

/// Replaces entries that nest too deep, and halves of surrogate pairs, for which a parser would refuse the whole listing.
fn readable(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    // What is copied so far, where the open entry began in what was read and in what was written, and its depth.
    let (mut copied, mut depth, mut at) = (0, 0_usize, 0);
    let (mut begin, mut written, mut deepest) = (0, 0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                while let Some(half) = lone_half(bytes, at, end) {
                    out.push_str(&text[copied..half]);
                    out.push_str("\\ufffd");
                    copied = half + 6;
                    at = copied;
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth == ENTRY_DEPTH {
                    out.push_str(&text[copied..at]);
                    copied = at;
                    (begin, written, deepest) = (at, out.len(), depth);
                }
                deepest = deepest.max(depth);
            }
            b'}' | b']' => {
                if depth == ENTRY_DEPTH && deepest > limits::MAX_DEPTH + ENTRY_DEPTH - 1 && begin <= at {
                    out.truncate(written);
                    out.push_str("\"\\u0000too deep\"");
                    copied = at + 1;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns the place after a string that begins at a quote.
fn string_end(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Finds an escape of half a surrogate pair that stands alone.
fn lone_half(bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    let unit = |at: usize| -> Option<u16> {
        let escape = bytes.get(at..at + 6).filter(|escape| at + 6 <= end && escape.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
    };
    let mut at = from;
    while at < end {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => return Some(at),
            _ => at += 2,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Vec<String>, Vec<(usize, String)>) {
        let listing = Listing::read(text.as_bytes()).unwrap();
        let names = listing.tools.iter().map(|(_, tool)| tool["name"].as_str().unwrap().to_owned()).collect();
        (names, listing.skipped.into_iter().map(|entry| (entry.index, entry.reason)).collect())
    }

    #[test]
    fn bad_entries_do_not_keep_good_ones_out() {
        let deep = format!("{{\"name\":\"deep\",\"x\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        let text = format!(
            r#"{{"tools":[{{"name":"a"}},{deep},5,null,{{"name":""}},{{"name":7}},{{}},{{"name":"a"}},{{"name":"h\ud800\ud83d\ude00\\ud800"}},{{"name":"b","d":"]}}\""}}]}}"#
        );
        let (names, skipped) = names(&text);
        assert_eq!(names, ["a", "h\u{fffd}\u{1f600}\\ud800", "b"]);
        let reasons: Vec<&str> = skipped.iter().map(|(_, reason)| reason.as_str()).collect();
        assert_eq!(
            reasons,
            [
                "the entry nests deeper than 64 levels",
                "expected an object, got number",
                "expected an object, got null",
                "`name` is empty",
                "`name` is number, not a string",
                "there is no `name`",
                "another entry has the same `name`",
            ]
        );
        assert_eq!(skipped.last().unwrap().0, 7);
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        let code = |bytes: &[u8]| Listing::read(bytes).unwrap_err().code();
        assert_eq!(code(b"{\"tools\":"), ErrorCode::DecodeFailed);
        assert_eq!(code(b"{\"tools\":{}}"), ErrorCode::InvalidInput);
        assert_eq!(code(b"{\"tool\":[]}"), ErrorCode::UnknownField);
        assert_eq!(code(&[0xff]), ErrorCode::DecodeFailed);
        assert_eq!(code(&vec![b' '; limits::MAX_LISTING_BYTES + 1]), ErrorCode::TooLarge);
        for text in ["\"", "\\", "{\"a\\", "[[[", "]]]]", "{\"\\ud8"] {
            assert!(Listing::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
