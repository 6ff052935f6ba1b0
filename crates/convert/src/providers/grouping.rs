//! Which parts of a response become an item of their own, and which are stored with a neighbour.

use super::message::{MessagePart, PartKind};

/// A part with its place in the list of messages.
pub struct PositionedPart {
    /// Index of its message in the list that was read.
    pub message: usize,
    /// Index of the part in the message.
    pub index: usize,
    pub part: MessagePart,
}

/// The parts that one item is made of.
pub struct PartGroup {
    pub kind: PartGroupKind,
    /// Indices of the parts in the response.
    pub parts: Vec<usize>,
}

/// What the item of a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartGroupKind {
    /// Text, with media and other parts without text.
    Text,
    ToolCall,
    ToolResult,
    /// A call that the provider ran itself.
    ServerCall,
    /// Its result.
    ServerResult,
}

/// Returns what a part makes an item of; none if it is only stored with another.
pub const fn group_kind(kind: &PartKind) -> Option<PartGroupKind> {
    match kind {
        PartKind::Text | PartKind::Opaque => Some(PartGroupKind::Text),
        PartKind::ToolCall { .. } => Some(PartGroupKind::ToolCall),
        PartKind::ToolResult { .. } => Some(PartGroupKind::ToolResult),
        PartKind::ServerCall { .. } => Some(PartGroupKind::ServerCall),
        PartKind::ServerResult { .. } => Some(PartGroupKind::ServerResult),
        PartKind::Reasoning | PartKind::Marker => None,
    }
}

/// Groups the parts of one response of the model, or of another message, into items: texts that follow each other are
/// one, a call and a result are one each, and a part without text goes to a neighbour. Reasoning goes to the first call
/// after it, which a provider refuses without it; results come last, but for those of the provider, of which the model goes
/// on to speak.
pub fn group_parts(parts: &[PositionedPart]) -> Vec<PartGroup> {
    let mut groups: Vec<PartGroup> = Vec::new();
    // The group that each part starts or joins.
    let mut own_group: Vec<Option<usize>> = vec![None; parts.len()];
    let mut open_text: Option<(usize, usize)> = None;
    for (index, part) in parts.iter().enumerate() {
        let shows = !part.part.slots.is_empty();
        match group_kind(&part.part.kind).filter(|kind| shows || *kind != PartGroupKind::Text) {
            None => {}
            Some(PartGroupKind::Text) => {
                let group =
                    open_text.filter(|(message, _)| *message == part.message).map_or(groups.len(), |(_, group)| group);
                if group == groups.len() {
                    groups.push(PartGroup { kind: PartGroupKind::Text, parts: Vec::new() });
                }
                open_text = Some((part.message, group));
                own_group[index] = Some(group);
            }
            Some(kind) => {
                own_group[index] = Some(groups.len());
                groups.push(PartGroup { kind, parts: Vec::new() });
                open_text = None;
            }
        }
    }
    if groups.is_empty() && !parts.is_empty() {
        groups.push(PartGroup { kind: PartGroupKind::Text, parts: Vec::new() });
        own_group[0] = Some(0);
    }
    let assigned = assign(parts, &own_group, &groups);
    for (index, group) in assigned.into_iter().enumerate() {
        groups[group].parts.push(index);
    }
    let (mut others, results): (Vec<PartGroup>, Vec<PartGroup>) =
        if groups.iter().any(|group| group.kind == PartGroupKind::ToolCall) {
            groups.into_iter().partition(|group| group.kind != PartGroupKind::ToolResult)
        } else {
            (groups, Vec::new())
        };
    others.extend(results);
    others
}

/// Returns the group of each part.
fn assign(parts: &[PositionedPart], own_group: &[Option<usize>], groups: &[PartGroup]) -> Vec<usize> {
    let mut assigned = vec![0; parts.len()];
    // What follows, seen from the end: any group, one that is no result, a call.
    let (mut next, mut next_call) = (None, None);
    let mut following = vec![(None, None); parts.len()];
    for index in (0..parts.len()).rev() {
        if let Some(group) = own_group[index] {
            match groups[group].kind {
                PartGroupKind::ToolCall => (next, next_call) = (Some(group), Some(group)),
                PartGroupKind::Text | PartGroupKind::ServerCall => next = Some(group),
                PartGroupKind::ToolResult | PartGroupKind::ServerResult => {}
            }
        }
        following[index] = (next, next_call);
    }
    let mut before = None;
    for (index, part) in parts.iter().enumerate() {
        let (next, next_call) = following[index];
        let found = match (own_group[index], &part.part.kind) {
            (Some(group), _) => {
                if groups[group].kind != PartGroupKind::ToolResult {
                    before = Some(group);
                }
                Some(group)
            }
            (None, PartKind::Reasoning) => next_call.or(next).or(before),
            (None, PartKind::Marker) => next.or(before),
            (None, _) => before.or(next),
        };
        assigned[index] = found.unwrap_or(0);
    }
    assigned
}
