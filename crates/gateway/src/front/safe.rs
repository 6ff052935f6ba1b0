//! Text of servers within text of the gateway.

use crate::failure::upstream_detail_within;

/// Characters of a name or a short text that somebody else wrote.
const LINE_CHARS: usize = 160;

/// Makes a name or a short text of somebody else fit to stand in a line of ours: in one line, so that no line of it looks
/// like one of ours, without what hides and without credentials.
pub(crate) fn safe_line(text: &str) -> String {
    upstream_detail_within(text, LINE_CHARS)
}
