//! Runs of base64 and the like, which hold no words.

use std::borrow::Cow;

/// Bytes of a run of base64 characters, of either alphabet, that may still be words: paths are shorter.
const MAX_WORDY_BYTES: usize = 256;

/// The runs of base64 in a text that is read from its beginning to its end; linear in it.
pub struct Base64Runs<'a> {
    text: &'a [u8],
    /// Offset up to which the text has been measured.
    next: usize,
}

impl<'a> Base64Runs<'a> {
    /// Starts at the beginning of a text. A short one has no runs.
    pub fn of(text: &'a str) -> Self {
        let next = if text.len() > MAX_WORDY_BYTES { 0 } else { text.len() };
        Self { text: text.as_bytes(), next }
    }

    /// Returns the end of the run that begins at an offset, if one does; offsets only go up.
    pub fn end(&mut self, at: usize) -> Option<usize> {
        if at < self.next {
            return None;
        }
        let length = self.text[at..].iter().take_while(|byte| is_data(**byte)).count();
        self.next = at + length + 1;
        (length > MAX_WORDY_BYTES).then_some(at + length)
    }
}

const fn is_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Characters of base64 or hexadecimal digits from which a run is data that no model reads: one of 3 KiB.
const MIN_DATA_CHARS: usize = 4096;
/// Characters of a line within such a run; shorter lines are words below each other.
const MIN_LINE_CHARS: usize = 60;
/// Characters at the beginning of a run by which it is judged, and the kinds of them that data has at least: base64 has
/// 64, digits of bytes 16. Text has spaces, and a character repeated is no data.
const JUDGED_CHARS: usize = 4096;
const MIN_BASE64_KINDS: usize = 40;
const MIN_HEX_KINDS: usize = 10;

/// Puts a name such as `[base64, 293 KiB]` in the place of long runs of base64 and hexadecimal digits, also where they are
/// broken into lines; linear in the text.
///
/// ```
/// use contextweaver_text::data::name_data;
///
/// let digits = ('A'..='Z').chain('a'..='z').chain('0'..='9').collect::<String>().repeat(100);
/// assert_eq!(name_data(&format!("{{\"data\":\"{digits}\"}}")), "{\"data\":\"[base64, 5 KiB]\"}");
/// assert_eq!(name_data("plain words"), "plain words");
/// ```
pub fn name_data(text: &str) -> Cow<'_, str> {
    if text.len() < MIN_DATA_CHARS {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let (mut out, mut kept, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        if !is_data(bytes[at]) {
            at += 1;
            continue;
        }
        let end = data_end(bytes, at);
        if let Some(name) = data_name(&bytes[at..end]) {
            out.push_str(&text[kept..at]);
            out.push_str(&name);
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Tells whether a text has such a run.
pub fn has_data(text: &str) -> bool {
    matches!(name_data(text), Cow::Owned(_))
}

/// Returns the end of a run that begins at an offset: a line, and those behind it while all but the last are long.
fn data_end(bytes: &[u8], start: usize) -> usize {
    let line = |at: usize| bytes[at..].iter().take_while(|byte| is_data(**byte)).count();
    let mut length = line(start);
    let mut end = start + length;
    while length >= MIN_LINE_CHARS {
        let Some(next) = line_break(&bytes[end..]).map(|wide| end + wide) else { break };
        length = line(next);
        // `==` ends base64, and what stands alone on its line may be the rest of it.
        let is_alone = bytes.get(next + length).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\\'));
        if length == 0 || !is_alone || bytes[end - 1] == b'=' {
            break;
        }
        end = next + length;
    }
    end
}

/// Returns the bytes of a line break, as it is or as JSON writes it.
fn line_break(bytes: &[u8]) -> Option<usize> {
    let breaks: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    breaks.into_iter().find(|found| bytes.starts_with(found)).map(<[u8]>::len)
}

/// Returns the name of a run, where it is data.
fn data_name(run: &[u8]) -> Option<String> {
    if run.len() < MIN_DATA_CHARS {
        return None;
    }
    let mut seen = [false; 128];
    for byte in &run[..JUDGED_CHARS] {
        seen[usize::from(*byte)] = true;
    }
    let kinds = |wanted: fn(u8) -> bool| (0..128_u8).filter(|byte| seen[usize::from(*byte)] && wanted(*byte)).count();
    let chars = run.iter().filter(|byte| is_data(**byte)).count();
    let is_hex = !(0..128_u8).any(|byte| seen[usize::from(byte)] && is_data(byte) && !byte.is_ascii_hexdigit());
    let (name, bytes) = if is_hex && kinds(|byte| byte.is_ascii_hexdigit()) >= MIN_HEX_KINDS {
        ("hex", chars / 2)
    } else if kinds(is_data) >= MIN_BASE64_KINDS {
        ("base64", chars / 4 * 3)
    } else {
        return None;
    };
    Some(format!("[{name}, {} KiB]", bytes.div_ceil(1024)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(length: usize) -> String {
        // A linear congruential generator gives base64 of random bytes.
        let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            alphabet[(state >> 58) as usize]
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn data_is_named_wherever_it_stands() {
        let data = digits(8000);
        let lines = |between: &str| {
            let rows: Vec<&str> = (0..8000).step_by(76).map(|at| &data[at..(at + 76).min(8000)]).collect();
            rows.join(between)
        };
        for (text, shown) in [
            (data.clone(), "[base64, 6 KiB]"),
            (format!("data:image/png;base64,{data}=="), "data:image/png;base64,[base64, 6 KiB]"),
            (format!("{{\"a\":\"{data}\",\"b\":1}}"), "{\"a\":\"[base64, 6 KiB]\",\"b\":1}"),
            (format!("file:\n{}\ndone", lines("\n")), "file:\n[base64, 6 KiB]\ndone"),
            (format!("\"{}\"", lines("\\n")), "\"[base64, 6 KiB]\""),
            (lines("\r\n"), "[base64, 6 KiB]"),
            (format!("ключ {data} ключ {data}"), "ключ [base64, 6 KiB] ключ [base64, 6 KiB]"),
            ("0123456789abcdef".repeat(512), "[hex, 4 KiB]"),
        ] {
            assert!(name_data(&text).starts_with(shown), "{}", name_data(&text).chars().take(200).collect::<String>());
            assert!(name_data(&text).len() < 120);
        }
    }

    #[test]
    fn text_is_left_as_it_is() {
        let rows = (0..2000).map(|row| format!("word{row}")).collect::<Vec<_>>().join("\n");
        for text in [
            "x".repeat(10_000),
            "ACGT".repeat(4000),
            "0123456789".repeat(100),
            digits(4000),
            "a fine day ".repeat(2000),
            rows,
            "/usr/local/lib/python3/site-packages/module/name_of_file.py\n".repeat(200),
            "天気".repeat(5000),
        ] {
            assert!(matches!(name_data(&text), Cow::Borrowed(_)), "{}", name_data(&text));
        }
    }
}
