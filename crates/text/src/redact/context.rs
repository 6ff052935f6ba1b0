//! Secrets that are recognisable by what surrounds them: key blocks, URLs, authorization schemes.

use super::chars::{
    BASE64, DOTTED, TOKEN68, before, byte, is, is_space, part, rest, run, skip_slashes, skip_space,
    starts_ignoring_case, tick,
};
use super::keys::is_generated;
use super::keys::is_placeholder;
use super::scanner::Scanner;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
/// Length from which a base64 run on a line with other words still counts as key material.
const FLAT_CHUNK: usize = 40;
/// Shortest token that stands for the user of a URL, in bytes.
const MIN_USER_TOKEN: usize = 20;
/// Bound on header lines, so that many markers on one line do not each scan the rest of it.
const MAX_HEADER_LINE: usize = 200;

impl Scanner<'_> {
    /// Finds a private key block that begins at an offset.
    pub(super) fn pem_at(&mut self, at: usize) -> Option<(usize, usize)> {
        if byte(self.text, at + 1) != Some(b'-') {
            return None;
        }
        let begin = self.marker_end(at, BEGIN)?;
        let end = self.next_end_marker(begin);
        // An END that belongs to a later block would take the prose between the two blocks along.
        if let Some((start, end)) = end
            && !part(self.text, begin, start).contains(BEGIN)
        {
            return Some((at, end));
        }
        let body = self.key_material_end(begin);
        (body > begin).then_some((at, body))
    }

    /// Matches a BEGIN or END marker of a private key and returns its end.
    fn marker_end(&self, at: usize, head: &str) -> Option<usize> {
        let tail = rest(self.text, at).strip_prefix(head)?;
        let length = tail.bytes().take(48).take_while(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b' ')).count();
        let label = part(tail, 0, length);
        let label = label.strip_suffix(" BLOCK").unwrap_or(label);
        let closed = rest(tail, length).starts_with("-----");
        (closed && label.ends_with("PRIVATE KEY")).then_some(at + head.len() + length + 5)
    }

    /// Finds the first END marker at or after an offset, remembering the answer for later starts.
    fn next_end_marker(&mut self, from: usize) -> Option<(usize, usize)> {
        if let Some((asked, answer)) = self.pem_end
            && asked <= from
            && answer.is_none_or(|(start, _)| start >= from)
        {
            return answer;
        }
        let mut at = from;
        let mut answer = None;
        while let Some(step) = rest(self.text, at).find(END) {
            tick(step);
            at += step;
            if let Some(end) = self.marker_end(at, END) {
                answer = Some((at, end));
                break;
            }
            at += END.len();
        }
        tick(self.text.len() - at);
        self.pem_end = Some((from, answer));
        answer
    }

    /// Returns the end of the key material after a BEGIN marker that has no END.
    ///
    /// Lines of base64 and the usual headers belong to the key; the first other line ends it.
    fn key_material_end(&self, from: usize) -> usize {
        let mut end = from;
        let mut at = skip_breaks(self.text, from);
        loop {
            let stop = run(self.text, at, BASE64, usize::MAX);
            if stop == at {
                return end;
            }
            let next = skip_breaks(self.text, stop);
            if let Some(line) = header_end(self.text, at) {
                at = skip_breaks(self.text, line);
                continue;
            }
            let broken = next > stop && part(self.text, stop, next).contains(['\n', '\r', '\\']);
            let closed = matches!(byte(self.text, stop), None | Some(b'"' | b'\'' | b'`'));
            if !broken && !closed && stop - at < FLAT_CHUNK {
                return end;
            }
            end = stop;
            if closed {
                return end;
            }
            at = next;
        }
    }

    /// Finds the password of a URL whose scheme ends at an offset.
    pub(super) fn url_at(&self, colon: usize, floor: usize) -> Option<(usize, usize)> {
        let tail = rest(self.text, colon).strip_prefix("://")?;
        let scheme = part(self.text, floor, colon).bytes().rev();
        let mut scheme = scheme.take_while(|&b| b == b'+' || is(b, DOTTED) && b != b'_');
        if !scheme.any(|b| {
            tick(1);
            b.is_ascii_alphabetic()
        }) {
            return None;
        }
        let user = tail.find(|c: char| is_space(c) || matches!(c, ':' | '/' | '@'))?;
        tick(user);
        if byte(tail, user) == Some(b'@') {
            return self.url_user(tail, user);
        }
        if byte(tail, user) != Some(b':') {
            return None;
        }
        let secret = rest(tail, user + 1);
        let length = Self::url_secret_length(secret)?;
        let start = self.text.len() - secret.len();
        let masked = self.is_mask(start, start + length);
        let kept = masked || is_placeholder(part(secret, 0, length));
        (!kept).then_some((start, start + length))
    }

    /// Finds a token that stands for the user of a URL.
    ///
    /// Sentry's keys of projects stand there as well; they are public.
    fn url_user(&self, tail: &str, user: usize) -> Option<(usize, usize)> {
        let value = part(tail, 0, user);
        let start = self.text.len() - tail.len();
        let host = rest(tail, user + 1);
        let length = host.bytes().take(64).take_while(|&b| is(b, DOTTED)).count();
        tick(length);
        let token = value.len() >= MIN_USER_TOKEN && is_generated(value) && !part(host, 0, length).contains("sentry");
        (token && !self.is_mask(start, start + user)).then_some((start, start + user))
    }

    /// Measures a password up to the last `@` that a host follows.
    fn url_secret_length(secret: &str) -> Option<usize> {
        let mut best = None;
        let mut at_sign = None;
        for (at, c) in secret.char_indices() {
            tick(1);
            if is_space(c) || matches!(c, '/' | '"' | '\'' | '`' | '<' | '>') {
                break;
            }
            if let Some(sign) = at_sign
                && !matches!(c, ':' | '@')
            {
                best = Some(sign);
            }
            at_sign = (c == '@' && at > 0).then_some(at);
        }
        best
    }

    /// Finds the credentials after an authorization scheme that starts at an offset.
    pub(super) fn auth_at(&self, at: usize) -> Option<(usize, usize)> {
        let bearer = starts_ignoring_case(self.text, at, "bearer");
        let basic = starts_ignoring_case(self.text, at, "basic");
        if !(bearer || basic) || !self.opens_word(at) {
            return None;
        }
        let word = at + if bearer { 6 } else { 5 };
        let start = skip_space(self.text, word);
        if start == word {
            return None;
        }
        let end = run(self.text, start, TOKEN68, usize::MAX);
        let end = end - usize::from(end > start && byte(self.text, end - 1) == Some(b'.'));
        let value = part(self.text, start, end);
        let secret = if bearer { self.is_bearer(at, value) } else { is_basic(value) };
        (secret && !is_placeholder(value)).then_some((start, end))
    }

    /// Tells a bearer token from a sentence about bearers.
    fn is_bearer(&self, at: usize, value: &str) -> bool {
        let word = value.len() < 20 && value.bytes().all(|b| b.is_ascii_lowercase());
        let context = part(self.text, 0, at).trim_end_matches(' ');
        let header = matches!(before(context, context.len()), Some(':' | '=' | '"' | '\'' | '`'));
        value.len() >= 10 && (header || !word)
    }
}

