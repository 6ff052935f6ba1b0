//! Parts of a prompt that this package wrote itself, recognised where the prompt comes back as a history.

/// The line above the standing instructions.
pub const TITLE: &str = "[STANDING INSTRUCTIONS]";
/// The line above the ledger, and the words before its names.
pub const LEDGER_TITLE: &str = "[LEFT OUT]";
pub const LEDGER_OPENING: &str = "recall finds: ";
/// The place of what was said before the log begins.
pub const EARLIER: &str = "earlier";
/// The place of what the caller added, and what is said of a place where it put other words.
pub const ADDED: &str = "added";
pub const CORRECTED: &str = "corrected";

/// Tells whether a turn is one that a prompt of this package had beside those of the conversation.
pub fn is_ours(text: &str) -> bool {
    rules_of(text).is_some() || is_ledger(text)
}

fn is_ledger(text: &str) -> bool {
    text.strip_prefix(LEDGER_TITLE).is_some_and(|rest| rest.starts_with('\n') && rest[1..].starts_with(LEDGER_OPENING))
}

/// Returns the instructions of a text that is such a list, without the places; none where it is something else.
pub fn rules_of(text: &str) -> Option<impl Iterator<Item = &str>> {
    let rest = text.strip_prefix(TITLE)?.strip_prefix('\n')?;
    let (list, below) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let is_list = list.lines().all(|line| item(line).is_some()) && (below.is_empty() || is_ledger(below));
    is_list.then(|| list.lines().filter_map(item))
}

/// Returns what a line of the list says.
fn item(line: &str) -> Option<&str> {
    let (text, place) = line.strip_prefix("- ")?.rsplit_once(" (")?;
    place.ends_with(')').then_some(text)
}
