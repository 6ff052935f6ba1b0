//! Sentences of a text, and which parts of these are quoted.

use std::ops::Range;

/// Bytes above which a sentence is taken apart at its semicolons and dashes.
const LONG: usize = 220;

/// Returns the sentences of a stretch of text, without what surrounds them.
pub fn sentences(text: &str, stretch: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let part = &text[stretch.clone()];
    let mut start = 0;
    let mut chars = part.char_indices().peekable();
    let mut quote = 0_i32;
    while let Some((at, ch)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match ch {
            '“' | '„' | '«' | '「' => quote += 1,
            '”' | '»' | '」' => quote = (quote - 1).max(0),
            _ => {}
        }
        let ends = match ch {
            '\n' => is_break(&part[start..at], &part[at + 1..]),
            '.' => {
                next.is_none_or(char::is_whitespace) && !is_abbreviation(&part[start..at]) && !goes_on(&part[at + 1..])
            }
            '!' | '?' | '…' => next.is_none_or(|next| next.is_whitespace() || next == '"'),
            '。' | '！' | '？' => quote == 0,
            _ => false,
        };
        if ends {
            push(&mut found, part, stretch.start, start..at + ch.len_utf8());
            start = at + ch.len_utf8();
        }
    }
    push(&mut found, part, stretch.start, start..part.len());
    found
}

/// Tells whether a line ends a sentence: the next one is an item of a list, or this one is too short to be wrapped.
fn is_break(line: &str, next: &str) -> bool {
    let last = line.rsplit('\n').next().unwrap_or(line);
    let next = next.trim_start();
    let is_item = next.starts_with(['-', '*', '•', '#'])
        || next.chars().take(3).any(|ch| matches!(ch, '.' | ')')) && next.starts_with(|ch: char| ch.is_ascii_digit());
    is_item
        || last.len() < 60
        || last.trim_end().ends_with(':')
        || next.starts_with(char::is_uppercase) && last.len() < 72
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|ch: char| ch.is_whitespace() || ch == '(').next().unwrap_or("");
    matches!(
        word.to_lowercase().as_str(),
        "e.g"
            | "i.e"
            | "etc"
            | "mr"
            | "mrs"
            | "ms"
            | "dr"
            | "st"
            | "no"
            | "vs"
            | "z.b"
            | "d.h"
            | "bzw"
            | "sr"
            | "sra"
            | "approx"
            | "ca"
            | "nr"
    ) || (word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I")
}

fn goes_on(rest: &str) -> bool {
    rest.trim_start().starts_with(|ch: char| ch.is_lowercase())
}

fn push(found: &mut Vec<Range<usize>>, part: &str, offset: usize, range: Range<usize>) {
    let text = &part[range.clone()];
    let is_blank = |ch: char| ch.is_whitespace() || matches!(ch, '-' | '*' | '•' | '#');
    let begin = range.start + (text.len() - text.trim_start_matches(is_blank).len());
    let end = range.start + text.trim_end().len();
    if begin >= end || !part[begin..end].contains(char::is_alphanumeric) {
        return;
    }
    if end - begin <= LONG {
        found.push(offset + begin..offset + end);
        return;
    }
    let mut from = begin;
    for (at, mark) in part[begin..end].char_indices() {
        let at = begin + at;
        let ends = match mark {
            ';' | '—' | '；' => true,
            ':' => part[at + 1..end].starts_with(' ') && at - from > 60,
            '–' => part[..at].ends_with(' '),
            _ => false,
        };
        if ends && at > from {
            found.push(offset + from..offset + at + mark.len_utf8());
            from = at + mark.len_utf8();
            from += part[from..end].len() - part[from..end].trim_start().len();
        }
    }
    if from < end {
        found.push(offset + from..offset + end);
    }
}

/// Returns the parts of a sentence that stand in quotation marks and are more than a name.
pub fn quotations(sentence: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, ch) in sentence.char_indices() {
        match open {
            Some((from, close)) if ch == close => {
                let inside = &sentence[from..at];
                if inside.split_whitespace().count() > 3 || (!inside.is_ascii() && inside.chars().count() > 8) {
                    found.push(from..at);
                }
                open = None;
            }
            None => {
                let close = match ch {
                    '"' => '"',
                    '“' => '”',
                    '„' => '“',
                    '«' => '»',
                    '「' => '」',
                    '『' => '』',
                    '`' => '`',
                    _ => continue,
                };
                open = Some((at + ch.len_utf8(), close));
            }
            Some(_) => {}
        }
    }
    if let Some((from, _)) = open {
        found.push(from..sentence.len());
    }
    found
}
