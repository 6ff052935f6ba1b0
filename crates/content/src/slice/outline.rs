//! What a text consists of: headings, keys, files, lines that stand out.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::json::{push_shown_key, squeeze};
use super::records::{TabularText, one_line};
use super::selector::Selector;
use crate::code::defines;
use crate::signals::Signal;
use crate::sniff::{Shape, match_parts};
use crate::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_text::lines::lines;
use contextweaver_text::unicode::{prefix, truncate};

/// Characters of an entry that quotes a line, and keys of a record that are listed.
const LINE_CHARS: usize = 160;
const KEYS: usize = 12;

/// Returns a line about the whole, and the entries.
pub(super) fn outline(text: &str, shape: Shape) -> (String, Vec<String>) {
    match shape {
        Shape::Json => json(text),
        Shape::Diff => diff(text),
        Shape::Matches => matches(text),
        Shape::Code => definitions(text),
        Shape::Markdown => headings(text),
        Shape::Markup => titles(text),
        Shape::Table(_) | Shape::Ndjson => TabularText::of(text, shape)
            .and_then(|records| records.describe(&Selector::columns()).ok())
            .unwrap_or_default(),
        Shape::Log | Shape::Trace => standouts(text, false),
        Shape::Text => standouts(text, true),
    }
}

fn json(text: &str) -> (String, Vec<String>) {
    let Some(tree) = JsonTree::parse(text) else { return (String::new(), Vec::new()) };
    let mut entries = Vec::new();
    branch(tree.root(), "", 0, &mut entries);
    (describe(tree.root()) + "\n", entries)
}

/// Lists members down to the second level; of an array, the members of its first element.
fn branch(node: JsonNode, path: &str, level: usize, entries: &mut Vec<String>) {
    if node.kind() == JsonKind::Array {
        if let Some(first) = node.items().next().filter(|first| first.kind() == JsonKind::Object && level == 0) {
            branch(first, &format!("{path}[0]"), 1, entries);
        }
        return;
    }
    for (key, value) in node.members() {
        let mut at = path.to_owned();
        push_shown_key(&mut at, &key);
        entries.push(format!("{at}: {}", describe(value)));
        if level == 0 && value.kind() == JsonKind::Object {
            branch(value, &at, 1, entries);
        }
    }
}

fn describe(node: JsonNode) -> String {
    match node.kind() {
        JsonKind::Object => format!("object of {}", node.len()),
        JsonKind::Array => {
            let mut out = format!("array of {}", node.len());
            if let Some(first) = node.items().next() {
                let kind = first.kind().name();
                let _ =
                    write!(out, " {kind}{}", if node.len() == 1 || first.kind() == JsonKind::Null { "" } else { "s" });
                let keys: Vec<String> = first.members().take(KEYS).map(|(key, _)| one_line(&key)).collect();
                if !keys.is_empty() {
                    let more = if first.len() > KEYS { ", …" } else { "" };
                    let _ = write!(out, " {{{}{more}}}", keys.join(", "));
                }
            }
            out
        }
        _ => one_line(&squeeze(node.raw())),
    }
}

fn diff(text: &str) -> (String, Vec<String>) {
    // Name, line, lines added, lines taken away.
    let mut files: Vec<(&str, usize, usize, usize)> = Vec::new();
    // Lines that the hunk still takes away: what looks like a file's header among them is none.
    let (mut left, mut named, mut hunk) = (0_usize, false, false);
    for (number, line) in lines(text).enumerate() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push((names.split_once(" b/").map_or(names, |(_, name)| name), number, 0, 0));
            (named, hunk) = (true, false);
        } else if let Some(range) = line.strip_prefix("@@ -") {
            let lines = range.split(' ').next().and_then(|range| range.split_once(','));
            left = lines.map_or(1, |(_, count)| count.parse().unwrap_or(0));
            (named, hunk) = (false, true);
        } else if line.starts_with("--- ") && !(hunk && left > 0) {
            if !named {
                files.push((line[4..].split('\t').next().unwrap_or(""), number, 0, 0));
            }
            (named, hunk) = (true, false);
        } else if hunk && let Some(file) = files.last_mut() {
            file.2 += usize::from(line.starts_with('+'));
            file.3 += usize::from(line.starts_with('-'));
            left = left.saturating_sub(usize::from(!line.starts_with('+')));
        }
    }
    let sum = |of: fn(&(&str, usize, usize, usize)) -> usize| files.iter().map(of).sum::<usize>();
    let open = format!("{} files, +{} -{}\n", files.len(), sum(|file| file.2), sum(|file| file.3));
    let entries = files.iter().map(|(name, line, plus, minus)| format!("{name} +{plus} -{minus} (line {line})"));
    (open, entries.collect())
}

