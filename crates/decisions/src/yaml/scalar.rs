//! Scalars without quotes.

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

/// Returns what a plain scalar stands for, in the older way that the reference reads: `yes` is true, `1e5` is a text.
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
