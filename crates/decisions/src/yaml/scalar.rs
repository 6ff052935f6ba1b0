//! Scalars, plain or in quotes.

use serde_json::Value;

use contextweaver_model::json::parse_float;

/// Returns a text up to its comment, which white space comes before.
pub(super) fn without_comment(text: &str) -> &str {
    if text.starts_with('#') {
        return "";
    }
    let end = text.match_indices('#').find(|(at, _)| text[..*at].ends_with([' ', '\t']));
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Joins lines: a break becomes a space, and those of blank lines stay.
pub(super) fn fold(text: &mut String, blank_lines: usize) {
    if blank_lines == 0 {
        text.push(' ');
    }
    text.extend(std::iter::repeat_n('\n', blank_lines));
}

/// Returns what a plain scalar stands for, in the way of YAML 1.1 that contextweaver 0.18 reads: `yes` is true, `1e5` is
/// a text.
pub(super) fn resolved(text: &str) -> Value {
    let lower = text.to_ascii_lowercase();
    let is_cased = text == lower || text == text.to_ascii_uppercase() || text.get(1..) == lower.get(1..);
    match lower.as_str() {
        "" | "~" | "null" if is_cased => return Value::Null,
        "true" | "yes" | "on" if is_cased => return Value::Bool(true),
        "false" | "no" | "off" if is_cased => return Value::Bool(false),
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Reads a decimal number. One with a leading zero may be an id and stays a text.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || digits.starts_with('0') && digits.len() > 1 && is_number(digits) {
        return None;
    }
    if is_number(digits) {
        let text = text.strip_prefix('+').unwrap_or(text);
        return text.parse::<i64>().map(Value::from).ok();
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "+0"));
    let (whole, part) = mantissa.split_once('.')?;
    let exponent = exponent.strip_prefix(['-', '+'])?;
    let fits = is_number(whole) && is_number(part) && is_number(exponent);
    if !fits || whole.len() + part.len() == 0 || exponent.is_empty() {
        return None;
    }
    parse_float(text).filter(|number| number.is_finite()).map(Value::from)
}

/// Returns the text of a literal or folded scalar.
pub(super) fn block(lines: &[&str], is_folded: bool, chomp: Option<char>) -> String {
    let used = lines.iter().rposition(|line| !line.trim_matches(' ').is_empty()).map_or(0, |last| last + 1);
    let mut out = String::new();
    let mut blank = 0;
    let mut before: Option<&str> = None;
    for line in lines[..used].iter().copied() {
        if line.trim_matches(' ').is_empty() {
            blank += 1;
            continue;
        }
        let is_deep = |line: &str| line.starts_with([' ', '\t']);
        match before {
            None => out.extend(std::iter::repeat_n('\n', blank)),
            Some(before) if is_folded && !is_deep(before) && !is_deep(line) => fold(&mut out, blank),
            Some(_) => out.extend(std::iter::repeat_n('\n', blank + 1)),
        }
        out.push_str(line);
        (before, blank) = (Some(line), 0);
    }
    match chomp {
        Some('-') => {}
        // What `split` leaves behind the last break is no line.
        Some(_) => out.extend(std::iter::repeat_n('\n', lines.len() - used + usize::from(used > 0))),
        None if used > 0 => out.push('\n'),
        None => {}
    }
    out
}

/// Returns the bytes of a quoted scalar up to the closing quote, if it is there.
pub(super) fn quoted_end(text: &str, quote: char) -> Option<usize> {
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
pub(super) fn quoted_text(quoted: &str) -> Result<String, &'static str> {
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
