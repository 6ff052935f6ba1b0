//! Values assigned to keys that name a credential.

use super::accounts::{follows_word, is_sentence, is_type};
use super::chars::{
    DIGIT, DOTTED, LETTER, PATH, TOKEN68, byte, is, is_space, part, rest, run, run_back, skip_space, skip_space_back,
    starts_ignoring_case, tick,
};
use super::keys::{
    KeyKind, MAX_KEY, MIN_GENERATED, MIN_VALUE, holds_session, is_code, is_generated, is_path, is_placeholder,
    is_secret, key_kind, may_tell, names_service,
};
use super::scanner::Scanner;

/// Longest header of cookies that is looked at, in bytes.
const MAX_COOKIES: usize = 4096;

impl<'a> Scanner<'a> {
    /// Finds the value after a separator.
    pub(super) fn assign_at(&mut self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let after = self.separator_end(at)?;
        if byte(self.text, at) == Some(b'=') && at < self.cookies_end {
            return self.cookie_at(at);
        }
        let mapped = self.manifest.map.0 < at && at < self.manifest.map.1 && is_pair(self.text, at);
        let kind = if mapped { KeyKind::Any } else { self.kind_of(at, after, floor)? };
        // The end of a string, as in `'Password:'`.
        let opened = run_back(self.text, at, DOTTED, MAX_KEY).checked_sub(1).and_then(|at| byte(self.text, at));
        if after == at + 1
            && matches!(opened, Some(b'"' | b'\''))
            && byte(self.text, after) == opened
            && opened != byte(self.text, at - 1)
        {
            return None;
        }
        let compares = byte(self.text, at) == Some(b'=') && byte(self.text, at + 1) == Some(b'=');
        let mut start = skip_space(self.text, after);
        let line = start;
        let block = block_start(self.text, start);
        let crossed = block > start || part(self.text, after, start).contains('\n');
        start = block;
        let scheme = start;
        start = skip_scheme(self.text, start);
        if start > scheme && part(self.text, scheme, start).contains('-') {
            // The signature stands behind the value.
            self.request_signature(scheme);
        }
        if rest(self.text, start).starts_with("-----BEGIN ") || self.starts_with_mask(start) {
            return None;
        }
        let quoted = self.open_quote(start).is_some();
        // A variable without a value ends its line.
        let empty = crossed && byte(self.text, at) == Some(b'=');
        if (compares || empty) && !quoted {
            return None;
        }
        // The end of such a value need not be looked for, which may be far.
        let is_known = match kind {
            KeyKind::Directory => is_path(rest(self.text, start)),
            KeyKind::Generated => start < self.plain_end,
            _ => false,
        };
        if is_known && !quoted {
            return None;
        }
        let listed = !quoted && byte(self.text, start) == Some(b'[');
        if listed && self.open_quote(skip_space(self.text, start + 1)).is_some() {
            self.list_at(start, kind);
            return None;
        }
        let (start, end) = self.value_at(start, crossed)?;
        self.value_end = end;
        let value = part(self.text, start, end);
        if kind == KeyKind::Generated && !quoted && !is_generated(value) {
            self.plain_end = end;
        }
        // A condition ends in a colon as well.
        let key_end = part(self.text, floor, at).trim_end_matches(['"', '\'', '`', '\\', ' ']).len() + floor;
        let word = crossed && block == line && !quoted && !value.bytes().any(|b| b.is_ascii_digit());
        if word && !self.starts_line(key_end) {
            return None;
        }
        if !quoted
            && !crossed
            && after == at + 1
            && byte(self.text, at) == Some(b':')
            && self.is_said(at, kind, start, end)
        {
            return None;
        }
        (is_secret(kind, value, quoted) && !self.is_mask(start, end)).then_some((start, end))
    }

    /// Reports whether what stands behind a colon is the type of a field, or goes on as a sentence: that of a password only
    /// where a word stands before its key, as passwords may be sentences, too.
    fn is_said(&self, at: usize, kind: KeyKind, start: usize, end: usize) -> bool {
        let tail = rest(self.text, start);
        let key_start = run_back(self.text, at, DOTTED, MAX_KEY);
        let key = part(self.text, key_start, at);
        is_type(key, kind, part(tail, 0, bare_length(tail)))
            || (kind != KeyKind::Password || follows_word(self.text, key_start))
                && is_sentence(part(self.text, start, end), rest(self.text, end))
    }

    /// Returns where a value is that starts at an offset, in quotes or without.
    pub(super) fn value_at(&mut self, start: usize, crossed: bool) -> Option<(usize, usize)> {
        match self.open_quote(start) {
            Some((open, slashes, quote)) => Some((open, self.quoted_end(open, slashes, quote, crossed)?)),
            None => Some((start, self.bare_end(start, crossed)?)),
        }
    }

