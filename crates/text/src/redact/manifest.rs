//! The values of a Kubernetes manifest of the kind `Secret`, which are credentials whatever their keys are.

use super::chars::{byte, part, rest, skip_space, tick};
use super::scanner::Scanner;
use super::tables::escaped_break;

/// Longest map of values that is looked at, in bytes.
const MAX_MAP: usize = 1 << 20;
/// How far behind the values the kind of a manifest may be, in bytes.
const MAX_TAIL: usize = 64;

impl Scanner<'_> {
    /// Notes what a key of a manifest says, of which the value starts behind an offset.
    pub(super) fn manifest_key(&mut self, key: &str, at: usize, after: usize) {
        if key == "kind" {
            self.manifest.secret = is_secret_kind(rest(self.text, after));
        } else if at >= self.manifest.seen {
            let key_start = key.as_ptr() as usize - self.text.as_ptr() as usize;
            let end = self.map_end(key_start, after);
            self.manifest.seen = end;
            if self.kind_behind(end).unwrap_or(self.manifest.secret) {
                self.manifest.map = (at, end);
            }
        }
    }

    /// Reports whether the kind that follows the values of a manifest is `Secret`: tools sort the keys.
    fn kind_behind(&self, end: usize) -> Option<bool> {
        let tail = rest(self.text, end);
        let tail = tail.strip_prefix('}').unwrap_or(tail);
        let length = tail.bytes().take(MAX_TAIL).take_while(|b| !matches!(b, b'{' | b'}')).count();
        tick(length);
        let at = part(tail, 0, length).find("kind")?;
        if part(tail, 0, at).contains("---") || part(tail, 0, at).contains("apiVersion") {
            return None;
        }
        let sign = rest(tail, at + "kind".len()).trim_start_matches(['"', '\'', '\\', ' ']);
        sign.strip_prefix(':').map(is_secret_kind)
    }

    /// Returns the end of a map: of braces, or of the lines that are indented deeper than its key.
    fn map_end(&self, key_start: usize, after: usize) -> usize {
        let start = skip_space(self.text, after);
        let limit = self.text.len().min(start + MAX_MAP);
        let tail = self.text.as_bytes().get(start..limit).unwrap_or_default();
        if byte(self.text, start) == Some(b'{') {
            let mut depth = 0_usize;
            let length = tail.iter().position(|&b| {
                depth += usize::from(b == b'{');
                depth -= usize::from(b == b'}').min(depth);
                depth == 0
            });
            tick(length.unwrap_or(tail.len()));
            return start + length.unwrap_or(tail.len());
        }
        if !part(self.text, after, start).contains('\n') {
            return if escaped_break(self.text, after).is_some() { self.escaped_map_end(after) } else { after };
        }
        let indent = self.text.as_bytes().iter().take(key_start).rev().take_while(|&&b| b == b' ').count();
        tick(indent);
        let mut end = after;
        for line in rest(self.text, after).split_inclusive('\n') {
            let deep = line.bytes().take_while(|&b| b == b' ').count();
            if end > limit || end > after && !line.trim().is_empty() && deep <= indent {
                break;
            }
            tick(line.len());
            end += line.len();
        }
        end
    }
}

impl Scanner<'_> {
    /// Does the same in a string of JSON, of which the line breaks are escaped.
    fn escaped_map_end(&self, after: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = after;
        while let Some(line) = escaped_break(self.text, at) {
            tick(1);
            if at > after && bytes.get(line) != Some(&b' ') {
                break;
            }
            let tail = bytes.get(line..).unwrap_or_default();
            let ends = |(offset, b): (usize, &u8)| {
                *b == b'"' && offset > 0 && tail.get(offset - 1) != Some(&b'\\')
                    || *b == b'\n'
                    || *b == b'\\' && escaped_break(self.text, line + offset).is_some()
            };
            let length = tail.iter().take(MAX_MAP).enumerate().position(ends).unwrap_or(tail.len());
            tick(length);
            at = line + length;
            if at > after + MAX_MAP {
                break;
            }
        }
        at
    }
}

/// Reports whether a value is the kind of secrets.
fn is_secret_kind(tail: &str) -> bool {
    let value = tail.trim_start_matches(['"', '\'', '\\', ' ']);
    value.strip_prefix("Secret").is_some_and(|left| !left.starts_with(|c: char| c.is_alphanumeric()))
}
