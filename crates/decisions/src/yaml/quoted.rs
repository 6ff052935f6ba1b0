//! Scalars in quotes.

use super::scalar::fold;

/// Returns the bytes of a quoted scalar up to the closing quote, if it is there.
pub(super) fn end(text: &str, quote: char) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == '"' => at += 1,
            b'\'' if quote == '\'' && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            byte if byte == quote as u8 => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns what a quoted scalar says; it may go over lines.
pub(super) fn text(quoted: &str) -> Result<String, &'static str> {
    let is_double = quoted.starts_with('"');
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let mut out = String::new();
    let mut breaks = 0_usize;
    let mut is_joined = false;
    let count = inner.split('\n').count();
    for (index, line) in inner.split('\n').enumerate() {
        let line = if index == 0 { line } else { line.trim_start_matches([' ', '\t']) };
        let is_last = index + 1 == count;
        let mut line = if is_last { line } else { trimmed(line, is_double) };
        if index > 0 && line.is_empty() && !is_last {
            breaks += 1;
            continue;
        }
        if index > 0 && !is_joined {
            fold(&mut out, breaks);
        } else if breaks > 0 {
            out.extend(std::iter::repeat_n('\n', breaks));
        }
        (breaks, is_joined) = (0, false);
        if is_double {
            // A backslash at the end joins the next line.
            if !is_last && line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
                (line, is_joined) = (&line[..line.len() - 1], true);
            }
            unescape(line, &mut out)?;
        } else {
            out.push_str(&line.replace("''", "'"));
        }
    }
    Ok(out)
}

/// Returns a line without the white space at its end, unless that is escaped.
fn trimmed(line: &str, is_double: bool) -> &str {
    let short = line.trim_end_matches([' ', '\t']);
    let slashes = short.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if is_double && slashes % 2 == 1 && short.len() < line.len() { &line[..=short.len()] } else { short }
}

fn unescape(line: &str, out: &mut String) -> Result<(), &'static str> {
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        if ch != '\\' {
            out.push(ch);
            continue;
        }
        let sign = chars.next().unwrap_or('\\');
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                let (_, stands_for) = ESCAPES.iter().find(|(known, _)| *known == sign).ok_or("an escape is unknown")?;
                out.push(*stands_for);
                continue;
            }
        };
        let mut code = hex(&mut chars, digits)?;
        if (0xd800..0xdc00).contains(&code) {
            let rest = chars.as_str().strip_prefix("\\u").ok_or(HALF)?;
            chars = rest.chars();
            let low = hex(&mut chars, 4)?.checked_sub(0xdc00).filter(|low| *low < 0x400).ok_or(HALF)?;
            code = 0x10000 + ((code - 0xd800) << 10) + low;
        }
        out.push(char::from_u32(code).ok_or(HALF)?);
    }
    Ok(())
}

const HALF: &str = "an escape is no character";

const ESCAPES: &[(char, char)] = &[
    ('0', '\0'),
    ('a', '\u{7}'),
    ('b', '\u{8}'),
    ('t', '\t'),
    ('\t', '\t'),
    ('n', '\n'),
    ('v', '\u{b}'),
    ('f', '\u{c}'),
    ('r', '\r'),
    ('e', '\u{1b}'),
    (' ', ' '),
    ('"', '"'),
    ('/', '/'),
    ('\\', '\\'),
    ('N', '\u{85}'),
    ('_', '\u{a0}'),
    ('L', '\u{2028}'),
    ('P', '\u{2029}'),
];

fn hex(chars: &mut std::str::Chars<'_>, digits: usize) -> Result<u32, &'static str> {
    let text = chars.as_str().get(..digits).ok_or("an escape is too short")?;
    *chars = chars.as_str()[digits..].chars();
    if text.starts_with('+') {
        return Err(HALF);
    }
    u32::from_str_radix(text, 16).map_err(|_| HALF)
}