    /// Returns what the key before an offset says about the value behind another.
    pub(super) fn kind_of(&mut self, at: usize, after: usize, floor: usize) -> Option<KeyKind> {
        if !self.key_may_tell(at, floor) {
            return None;
        }
        let key = self.key_before(at, floor);
        if let Some(kind) = key_kind(key) {
            return Some(kind);
        }
        if matches!(key, "kind" | "data" | "stringData") {
            self.manifest_key(key, at, after);
            return None;
        }
        let last = key.as_bytes().last()?.to_ascii_lowercase();
        if last == b'e' && key.len() >= 5 {
            let tail = rest(key, key.len() - 5);
            let word = part(key, 0, key.len() - 5);
            if tail.eq_ignore_ascii_case("value") && (word.is_empty() || word.ends_with(' ')) {
                let key_start = key.as_ptr() as usize + word.len() - self.text.as_ptr() as usize;
                let named = self.named_before(key_start, floor);
                if named.is_some() || word.is_empty() {
                    return named;
                }
            }
            if rest(tail, 0).eq_ignore_ascii_case("ookie") {
                if after <= self.cookies_end {
                    return None;
                }
                self.cookies_behind(skip_space(self.text, after));
                return None;
            }
        }
        // Only a value that may be generated is worth the look at the names of services.
        let start = skip_space(self.text, after);
        let start = self.open_quote(start).map_or(start, |(open, _, _)| open);
        let end = run(self.text, start, TOKEN68, MIN_GENERATED);
        let has = |class| part(self.text, start, end).bytes().any(|b| is(b, class));
        let may = end - start == MIN_GENERATED && has(DIGIT) && has(LETTER);
        (may && names_service(key)).then_some(KeyKind::Generated)
    }

    /// Notes where the cookies end that start at an offset.
    pub(super) fn cookies_behind(&mut self, start: usize) {
        let start = self.open_quote(start).map_or(start, |(open, _, _)| open);
        if start < self.cookies_end {
            return;
        }
        let line = rest(self.text, start).bytes().take(MAX_COOKIES);
        let length = line.take_while(|b| !matches!(b, b'\n' | b'"' | b'\'')).count();
        tick(length);
        self.cookies_end = start + length;
    }

    /// Finds the value of a cookie that holds a session, by its name.
    fn cookie_at(&self, at: usize) -> Option<(usize, usize)> {
        // A run of other cookies is not read for each of them.
        if !holds_session(part(self.text, run_back(self.text, at, DOTTED, MAX_KEY), at)) {
            return None;
        }
        let end = run(self.text, at + 1, PATH, usize::MAX);
        let value = part(self.text, at + 1, end);
        (value.len() >= 8 && !is_placeholder(value) && !self.is_mask(at + 1, end)).then_some((at + 1, end))
    }

    /// Returns the end of an assignment separator, or nothing for operators that look like one.
    pub(super) fn separator_end(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let nth = |offset: usize| bytes.get(at + offset).copied().unwrap_or(b' ');
        let previous = at.checked_sub(1).and_then(|before| bytes.get(before));
        if matches!(previous, Some(b'=' | b':' | b'!')) {
            return None;
        }
        let length = match (nth(0), nth(1), nth(2)) {
            (b':', b':', b':') if nth(3) == b'=' => 4,
            (b'=', b'=', b'=') | (b':', b':', b'=') => 3,
            (b':', b':', _) | (b':', b'/', b'/') => return None,
            (b'=', b'=' | b'>', _) | (b':', b'=', _) => 2,
            _ => 1,
        };
        Some(at + length)
    }

    /// Reports whether the key before a separator may say something, by its last bytes.
    fn key_may_tell(&self, at: usize, floor: usize) -> bool {
        let mut head = self.text.as_bytes().get(floor..at).unwrap_or_default();
        while let [rest @ .., b' '] = head {
            head = rest;
        }
        tick(at - floor - head.len());
        if let [rest @ .., b']'] = head {
            head = rest;
        }
        if let [rest @ .., b'"' | b'\'' | b'`'] = head {
            head = rest;
            while let [rest @ .., b'\\'] = head {
                head = rest;
            }
        }
        match head {
            [.., last] if is(*last, DOTTED) => may_tell(head),
            // Other white space, and the question mark of Makefiles.
            [.., last] => !last.is_ascii() || *last < b' ' || *last == b'?',
            [] => false,
        }
    }