/// Reports whether a value decodes to the `user:password` of basic authentication.
///
/// Prose such as "basic authentication" is valid base64 too, but decodes to control characters or
/// to something without a colon.
fn is_basic(value: &str) -> bool {
    value.len() >= 6 && decoded_has(value, b':')
}

/// Reports whether a value decodes to text that has a sign, which may be a control character.
pub(super) fn decoded_has(value: &str, sign: u8) -> bool {
    let (mut bits, mut filled, mut found) = (0_u32, 0, false);
    tick(value.len());
    for b in value.trim_end_matches('=').bytes() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(six)) & 0xffff;
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            let byte = bits >> filled & 0xff;
            found |= byte == u32::from(sign);
            if byte != u32::from(sign) && (byte < 0x20 || byte == 0x7f) {
                return false;
            }
        }
    }
    found
}

/// Skips white space and the escaped line breaks of JSON strings.
fn skip_breaks(text: &str, from: usize) -> usize {
    let mut at = skip_space(text, from);
    while byte(text, at) == Some(b'\\') {
        let letter = skip_slashes(text, at);
        if !matches!(byte(text, letter), Some(b'n' | b'r' | b't')) {
            break;
        }
        at = skip_space(text, letter + 1);
    }
    at
}

/// Returns the end of a PEM header line such as `Proc-Type: 4,ENCRYPTED`.
fn header_end(text: &str, at: usize) -> Option<usize> {
    const NAMES: [&str; 5] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"];
    let tail = rest(text, at);
    NAMES.iter().find(|name| tail.starts_with(**name))?;
    let line = tail.bytes().take(MAX_HEADER_LINE);
    Some(at + line.take_while(|b| !matches!(b, b'\n' | b'\r' | b'\\' | b'"')).count())
}
