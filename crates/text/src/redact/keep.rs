//! What masking leaves alone: values that the next call has to repeat, and fields that were exempted.

use contextweaver_base::{Error, ErrorCode, Result};

use super::chars::{DOTTED, PERCENT, TOKEN68, byte, is, part, rest, run, skip_space, starts_ignoring_case, tick};
use super::handed_on::{is_handed_on, is_of_signature, is_signed};
use super::scanner::Scanner;
use crate::glob::Glob;

/// Most patterns of fields.
const MAX_FIELDS: usize = 100;
/// Longest address that is looked at, in bytes.
const MAX_ADDRESS: usize = 8192;
/// What a value without quotes has.
const VALUE: u16 = TOKEN68 | PERCENT;
/// Most names of a query that are looked at.
const MAX_NAMES: usize = 64;
/// Bound on the nesting of JSON that is followed.
const MAX_DEPTH: usize = 128;

/// What masking leaves alone.
///
/// ```
/// use contextweaver_text::redact::{Keep, redact_keeping};
/// use contextweaver_text::SECRET_MASK;
///
/// let keep = Keep::for_model(&["upload.key".to_owned()], "/except")?;
/// let text = r#"{"upload":{"key":"password=hunter22"},"csrf_token":"9f8e7d6c5b4a","token":"9f8e7d6c5b4a"}"#;
/// let masked = redact_keeping(text, SECRET_MASK, &keep);
/// assert_eq!(masked, text.replace(r#""token":"9f8e7d6c5b4a""#, r#""token":"[REDACTED-SECRET]""#));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Whether signatures of addresses, tokens against forged requests and the like stay.
    handed_on: bool,
    fields: Vec<FieldPattern>,
}

/// The name of a field, or the last names of its path, each with wildcards. Compared without case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldPattern(Vec<Glob>);

impl FieldPattern {
    fn read(text: &str, path: &str) -> Result<Self> {
        let lower = text.trim_start_matches('/').to_lowercase();
        let names = lower.split(['.', '/']).map(|name| Glob::read(name, path));
        Ok(Self(names.collect::<Result<_>>()?))
    }

    fn matches<'n>(&self, path: &[&'n str], name: &'n str) -> bool {
        // Keys of text that is no JSON may be paths themselves.
        let names = path.iter().copied().chain([name]).flat_map(|name| name.split('.'));
        let names: Vec<&str> = names.collect();
        let Some(start) = names.len().checked_sub(self.0.len()) else { return false };
        self.0.iter().zip(&names[start..]).all(|(glob, name)| glob.matches(&name.to_lowercase()))
    }
}

impl Keep {
    /// Reads what stays in a text that a model works on: what its next call has to repeat, and fields that the caller
    /// exempts, by name (`csrf*`) or by the end of the path (`upload.token`), with the wildcards of [`Glob`].
    ///
    /// # Errors
    /// `INVALID_INPUT` for an empty name, `TOO_LARGE` for a pattern beyond 1,024 bytes and for more than 100 of them, at
    /// the place in the list.
    pub fn for_model(fields: &[String], path: &str) -> Result<Self> {
        if fields.len() > MAX_FIELDS {
            return Err(Error::new(ErrorCode::TooLarge, format!("more than {MAX_FIELDS} patterns")).at(path));
        }
        let read = |(index, text): (usize, &String)| FieldPattern::read(text, &format!("{path}/{index}"));
        Ok(Self { handed_on: true, fields: fields.iter().enumerate().map(read).collect::<Result<_>>()? })
    }

    /// Reports whether nothing is left alone.
    fn is_nothing(&self) -> bool {
        !self.handed_on && self.fields.is_empty()
    }

    /// Reports whether the value of a field stays.
    pub(super) fn keeps(&self, path: &[&str], name: &str) -> bool {
        self.handed_on && is_handed_on(name) || self.fields.iter().any(|field| field.matches(path, name))
    }
}

/// The parts of a text that stay, in order.
pub(super) struct KeptSpans(Vec<(usize, usize)>);

impl KeptSpans {
    /// Finds the parts of a text that stay.
    pub(super) fn of(text: &str, keep: &Keep) -> Self {
        let mut spans = Vec::new();
        if keep.is_nothing() {
            return Self(spans);
        }
        if keep.handed_on {
            add_addresses(text, &mut spans);
        }
        add_values(text, keep, &mut spans);
        if !keep.fields.is_empty() && text.trim_start().starts_with(['{', '[']) {
            JsonWalk { text, keep, at: 0, spans: &mut spans }.values(&mut Vec::new(), false, MAX_DEPTH);
        }
        contextweaver_base::order::sort_by(&mut spans, Ord::cmp);
        // The last of those that start before an offset has to be the one that ends last.
        let mut end = 0;
        for span in &mut spans {
            end = end.max(span.1);
            span.1 = end;
        }
        Self(spans)
    }

    /// Returns the end of the part that stays in which something starts.
    pub(super) fn end_at(&self, at: usize) -> Option<usize> {
        let after = self.0.partition_point(|&(start, _)| start <= at);
        let (_, end) = *self.0.get(after.checked_sub(1)?)?;
        (at < end).then_some(end)
    }
}

