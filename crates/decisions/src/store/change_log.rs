//! What changed, for hosts that keep a copy: events until they are taken, and a number for every decision and edge.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_base::limits::MAX_SEQUENCE;
use contextweaver_base::order::SortedMap;
use contextweaver_model::json::{Fields, as_uint, pointer};

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

/// By which change decisions and edges became what they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChangeNumbers {
    /// The last change of each decision.
    decisions: SortedMap<String, u64>,
    /// The last change of an edge that starts at each decision.
    #[serde(skip_serializing_if = "SortedMap::is_empty")]
    edges: SortedMap<String, u64>,
}

impl ChangeNumbers {
    /// Reads the numbers of a snapshot.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` and `OUT_OF_RANGE` with the path of what is no number of a change.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut read = |key: &'static str| -> Result<SortedMap<String, u64>> {
            let path = fields.at(key);
            let entries = fields.object(key)?.into_iter();
            let numbers = entries.map(|(id, value)| {
                let number = as_uint(&value, &pointer(&path, &id), MAX_SEQUENCE)?;
                Ok((id, number))
            });
            let mut all = SortedMap::new();
            all.extend(numbers.collect::<Result<Vec<_>>>()?);
            Ok(all)
        };
        Ok(Self { decisions: read("decisions")?, edges: read("edges")? })
    }

    /// Returns the numbers after a revision.
    fn since(&self, revision: u64) -> Self {
        let newer = |numbers: &SortedMap<String, u64>| {
            let mut newer = SortedMap::new();
            let entries = numbers.iter().filter(|(_, number)| **number > revision);
            newer.extend(entries.map(|(id, number)| (id.clone(), *number)));
            newer
        };
        Self { decisions: newer(&self.decisions), edges: newer(&self.edges) }
    }
}

/// The revision of a store, its events, and the revision of each decision and edge.
#[derive(Debug, Default)]
pub struct ChangeLog {
    revision: u64,
    events: Vec<ChangeEvent>,
    numbers: ChangeNumbers,
    /// The first revision from which on it is known what is gone.
    known_from: u64,
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

    /// Notes that something was imported; what, is noted with [`Self::touch`]. A store that became what another one was
    /// has its revision, too.
    pub fn note_import(&mut self, is_same: bool) {
        self.revision += u64::from(!is_same);
        self.push(ChangeEvent { kind: ChangeKind::Imported, revision: self.revision, id: None, target: None });
    }

    /// Counts a change of what is told whole, such as the guardrails.
    pub const fn count(&mut self) {
        self.revision += 1;
    }

    /// Gives a decision a new number without an event of its own.
    pub fn touch(&mut self, id: &str) {
        self.revision += 1;
        self.numbers.decisions.insert(id.to_owned(), self.revision);
    }

    /// Gives the edges that start at a decision a new number without an event of their own.
    pub fn touch_edge(&mut self, source: &str) {
        self.revision += 1;
        self.numbers.edges.insert(source.to_owned(), self.revision);
    }

    /// Gives a decision the number that it had in the store it comes from, or a new one.
    pub fn touch_as(&mut self, id: &str, before: Option<&ChangeNumbers>) {
        match before.and_then(|numbers| numbers.decisions.get(id)).filter(|number| **number <= self.revision) {
            Some(number) => drop(self.numbers.decisions.insert(id.to_owned(), *number)),
            None => self.touch(id),
        }
    }

    /// Gives the edges that start at a decision the number that they had, or a new one.
    pub fn touch_edge_as(&mut self, source: &str, before: Option<&ChangeNumbers>) {
        match before.and_then(|numbers| numbers.edges.get(source)).filter(|number| **number <= self.revision) {
            Some(number) => drop(self.numbers.edges.insert(source.to_owned(), *number)),
            None => self.touch_edge(source),
        }
    }

    /// Returns the numbers of what changed after a revision.
    pub fn numbers_since(&self, revision: u64) -> ChangeNumbers {
        self.numbers.since(revision)
    }

    /// Tells whether a decision changed after a revision.
    pub fn is_newer(&self, id: &str, revision: u64) -> bool {
        self.numbers.decisions.get(id).is_some_and(|changed| *changed > revision)
    }

    /// Tells whether an edge that starts at a decision changed after a revision.
    pub fn has_newer_edge(&self, source: &str, revision: u64) -> bool {
        self.numbers.edges.get(source).is_some_and(|changed| *changed > revision)
    }

    /// Continues the numbers of the store that this one replaces, so that its revisions stay in the past.
    pub fn continue_from(&mut self, revision: u64) {
        self.revision = self.revision.max(revision.min(MAX_SEQUENCE));
    }

    /// Notes that all decisions went: it cannot be told which.
    pub const fn note_replaced(&mut self) {
        self.known_from = self.revision + 1;
    }

    /// Tells whether all is known that changed after a revision.
    pub const fn knows_since(&self, revision: u64) -> bool {
        revision >= self.known_from
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
