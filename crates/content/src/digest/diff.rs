//! Unified diffs: files with their counts, the changed lines that stand out.

use std::collections::HashMap;

use super::{DigestFacts, Rank, around, count};

/// Names candidates of a diff.
pub fn facts(text: &str, facts: &mut DigestFacts) {
    let (mut files, mut place) = (Vec::<DiffFile>::new(), 0);
    let mut changes = Vec::new();
    let mut in_hunk = false;
    for line in text.split_inclusive('\n') {
        let start = place;
        place += line.len();
        let line = line.trim_end();
        let opens = line.starts_with("diff --git ") || (line.starts_with("--- ") && !in_hunk && !has_header(&files));
        if opens {
            files.push(DiffFile {
                place: start,
                line,
                path: "",
                by_git: line.starts_with("diff "),
                added: 0,
                removed: 0,
            });
            in_hunk = false;
        }
        in_hunk |= line.starts_with("@@ ");
        let Some(file) = files.last_mut() else { continue };
        if !in_hunk {
            let path = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "));
            let path = path.filter(|path| *path != "/dev/null").map(|path| path.strip_prefix("b/").unwrap_or(path));
            file.path = path.unwrap_or(file.path);
            continue;
        }
        let (added, removed) = (line.starts_with('+'), line.starts_with('-'));
        file.added += usize::from(added);
        file.removed += usize::from(removed);
        if added || removed {
            changes.push((start, line));
        }
        // A diff without git's headers starts its next file inside what looks like a hunk.
        in_hunk &= !line.starts_with("--- ") || file.by_git;
    }
    let sum = |of: fn(&DiffFile) -> usize| files.iter().map(of).sum::<usize>();
    let head =
        format!("{} changed, +{} -{}", count(files.len(), "file"), sum(|file| file.added), sum(|file| file.removed));
    facts.add(Rank::Head, 0, "", &head);
    if let Some(first) = files.first() {
        facts.add(Rank::Ends, first.place, "", first.line);
    }
    for file in &files {
        let path = file.path.strip_prefix("a/").unwrap_or(file.path);
        facts.add(Rank::Schema, file.place + 1, &format!("+{} -{}", file.added, file.removed), path);
    }
    changed(&changes, facts);
}

struct DiffFile<'a> {
    place: usize,
    line: &'a str,
    path: &'a str,
    by_git: bool,
    added: usize,
    removed: usize,
}

fn has_header(files: &[DiffFile]) -> bool {
    files.last().is_some_and(|file| file.by_git && file.path.is_empty())
}

/// Changed lines whose first characters are rare among the changed lines come first.
fn changed(changes: &[(usize, &str)], facts: &mut DigestFacts) {
    let opening = |line: &str| -> String { line.chars().filter(|ch| !ch.is_whitespace()).take(3).collect() };
    let mut openings: HashMap<String, usize> = HashMap::new();
    for (_, line) in changes {
        *openings.entry(opening(line)).or_default() += 1;
    }
    for (place, line) in changes.iter().filter(|(_, line)| line.len() > 2) {
        let rare = openings.get(&opening(line)).is_some_and(|count| *count <= 1 + changes.len() / 20);
        facts.add(if rare { Rank::Odd } else { Rank::More }, place + 2, "", &around(line, 0));
    }
}
