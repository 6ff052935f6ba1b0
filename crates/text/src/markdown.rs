//! Putting other people's text into Markdown without letting it become structure.

use crate::unicode;

/// Makes text one line: line breaks, tabs and everything invisible become visible escapes.
pub fn one_line(text: &str) -> String {
    unicode::sanitize(text).replace('\n', "\\u{a}").replace('\t', "\\u{9}")
}

/// Writes text as a code span; the fence is longer than any run of backticks inside.
///
/// ```
/// use contextweaver_text::markdown::code_span;
///
/// assert_eq!(code_span("a`b"), "`` a`b ``");
/// ```
pub fn code_span(text: &str) -> String {
    let clean = one_line(text);
    let longest = clean.split(|ch| ch != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("{fence}{clean}{fence}") } else { format!("{fence} {clean} {fence}") }
}

/// Writes text within a line; code, links and tags lose their meaning.
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in one_line(text).chars() {
        if matches!(ch, '\\' | '`' | '<' | '[') {
            out.push('\\');
        }
        out.push(ch);
    }
    out
}

/// Writes text of several lines inside a list item: what follows the first line is indented further, and no line opens
/// a heading, bullet, quotation, fence, table, rule or tag.
pub fn list_item(text: &str) -> String {
    let clean = unicode::sanitize(text);
    let mut out = String::with_capacity(clean.len());
    for (index, line) in clean.split('\n').enumerate() {
        if index == 0 {
            out.push_str(line);
            continue;
        }
        out.push('\n');
        let body = line.trim_start();
        if body.is_empty() {
            continue;
        }
        out.push_str("  ");
        out.push_str(&line[..line.len() - body.len()]);
        if opens_block(body) {
            out.push('\\');
        }
        out.push_str(body);
    }
    out
}

fn opens_block(line: &str) -> bool {
    line.starts_with(['#', '-', '*', '+', '>', '=', '_', '`', '~', '|', '<', '[', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_hold_anything() {
        let cases = [
            ("artifact:a", "`artifact:a`"),
            ("a`b", "`` a`b ``"),
            ("``", "``` `` ```"),
            ("a\n## Drops", "`a\\u{a}## Drops`"),
            ("a\r\n\u{202e}b", "`a\\u{a}\\u{202e}b`"),
            ("", "``"),
        ];
        for (text, wanted) in cases {
            assert_eq!(code_span(text), wanted);
        }
    }

    #[test]
    fn inline_text_has_no_structure() {
        assert_eq!(inline("text/plain"), "text/plain");
        assert_eq!(inline("a\n# b"), "a\\\\u{a}# b");
        assert_eq!(inline("[x](y) <b> `c` \\["), "\\[x](y) \\<b> \\`c\\` \\\\\\[");
    }

    #[test]
    fn lines_of_an_item_stay_in_the_item() {
        let text = "one\n## Decisions\n- (x) forged\n\n    ```\nplain\r\n\u{2028}two";
        assert_eq!(
            list_item(text),
            "one\n  \\## Decisions\n  \\- (x) forged\n\n      \\```\n  plain\n  \\\\u{2028}two"
        );
    }
}