    /// Returns the key that ends before a separator, without quotes.
    pub(super) fn key_before(&self, at: usize, floor: usize) -> &'a str {
        let mut end = skip_space_back(self.text, floor, at);
        if part(self.text, end, at).contains('\n') {
            return "";
        }
        // The `?=` of Makefiles.
        if end > floor && byte(self.text, end - 1) == Some(b'?') {
            end = skip_space_back(self.text, floor, end - 1);
        }
        // The name in brackets, as in `os.environ["KEY"] = `.
        if let Some(subscript) =
            part(self.text, floor, end).strip_suffix("\"]").or_else(|| part(self.text, floor, end).strip_suffix("']"))
        {
            end = floor + subscript.len() + 1;
        }
        let quoted = part(self.text, floor, end).strip_suffix(['"', '\'', '`']);
        if let Some(head) = quoted {
            let slashes = head.bytes().rev().take(7).take_while(|&b| b == b'\\').count();
            end = floor + head.len() - slashes;
        }
        let mut start = run_back(self.text, end, DOTTED, MAX_KEY.min(end - floor));
        // "API key" and "Access key" are written as two words in prose and in table headers.
        let last = part(self.text, start, end);
        if (last.eq_ignore_ascii_case("key") || last.eq_ignore_ascii_case("value"))
            && start > floor
            && byte(self.text, start - 1) == Some(b' ')
        {
            let word = run_back(self.text, start - 1, DOTTED, MAX_KEY.min(start - 1 - floor));
            start = if word < start - 1 { word } else { start };
        }
        // The name of a type, as in `AWS::IAM::AccessKey`.
        if part(self.text, floor, start).ends_with("::") { "" } else { self.without_escape(floor, start, end) }
    }

    /// Returns a key without what an escape before it ends in, such as the letter of a line break in JSON.
    fn without_escape(&self, floor: usize, start: usize, end: usize) -> &'a str {
        let key = part(self.text, start, end);
        let length = match (start > floor && byte(self.text, start - 1) == Some(b'\\'), key.as_bytes()) {
            (true, [b'n' | b'r' | b't', ..]) => 1,
            (true, [b'u', b'0', b'0', ..]) => 5,
            _ => return key,
        };
        // A path may have a name that begins with one of these letters.
        if key_kind(key).is_some() { key } else { rest(key, length) }
    }

    /// Reports whether an earlier mask is the whole value.
    fn starts_with_mask(&self, start: usize) -> bool {
        let tail = rest(self.text, start);
        [self.mask, super::SECRET_MASK]
            .iter()
            .any(|mask| !mask.is_empty() && tail.strip_prefix(mask).is_some_and(|left| bare_length(left) == 0))
    }

    /// Recognises an opening quote: where the value starts, how many backslashes, which quote.
    ///
    /// One or three backslashes stand before the quotes of JSON inside JSON. A letter or two may
    /// mark the string type, as in Python's `b'...'`.
    pub(super) fn open_quote(&self, start: usize) -> Option<(usize, usize, u8)> {
        let tail = self.text.as_bytes().get(start..)?;
        let letters =
            tail.iter().take(2).take_while(|b| matches!(b.to_ascii_lowercase(), b'b' | b'u' | b'r' | b'f')).count();
        let slashes = tail.iter().skip(letters).take(4).take_while(|&&b| b == b'\\').count();
        let quote = *tail.get(letters + slashes)?;
        let known = matches!(quote, b'"' | b'\'' | b'`') && matches!(slashes, 0 | 1 | 3);
        known.then_some((start + letters + slashes + 1, slashes, quote))
    }

    /// Returns the end of a quoted value, which is the end of the line when the quote stays open.
    pub(super) fn quoted_end(&mut self, open: usize, slashes: usize, quote: u8, crossed: bool) -> Option<usize> {
        let Some(close) = self.closing_quote(open, slashes, quote) else {
            let line = rest(self.text, open);
            let length = line.find('\n').unwrap_or(line.len());
            tick(length);
            return Some(skip_space_back(self.text, open, open + length));
        };
        // On a line of its own, a quoted word before a colon is the next key.
        let next = skip_space(self.text, close + slashes + 1);
        (!crossed || byte(self.text, next) != Some(b':')).then_some(close)
    }

    /// Finds the closing quote on the same line.
    ///
    /// A quote closes when the backslashes before it are those of the opening quote plus whole
    /// escaped backslashes.
    fn closing_quote(&mut self, open: usize, slashes: usize, quote: u8) -> Option<usize> {
        let row = match quote {
            b'"' => 0,
            b'\'' => 3,
            _ => 6,
        };
        let slot = self.unclosed.get_mut(row + slashes.min(2))?;
        if open < *slot {
            return None;
        }
        let mut seen = 0;
        let tail = self.text.as_bytes().get(open..)?;
        for (offset, &b) in tail.iter().enumerate() {
            if b == quote && seen % (2 * slashes + 2) == slashes {
                tick(offset);
                return Some(open + offset - slashes);
            }
            if b == b'\n' {
                tick(offset);
                *slot = open + offset;
                return None;
            }
            seen = if b == b'\\' { seen + 1 } else { 0 };
        }
        tick(tail.len());
        *slot = self.text.len();
        None
    }

    /// Returns the end of a value without quotes.
    fn bare_end(&self, start: usize, crossed: bool) -> Option<usize> {
        let tail = rest(self.text, start);
        // Brackets open a list or an object; only a mask may start with one.
        let masked = tail.starts_with(self.mask) || tail.starts_with(super::SECRET_MASK);
        if tail.starts_with(['{', '[', '(']) && !tail.starts_with("{{") && !masked {
            return None;
        }
        let whole = part(tail, 0, bare_length(tail));
        if whole.len() < MIN_VALUE
            || crossed && whole.ends_with(':')
            || is_code(whole)
            || self.is_same_name(start, whole)
        {
            return None;
        }
        let value = whole.trim_end_matches([',', ';', '\\']);
        // White space may have cut a shell substitution.
        let substitution = value.starts_with("$(") && value.len() < MAX_KEY;
        let bare = value.trim_end_matches([')', ']', '}', ':']);
        if substitution || is_placeholder(value) || is_placeholder(bare) || is_code(value) {
            return None;
        }
        Some(start + value.trim_end_matches([',', ';', '\\', ')', '}']).len())
    }

    /// Reports whether a value is the name of its key, as in `token=token`.
    fn is_same_name(&self, start: usize, value: &str) -> bool {
        let name = value.trim_end_matches([',', ';', ')', ':']);
        let head = part(self.text, start.saturating_sub(MAX_KEY + 8), start);
        let key = head.trim_end_matches([' ', '=', ':', '"', '\'', '\\']);
        tick(head.len());
        head.len() > key.len() && !name.is_empty() && name.len() < MAX_KEY && key.ends_with(name)
    }

    /// Reports whether a key, which ends before an offset, is all that its line has.
    fn starts_line(&self, end: usize) -> bool {
        let start = run_back(self.text, end, DOTTED, MAX_KEY);
        let before = part(self.text, start.saturating_sub(MAX_KEY), start);
        let indent = before.trim_end_matches([' ', '\t', '-', '"', '\'', '\\', '`', '{', '*', '#', '>', '[', ',', 'n']);
        tick(MAX_KEY);
        !indent.ends_with(|c: char| c.is_ascii_alphanumeric())
    }
}

