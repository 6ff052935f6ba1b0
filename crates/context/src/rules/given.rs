//! What the caller's function says of the statements of a turn.

use super::Said;
use super::find::StatementKind;

/// A statement of a user turn as the caller's function tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenStatement {
    pub text: String,
    pub kind: Option<StatementKind>,
    pub is_once: bool,
}

impl GivenStatement {
    /// Makes one that was found; `turn` is what its words may stand in, on one line.
    pub fn said(&self, turn: &str, mask: &impl Fn(&str) -> String) -> Said {
        let mut said = Said::of_caller(&mask(&self.text), self.kind);
        said.statement.is_once = self.is_once;
        said.is_callers = !turn.contains(&*said.text);
        said.is_given = true;
        said
    }
}