fn matches(text: &str) -> (String, Vec<String>) {
    let mut files: Vec<(&str, usize)> = Vec::new();
    let mut count = 0;
    for (path, _, _) in lines(text).filter_map(match_parts) {
        count += 1;
        // A search goes from file to file.
        match files.last_mut().filter(|(last, _)| *last == path) {
            Some((_, hits)) => *hits += 1,
            None => files.push((path, 1)),
        }
    }
    let open = format!("{count} matches in {} files\n", files.len());
    (open, files.iter().map(|(path, hits)| format!("{path}: {hits}")).collect())
}

fn definitions(text: &str) -> (String, Vec<String>) {
    let found = lines(text).enumerate().filter(|(_, line)| defines(line).is_some());
    let entries: Vec<String> =
        found.map(|(number, line)| format!("{number}: {}", truncate(line, LINE_CHARS))).collect();
    (format!("{} definitions, {} lines\n", entries.len(), lines(text).count()), entries)
}

fn headings(text: &str) -> (String, Vec<String>) {
    let mut entries = Vec::new();
    let (mut fenced, mut total) = (false, 0);
    for (number, line) in lines(text).enumerate() {
        total += 1;
        fenced ^= line.trim_start().starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if !fenced && (1..=6).contains(&level) && line[level..].starts_with(' ') {
            entries.push(format!("{} (line {number})", truncate(line, LINE_CHARS)));
        }
    }
    (format!("{} headings, {total} lines\n", entries.len()), entries)
}

/// Titles and headings of HTML.
fn titles(text: &str) -> (String, Vec<String>) {
    let mut entries = Vec::new();
    let mut names: Vec<(&str, usize)> = Vec::new();
    let (mut rest, mut tags) = (text, 0);
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let name = rest.split(|ch: char| !ch.is_ascii_alphanumeric() && !matches!(ch, ':' | '-')).next().unwrap_or("");
        if !name.starts_with(|ch: char| ch.is_ascii_alphabetic()) {
            continue;
        }
        tags += 1;
        match names.iter().position(|(known, _)| *known == name) {
            Some(at) => names[at].1 += 1,
            None if names.len() < KEYS => names.push((name, 1)),
            None => {}
        }
        let level = name.len() == 2 && name.starts_with(['h', 'H']) && matches!(name.as_bytes()[1], b'1'..=b'6');
        if !level && !name.eq_ignore_ascii_case("title") {
            continue;
        }
        // A tag ends before the next begins; of what follows only a short piece is looked at.
        let Some(end) = rest.find(['<', '>']).filter(|end| rest[*end..].starts_with('>')) else { continue };
        let piece = prefix(&rest[end + 1..], 2 * LINE_CHARS);
        let end = piece.to_ascii_lowercase().find(&format!("</{}", name.to_ascii_lowercase())).unwrap_or(piece.len());
        let mut shown = String::new();
        for (index, part) in piece[..end].split('<').enumerate() {
            shown.push_str(if index == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) });
        }
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        entries.push(format!("{name}: {}", truncate(&shown, LINE_CHARS)));
    }
    let (found, chars) = (entries.len(), text.chars().count());
    let mut open = format!("{found} headings, {tags} elements, {chars} characters");
    for (index, (name, count)) in names.iter().enumerate() {
        open += if index == 0 { ": " } else { ", " };
        open += &one_line(name);
        if *count > 1 {
            let _ = write!(open, " x{count}");
        }
    }
    (open + "\n", entries)
}

/// Lines that report errors, warnings and counts, each kind of line once; of prose also what begins a paragraph.
fn standouts(text: &str, prose: bool) -> (String, Vec<String>) {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    let (mut total, mut errors, mut warnings, mut blank) = (0, 0, 0, true);
    let mut last = None;
    for (number, line) in lines(text).enumerate() {
        total += 1;
        let signal = Signal::of(line);
        errors += usize::from(signal.error);
        warnings += usize::from(signal.warning);
        let begins = blank && (prose || number == 0);
        blank = line.trim().is_empty();
        last = Some((number, line)).filter(|_| !blank).or(last);
        if (signal.any() || begins) && !blank && (begins || seen.insert(kind_of_line(line))) {
            entries.push((number, line));
        }
    }
    if last.is_some() && entries.last() != last.as_ref() {
        entries.extend(last);
    }
    let open = format!("{total} lines, {errors} errors, {warnings} warnings\n");
    (open, entries.iter().map(|(number, line)| format!("{number}: {}", truncate(line, LINE_CHARS))).collect())
}

/// A line without its numbers, so that lines of one kind are equal.
pub(crate) fn kind_of_line(line: &str) -> u64 {
    let bytes = line.bytes().filter(|byte| !byte.is_ascii_digit());
    bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
