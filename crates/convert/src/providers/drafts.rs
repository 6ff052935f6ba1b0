//! Which parts of what was said in one go become an item of their own, and which ride on a neighbour.

use super::part::{Body, Part};

/// A part with its message.
pub struct Flat {
    /// Index in the list that was read.
    pub entry: usize,
    /// Place in the message.
    pub at: usize,
    /// The part.
    pub part: Part,
}

/// An item being made.
pub struct Draft {
    /// What it will be.
    pub kind: DraftKind,
    /// Its parts, by position among the parts of what was said in one go.
    pub parts: Vec<usize>,
}

/// What an item is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftKind {
    /// Text and what stands in it.
    Run,
    /// A call.
    Call,
    /// A result.
    Result,
}

/// Tells what a part makes an item of, or none if it only rides on others.
pub const fn kind_of(body: &Body) -> Option<DraftKind> {
    match body {
        Body::Text | Body::Opaque => Some(DraftKind::Run),
        Body::Call { .. } => Some(DraftKind::Call),
        Body::Result { .. } => Some(DraftKind::Result),
        Body::Reasoning | Body::Mark => None,
    }
}

/// Sorts the parts of what was said in one go into items: texts that follow each other are one, a call and a result are
/// one each, and what has no text rides on a neighbour. Reasoning rides on the first call after it, as it may not be
/// without it; results come last.
pub fn drafts(flats: &[Flat]) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    // For every part the draft it made or joined.
    let mut own: Vec<Option<usize>> = vec![None; flats.len()];
    let mut open: Option<(usize, usize)> = None;
    for (index, flat) in flats.iter().enumerate() {
        let shows = !flat.part.slots.is_empty();
        match kind_of(&flat.part.body).filter(|kind| shows || *kind != DraftKind::Run) {
            None => {}
            Some(DraftKind::Run) => {
                let draft = open.filter(|(entry, _)| *entry == flat.entry).map_or(drafts.len(), |(_, draft)| draft);
                if draft == drafts.len() {
                    drafts.push(Draft { kind: DraftKind::Run, parts: Vec::new() });
                }
                open = Some((flat.entry, draft));
                own[index] = Some(draft);
            }
            Some(kind) => {
                own[index] = Some(drafts.len());
                drafts.push(Draft { kind, parts: Vec::new() });
                open = None;
            }
        }
    }
    if drafts.is_empty() && !flats.is_empty() {
        drafts.push(Draft { kind: DraftKind::Run, parts: Vec::new() });
        own[0] = Some(0);
    }
    let homes = homes(flats, &own, &drafts);
    for (index, home) in homes.into_iter().enumerate() {
        drafts[home].parts.push(index);
    }
    let (mut said, results): (Vec<Draft>, Vec<Draft>) = if drafts.iter().any(|draft| draft.kind == DraftKind::Call) {
        drafts.into_iter().partition(|draft| draft.kind != DraftKind::Result)
    } else {
        (drafts, Vec::new())
    };
    said.extend(results);
    said
}

/// Finds for every part the draft it belongs to.
fn homes(flats: &[Flat], own: &[Option<usize>], drafts: &[Draft]) -> Vec<usize> {
    let mut homes = vec![0; flats.len()];
    // What follows, seen from the end: any draft, one that is no result, a call.
    let (mut next, mut next_call) = (None, None);
    let mut following = vec![(None, None); flats.len()];
    for index in (0..flats.len()).rev() {
        if let Some(draft) = own[index] {
            match drafts[draft].kind {
                DraftKind::Call => (next, next_call) = (Some(draft), Some(draft)),
                DraftKind::Run => next = Some(draft),
                DraftKind::Result => {}
            }
        }
        following[index] = (next, next_call);
    }
    let mut before = None;
    for (index, flat) in flats.iter().enumerate() {
        let (next, next_call) = following[index];
        let found = match (own[index], &flat.part.body) {
            (Some(draft), _) => {
                if drafts[draft].kind != DraftKind::Result {
                    before = Some(draft);
                }
                Some(draft)
            }
            (None, Body::Reasoning) => next_call.or(next).or(before),
            (None, Body::Mark) => next.or(before),
            (None, _) => before.or(next),
        };
        homes[index] = found.unwrap_or(0);
    }
    homes
}