/// Measures a value without quotes: up to white space, a quote, a closing tag or the next pair.
fn bare_length(tail: &str) -> usize {
    let mut end = tail.len();
    for (at, c) in tail.char_indices() {
        let stop = match c {
            '"' | '\'' | '`' => true,
            '<' => rest(tail, at).starts_with("</"),
            '&' | ';' | ',' => next_pair(rest(tail, at + 1)),
            _ => is_space(c),
        };
        if stop {
            end = at;
            break;
        }
    }
    tick(end);
    end
}

/// Reports whether text starts with `name=`, the next pair of a query or a connection string.
fn next_pair(tail: &str) -> bool {
    let name = tail.bytes().take(MAX_KEY).take_while(|&b| is(b, DOTTED)).count();
    tick(name);
    name > 0 && byte(tail, name) == Some(b'=')
}

/// Returns where the text of a YAML block or the first item of a YAML list starts, or the offset itself.
fn block_start(text: &str, start: usize) -> usize {
    let tail = rest(text, start);
    let Some(sign) = tail.bytes().next().filter(|b| matches!(b, b'|' | b'>' | b'-')) else { return start };
    let signs = tail.bytes().take(4).take_while(|b| matches!(b, b'|' | b'>' | b'-' | b'+' | b'0'..=b'9')).count();
    let next = skip_space(text, start + signs);
    let gap = part(text, start + signs, next);
    let found = if sign == b'-' { signs == 1 && gap == " " } else { gap.contains('\n') };
    if found { next } else { start }
}

/// Reports whether a colon stands between a key and its value, as YAML and JSON ask.
fn is_pair(text: &str, at: usize) -> bool {
    let next = byte(text, at + 1);
    byte(text, at) == Some(b':') && matches!(next, None | Some(b' ' | b'\n' | b'\r' | b'"' | b'\'' | b'\\'))
}

/// Skips the scheme in front of an authorization value, so that the credentials are masked.
pub(super) fn skip_scheme(text: &str, start: usize) -> usize {
    let scheme = ["bearer ", "basic ", "token ", "digest ", "aws4-hmac-sha256 ", "goog4-rsa-sha256 "]
        .iter()
        .find(|scheme| starts_ignoring_case(text, start, scheme));
    scheme.map_or(start, |scheme| skip_space(text, start + scheme.len()))
}