/// Finds the signatures of addresses.
fn add_addresses(text: &str, spans: &mut Vec<(usize, usize)>) {
    let mut from = 0;
    while let Some(step) = rest(text, from).find(':') {
        tick(step + 1);
        let colon = from + step;
        from = colon + 1;
        // JSON may have a backslash before a slash.
        let Some(signs) = ["//", "\\/\\/"].iter().find(|signs| rest(text, colon + 1).starts_with(**signs)) else {
            continue;
        };
        let start = colon + 1 + signs.len();
        let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>') || *b < b' ';
        let tail = text.as_bytes().get(start..).unwrap_or_default();
        let length = tail.iter().take(MAX_ADDRESS).position(ends).unwrap_or(tail.len().min(MAX_ADDRESS));
        tick(length);
        from = start + length;
        let Some(question) = part(text, start, start + length).find('?') else { continue };
        let query = start + question + 1;
        let pairs = pairs(text, query, start + length);
        let names: Vec<&str> = pairs.iter().map(|&(name, ..)| name).collect();
        let place = part(text, colon, start + question).replace('\\', "");
        let place = place.rsplit_once('@').map_or(place.clone(), |(_, host)| format!("://{host}"));
        if is_signed(&place, &names) {
            spans.extend(pairs.iter().filter(|(name, ..)| is_of_signature(name)).map(|&(_, start, end)| (start, end)));
        }
    }
}

/// Returns the pairs of a query: the name, and where the value is. The sign between them may be escaped, as in JSON or HTML.
fn pairs(text: &str, from: usize, to: usize) -> Vec<(&str, usize, usize)> {
    let mut pairs = Vec::new();
    let mut at = from;
    while at < to && pairs.len() < MAX_NAMES {
        let name = run(text, at, DOTTED, to - at);
        if byte(text, name) != Some(b'=') {
            break;
        }
        let tail = part(text, name + 1, to);
        let length = tail.find(['&', '\\', '#']).unwrap_or(tail.len());
        tick(length);
        let end = name + 1 + length;
        pairs.push((part(text, at, name), name + 1, end));
        let signs = ["&amp;", "&", "\\u0026", "\\\\u0026"];
        let Some(sign) = signs.iter().find(|sign| starts_ignoring_case(text, end, sign)) else { break };
        at = end + sign.len();
    }
    pairs
}

/// Finds values by the names that stand before them.
fn add_values(text: &str, keep: &Keep, spans: &mut Vec<(usize, usize)>) {
    let mut scanner = Scanner::new(text, "");
    let mut known = 0;
    for (at, _) in text.match_indices([':', '=']) {
        tick(1);
        let Some((name, after)) = scanner.name_before(at).filter(|_| at >= known) else { continue };
        if !keep.keeps(&[], name) {
            continue;
        }
        let start = skip_space(text, after);
        let (start, end) = match scanner.open_quote(start) {
            Some((open, slashes, quote)) => (open, scanner.quoted_end(open, slashes, quote, false).unwrap_or(open)),
            None => (start, run(text, start, VALUE, MAX_ADDRESS)),
        };
        known = end;
        spans.push((start, end));
    }
}

/// Follows the paths of JSON, as far as it is some.
struct JsonWalk<'a, 's> {
    text: &'a str,
    keep: &'s Keep,
    at: usize,
    spans: &'s mut Vec<(usize, usize)>,
}

impl<'a> JsonWalk<'a, '_> {
    fn next(&mut self) -> Option<u8> {
        self.at = skip_space(self.text, self.at);
        byte(self.text, self.at)
    }

    /// Reads a string, and says where it is without its quotes.
    fn string(&mut self) -> (usize, usize) {
        let start = self.at + 1;
        let (mut end, mut escaped) = (start, false);
        while let Some(b) = byte(self.text, end).filter(|&b| b != b'"' || escaped) {
            escaped = b == b'\\' && !escaped;
            end += 1;
        }
        tick(end - start);
        self.at = end + 1;
        (start, end)
    }

    /// Reads the members of an object or a list, or one value at the top.
    fn values(&mut self, path: &mut Vec<&'a str>, is_kept: bool, depth: usize) {
        let Some(below) = depth.checked_sub(1) else {
            self.at = self.text.len();
            return;
        };
        let mut name: Option<&'a str> = None;
        while let Some(b) = self.next() {
            tick(1);
            let keeps = |walk: &Self| is_kept || name.is_some_and(|name| walk.keep.keeps(path, name));
            match b {
                b'}' | b']' => {
                    self.at += 1;
                    return;
                }
                b',' => {
                    name = None;
                    self.at += 1;
                }
                b'{' | b'[' => {
                    let kept = keeps(self);
                    self.at += 1;
                    path.extend(name);
                    self.values(path, kept, below);
                    path.truncate(path.len() - usize::from(name.is_some()));
                }
                b'"' => {
                    let kept = keeps(self);
                    let (start, end) = self.string();
                    if self.next() == Some(b':') {
                        name = Some(part(self.text, start, end));
                        self.at += 1;
                    } else if kept {
                        self.spans.push((start, end));
                    }
                }
                _ => {
                    let kept = keeps(self);
                    let start = self.at;
                    let ends = |b: u8| matches!(b, b',' | b'}' | b']' | b'"' | b'{' | b'[') || b.is_ascii_whitespace();
                    let length = rest(self.text, start).bytes().position(ends).unwrap_or(self.text.len() - start);
                    tick(length);
                    self.at = start + length.max(1);
                    if kept {
                        self.spans.push((start, start + length));
                    }
                }
            }
        }
    }
}

impl<'a> Scanner<'a> {
    /// Returns the name that stands before a separator, and where that ends: of a field, or what an element or a pair
    /// beside it names, as in `name="csrf_token" value="x"`.
    fn name_before(&mut self, at: usize) -> Option<(&'a str, usize)> {
        let after = self.separator_end(at)?;
        let key = self.key_before(at, 0);
        let is_value = ["value", "content"].iter().any(|word| key.eq_ignore_ascii_case(word));
        let name = if is_value {
            let start = key.as_ptr() as usize - self.text.as_ptr() as usize;
            self.pair_name(start, 0).unwrap_or(key)
        } else {
            key
        };
        let is_name = name.bytes().next().is_some_and(|b| is(b, DOTTED));
        is_name.then_some((name, after))
    }
}
