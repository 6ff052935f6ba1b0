//! The question to ask when several tools fit.

use std::fmt::Write as _;

use crate::order::sort_distinct;
use crate::text::unicode::is_invisible;

/// Tools, or namespaces, a question names.
const NAMED: usize = 3;

/// Returns a question that tells the best tools apart: by namespace where they are of several, else by name. `None`
/// with fewer than two tools. Each tool is its name and its namespace, best first; three are named.
pub fn clarifying_question(query: &str, tools: &[(&str, &str)]) -> Option<String> {
    if tools.len() < 2 {
        return None;
    }
    let mut namespaces: Vec<&str> = tools.iter().map(|(_, namespace)| *namespace).filter(|ns| !ns.is_empty()).collect();
    sort_distinct(&mut namespaces);
    let query = python_quoted(query);
    if namespaces.len() >= 2 {
        let named = listed(namespaces.into_iter().take(NAMED));
        return Some(format!("Did you mean {named}? Multiple namespaces matched {query}."));
    }
    let named = listed(tools.iter().take(NAMED).map(|(name, _)| *name));
    Some(format!("Multiple tools could handle {query}: {named}. Which did you mean?"))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(python_quoted).collect::<Vec<_>>().join(", ")
}

/// Quotes text as Python writes a string: in single quotes unless it holds one and no double quote, with backslashes
/// and whatever does not print escaped.
pub(super) fn python_quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for ch in text.chars() {
        match ch {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if ch == quote => out.extend(['\\', ch]),
            _ if prints(ch) => out.push(ch),
            // Writing to a string cannot fail.
            _ => {
                let code = ch as u32;
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
    out
}

/// Tells whether a code point prints: no control or format character, no space but the plain one, not private.
fn prints(ch: char) -> bool {
    // Selectors and fillers are invisible, but marks and letters to Python.
    let is_mark = matches!(
        ch,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180d}'
            | '\u{180f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    );
    let is_private = matches!(ch, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    let is_format = matches!(ch, '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}');
    let is_unassigned = matches!(ch, '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{fff8}' | '\u{fffe}'..='\u{ffff}');
    let is_hidden = ch.is_control() || ch.is_whitespace() || is_invisible(ch);
    ch == ' ' || is_mark || !(is_hidden || is_private || is_format || is_unassigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_python_does() {
        for (text, quoted) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("q \"x\"", "'q \"x\"'"),
            ("a'b\"c", "'a\\'b\"c'"),
            ("t\tn\n\\ é日", "'t\\tn\\n\\\\ é日'"),
            (
                "\u{0}\u{7f}\u{a0}\u{200b}\u{2028}\u{e000}\u{10ffff}",
                "'\\x00\\x7f\\xa0\\u200b\\u2028\\ue000\\U0010ffff'",
            ),
            ("\u{301}\u{fe0f}\u{ad}", "'\u{301}\u{fe0f}\\xad'"),
        ] {
            assert_eq!(python_quoted(text), quoted);
        }
    }

    #[test]
    fn a_question_needs_two_tools() {
        assert_eq!(clarifying_question("q", &[("a", "n")]), None);
        let two = clarifying_question("q", &[("a", ""), ("b", "n")]);
        assert_eq!(two.as_deref(), Some("Multiple tools could handle 'q': 'a', 'b'. Which did you mean?"));
        let three = clarifying_question("q", &[("a", "z"), ("b", "n"), ("c", "z"), ("d", "y")]);
        assert_eq!(three.as_deref(), Some("Did you mean 'n', 'y', 'z'? Multiple namespaces matched 'q'."));
    }
}
