//! HTML and XML: the text a reader sees, headings marked, the rest dropped.

use super::{DigestFacts, Rank, count, lined};
use crate::sniff::Shape;

/// Elements whose content nobody sees.
const HIDDEN: &[&str] = &["script", "style", "svg", "noscript", "template", "nav"];
/// Elements that do not end a line.
const INLINE: &[&str] = &[
    "a", "b", "i", "em", "strong", "span", "code", "small", "sup", "sub", "u", "mark", "abbr", "time", "td", "th",
    "font",
];

/// Names candidates of a marked-up text.
pub fn facts(text: &str, facts: &mut DigestFacts) {
    let (visible, repeated) = visible(text);
    if let Some((name, times)) = repeated {
        facts.add(Rank::Head, 0, "", &format!("{} of <{name}>", count(times, "element")));
    }
    lined::prose(&visible, &[], Shape::Markup, facts);
    // Lines of the visible text are not lines of the source.
    facts.focus = None;
}

/// The visible text, and in XML the element that repeats most among those with children.
fn visible(text: &str) -> (String, Option<(String, usize)>) {
    let head: String = text.chars().take(600).collect::<String>().to_ascii_lowercase();
    let html =
        head.contains("<html") || head.contains("<!doctype html") || head.contains("<body") || head.contains("<div");
    let (mut out, mut rest) = (String::with_capacity(text.len() / 2), text);
    let mut parents: Vec<(String, usize)> = Vec::new();
    let (mut last_open, mut name_of_line) = (String::new(), String::new());
    while !rest.is_empty() {
        let end = rest.find('<').unwrap_or(rest.len());
        let (words, tail) = rest.split_at(end);
        push(&mut out, words, if html { "" } else { &name_of_line });
        rest = tail;
        if let Some(data) = rest.strip_prefix("<![CDATA[") {
            let end = data.find("]]>").unwrap_or(data.len());
            push(&mut out, without_tags(&data[..end]).trim(), if html { "" } else { &name_of_line });
            rest = data.get(end + 3..).unwrap_or("");
            continue;
        }
        let Some(end) = rest.find('>') else { break };
        let (tag, tail) = rest.split_at(end + 1);
        rest = tail;
        let name = tag
            .trim_start_matches(['<', '/'])
            .split(|ch: char| ch.is_whitespace() || matches!(ch, '>' | '/'))
            .next()
            .unwrap_or("");
        let (low, closes) = (name.to_ascii_lowercase(), tag.starts_with("</"));
        if html && !closes && HIDDEN.contains(&low.as_str()) {
            rest = after_close(rest, &low);
        } else if html {
            mark(&mut out, &low, closes);
        } else {
            if !out.ends_with('\n') && !out.is_empty() {
                out.push('\n');
            }
            // An element opened right after another one was is that one's child.
            let plain = !tag.starts_with("<?") && !tag.starts_with("<!");
            if let Some(attributes) = tag.strip_prefix('<').filter(|tag| plain && !closes && tag.contains('=')) {
                push(&mut out, attributes.trim_end_matches(['>', '/']), "");
                out.push('\n');
                note_parent(&mut parents, name);
            }
            if !closes && !tag.ends_with("/>") && plain {
                note_parent(&mut parents, &last_open);
                last_open = low;
                name_of_line = name.to_owned();
            } else {
                last_open.clear();
                name_of_line.clear();
            }
        }
    }
    let most =
        parents.into_iter().filter(|(_, times)| *times > 2).fold(
            None,
            |best: Option<(String, usize)>, one| match best {
                Some(best) if best.1 >= one.1 => Some(best),
                _ => Some(one),
            },
        );
    (out, most)
}

fn note_parent(parents: &mut Vec<(String, usize)>, name: &str) {
    if name.is_empty() {
        return;
    }
    if let Some(known) = parents.iter_mut().find(|(known, _)| known == name) {
        known.1 += 1;
    } else if parents.len() < 32 {
        parents.push((name.to_owned(), 1));
    }
}

fn push(out: &mut String, words: &str, name: &str) {
    let mut words = words.split_whitespace();
    let Some(first) = words.next() else { return };
    if !name.is_empty() && (out.is_empty() || out.ends_with('\n')) {
        out.push_str(name);
        out.push_str(": ");
    } else if !out.is_empty() && !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
    out.push_str(first);
    for word in words {
        out.push(' ');
        out.push_str(word);
    }
}

/// What a tag of HTML does to the line.
fn mark(out: &mut String, name: &str, closes: bool) {
    if INLINE.contains(&name) {
        return;
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    let heading =
        name == "title" || (name.len() == 2 && name.starts_with('h') && name.ends_with(|ch: char| ch.is_ascii_digit()));
    if heading && !closes {
        out.push_str("# ");
    }
}

/// What follows the end tag of a hidden element; without one, everything is hidden.
fn after_close<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(found) = rest[from..].find("</") {
        let at = from + found + 2;
        if rest.get(at..at + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            let after = &rest[at + name.len()..];
            return after.find('>').map_or("", |end| &after[end + 1..]);
        }
        from = at;
    }
    ""
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    for part in text.split('<') {
        let shown = if out.is_empty() && !text.starts_with('<') {
            part
        } else {
            part.split_once('>').map_or(part, |(_, shown)| shown)
        };
        out.push_str(shown);
        out.push(' ');
    }
    out
}
