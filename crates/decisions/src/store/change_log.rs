//! What changed, for hosts that keep a copy: events until they are taken, and a number for every decision and edge.

use serde::Serialize;

use contextweaver_base::order::SortedMap;

/// Events that are kept until the host takes them; a host that missed some exports what is new since its revision.
const MAX_EVENTS: usize = 1000;

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A decision was logged.
    Recorded,
    /// A decision was changed.
    Updated,
    /// A decision was reviewed.
    Reviewed,
    /// A thought was added to a decision.
    Thought,
    /// Two decisions were linked.
    Linked,
    /// Decisions were imported.
    Imported,
}

/// A change, for hosts that keep a copy of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeEvent {
    /// What the change did.
    #[serde(rename = "type")]
    pub kind: ChangeKind,
    /// Revision of the store after it.
    pub revision: u64,
    /// The decision, or the source of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Target of the edge, for links.
    #[serde(rename = "targetId", skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// The revision of a store, its events, and the revision of each decision and edge.
#[derive(Debug, Default)]
pub struct ChangeLog {
    revision: u64,
    events: Vec<ChangeEvent>,
    /// The last change of each decision.
    decisions: SortedMap<String, u64>,
    /// The last change of an edge that starts at each decision.
    edges: SortedMap<String, u64>,
}

impl ChangeLog {
    /// Returns the number of the last change.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Notes a change of a decision.
    pub fn note(&mut self, kind: ChangeKind, id: &str) {
        self.touch(id);
        self.push(ChangeEvent { kind, revision: self.revision, id: Some(id.to_owned()), target: None });
    }

    /// Notes that two decisions were linked.
    pub fn note_link(&mut self, source: &str, target: &str) {
        self.touch_edge(source);
        let (id, target) = (Some(source.to_owned()), Some(target.to_owned()));
        self.push(ChangeEvent { kind: ChangeKind::Linked, revision: self.revision, id, target });
    }

    /// Notes that something was imported; what, is noted with [`Self::touch`].
    pub fn note_import(&mut self) {
        self.revision += 1;
        self.push(ChangeEvent { kind: ChangeKind::Imported, revision: self.revision, id: None, target: None });
    }

    /// Gives a decision a new number without an event of its own.
    pub fn touch(&mut self, id: &str) {
        self.revision += 1;
        self.decisions.insert(id.to_owned(), self.revision);
    }

    /// Gives the edges that start at a decision a new number without an event of their own.
    pub fn touch_edge(&mut self, source: &str) {
        self.revision += 1;
        self.edges.insert(source.to_owned(), self.revision);
    }

    /// Tells whether a decision changed after a revision.
    pub fn is_newer(&self, id: &str, revision: u64) -> bool {
        self.decisions.get(id).is_some_and(|changed| *changed > revision)
    }

    /// Tells whether an edge that starts at a decision changed after a revision.
    pub fn has_newer_edge(&self, source: &str, revision: u64) -> bool {
        self.edges.get(source).is_some_and(|changed| *changed > revision)
    }

    /// Continues the numbers of the store that this one replaces, so that its revisions stay in the past.
    pub fn continue_from(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
    }

    /// Hands out what happened since the last time.
    pub fn take_events(&mut self) -> Vec<ChangeEvent> {
        std::mem::take(&mut self.events)
    }

    fn push(&mut self, change: ChangeEvent) {
        if self.events.len() == MAX_EVENTS {
            self.events.remove(0);
        }
        self.events.push(change);
    }
}
