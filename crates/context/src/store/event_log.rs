//! The append-only log of a conversation.

use std::collections::HashMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::unknown::{ITEM, RecordWithRest, Unknown, write_list};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, there_are};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;

/// Items in the order they came, found by id and by parent in constant time; as JSON, `{"items": [...]}`.
///
/// ```
/// use contextweaver_context::store::EventLog;
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let mut log = EventLog::new();
/// log.append(ContextItem::new("c1", ItemKind::ToolCall, "{}"))?;
/// let mut result = ContextItem::new("r1", ItemKind::ToolResult, "ok");
/// result.parent_id = Some("c1".to_owned());
/// log.append(result)?;
/// assert_eq!(log.parent("r1")?.unwrap().id, "c1");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventLog {
    items: Vec<ContextItem>,
    by_id: HashMap<String, usize>,
    children: HashMap<String, Vec<usize>>,
    /// By position: that of the parent, so that a build need not look up every id.
    parents: Vec<Option<u32>>,
    limit: usize,
    unknown: Unknown,
    changes: u64,
    /// By position: the change that made the item what it is.
    changed: Vec<u64>,
    /// The change after which the log was put in another order last.
    rearranged: u64,
}

impl Default for EventLog {
    fn default() -> Self {
        Self::with_limit(limits::MAX_ITEMS)
    }
}

impl EventLog {
    /// Makes an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty log of at most `limit` items.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            items: Vec::new(),
            by_id: HashMap::new(),
            children: HashMap::new(),
            parents: Vec::new(),
            limit,
            unknown: Unknown::default(),
            changes: 0,
            changed: Vec::new(),
            rearranged: 0,
        }
    }

    /// Checks that a batch could be appended: ids free, room left. Paths name the item of the batch at fault.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` when the log would have too many items; `DUPLICATE_ID` at `/<index>/id` when an id is taken.
    pub fn check(&self, batch: &[ContextItem]) -> Result<()> {
        if self.items.len() + batch.len() > self.limit {
            return Err(Error::new(
                ErrorCode::QuotaExceeded,
                format!("the log would have {} items, the limit is {}", self.items.len() + batch.len(), self.limit),
            ));
        }
        let mut fresh = std::collections::HashSet::with_capacity(batch.len());
        for (index, item) in batch.iter().enumerate() {
            if self.by_id.contains_key(&item.id) || !fresh.insert(item.id.as_str()) {
                return Err(Error::new(ErrorCode::DuplicateId, format!("an item with id {} exists", quote(&item.id)))
                    .at(format!("/{index}/id")));
            }
        }
        Ok(())
    }

    /// Appends a batch, all or nothing.
    ///
    /// # Errors
    /// Those of [`EventLog::check`].
    pub fn append_all(&mut self, batch: Vec<ContextItem>) -> Result<()> {
        self.check(&batch)?;
        for item in batch {
            self.push(item);
        }
        Ok(())
    }

    /// Appends one item.
    ///
    /// # Errors
    /// Those of [`EventLog::check`].
    pub fn append(&mut self, item: ContextItem) -> Result<()> {
        self.append_all(vec![item])
    }

    /// Puts an item in the place of another with the same id and parent.
    pub fn replace(&mut self, position: usize, item: ContextItem) {
        let same = |old: &ContextItem| old.id == item.id && old.parent_id == item.parent_id;
        if self.items.get(position).is_some_and(same) {
            self.items[position] = item;
            self.changes += 1;
            self.changed[position] = self.changes;
        }
    }

    /// Puts the log in another order, by positions.
    pub(crate) fn rearrange(&mut self, order: &[usize]) {
        let changed = std::mem::take(&mut self.changed);
        self.changes += 1;
        self.rearranged = self.changes;
        let mut items: Vec<Option<ContextItem>> = std::mem::take(&mut self.items).into_iter().map(Some).collect();
        self.by_id.clear();
        self.children.clear();
        self.parents.clear();
        for (at, item) in order.iter().filter_map(|at| Some((*at, items.get_mut(*at)?.take()?))) {
            self.place(item, changed[at]);
        }
    }

    fn push(&mut self, item: ContextItem) {
        self.changes += 1;
        self.place(item, self.changes);
    }

    fn place(&mut self, item: ContextItem, changed: u64) {
        let position = self.items.len();
        self.by_id.insert(item.id.clone(), position);
        // Some may have come before their parent.
        for child in self.children.get(&item.id).into_iter().flatten() {
            self.parents[*child] = u32::try_from(position).ok();
        }
        let parent = item.parent_id.as_deref().and_then(|parent| self.position(parent));
        self.parents.push(parent.and_then(|parent| u32::try_from(parent).ok()));
        if let Some(parent) = &item.parent_id {
            self.children.entry(parent.clone()).or_default().push(position);
        }
        self.items.push(item);
        self.changed.push(changed);
    }

    /// Returns how often an item was appended or replaced.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Goes on counting from a number of changes, as if nothing had changed since.
    pub(crate) fn count_from(&mut self, changes: u64) {
        self.changes = changes;
        self.changed.fill(changes);
    }

    /// Returns the change after which the log was put in another order last; 0 for none.
    pub(crate) fn rearranged(&self) -> u64 {
        self.rearranged
    }

    /// Returns the positions of the items that were appended or replaced after a change, ascending.
    pub(crate) fn changed_since(&self, change: u64) -> impl Iterator<Item = usize> {
        self.changed.iter().enumerate().filter(move |(_, changed)| **changed > change).map(|(at, _)| at)
    }

    /// Returns the JSON of an item, with what is not known of it.
    pub(crate) fn record(&self, position: usize) -> impl Serialize {
        let item = &self.items[position];
        RecordWithRest(item, self.unknown.of(&item.id))
    }

    /// Tells whether something of an item is not known.
    pub(crate) fn has_unknown(&self, id: &str) -> bool {
        self.unknown.of(id).is_some()
    }

    /// Forgets what is not known of an item.
    pub(crate) fn forget_unknown(&mut self, id: &str) {
        self.unknown.forget(id);
    }

    /// Takes an item as [`EventLog::record`] wrote it.
    pub(crate) fn read_record(&mut self, mut record: Value, at: &str) -> Result<ContextItem> {
        let unknown = ITEM.split(&mut record);
        let item = ContextItem::from_value(record, at)?;
        self.unknown.keep(&item.id, unknown);
        Ok(item)
    }

    /// Returns all items, oldest first.
    pub fn items(&self) -> &[ContextItem] {
        &self.items
    }

    /// Takes the log apart: its items, and what its snapshot held beside them.
    pub fn into_parts(self) -> (Vec<ContextItem>, Unknown) {
        (self.items, self.unknown)
    }

    /// Keeps what a snapshot held that is not known.
    pub fn keep_unknown(&mut self, unknown: Unknown) {
        self.unknown = unknown;
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Tells whether the log is empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the position of an id.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns the item with this id, if there is one.
    pub fn find(&self, id: &str) -> Option<&ContextItem> {
        self.position(id).map(|position| &self.items[position])
    }

    /// Returns the item with this id. The error is dear, as it names those there are: whoever expects none calls
    /// [`EventLog::find`].
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none.
    pub fn get(&self, id: &str) -> Result<&ContextItem> {
        self.find(id).ok_or_else(|| self.missing(id))
    }

    /// Makes the error for an id that no item has.
    pub fn missing(&self, id: &str) -> Error {
        let ids = self.items.iter().map(|item| item.id.as_str());
        Error::new(ErrorCode::NotFound, format!("no item with id {}", quote(id))).hint(there_are(id, "item", ids))
    }

    /// Returns the last items, oldest first.
    pub fn tail(&self, count: usize) -> &[ContextItem] {
        &self.items[self.items.len().saturating_sub(count)..]
    }

    /// Returns the items whose parent is this id, which itself need not exist.
    pub fn children(&self, id: &str) -> impl Iterator<Item = &ContextItem> {
        self.child_positions(id).iter().map(|position| &self.items[*position])
    }

    /// Returns the positions of the items whose parent is this id, ascending.
    pub fn child_positions(&self, id: &str) -> &[usize] {
        self.children.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns the parent of an item, if it has one in the log.
    ///
    /// # Errors
    /// `NOT_FOUND` when the item itself is not there.
    pub fn parent(&self, id: &str) -> Result<Option<&ContextItem>> {
        let item = self.get(id)?;
        Ok(item.parent_id.as_deref().and_then(|parent| self.find(parent)))
    }

    /// Returns the position of the parent of the item at a position, if it has one in the log.
    pub fn parent_position(&self, position: usize) -> Option<usize> {
        self.parents.get(position).copied().flatten().map(|parent| parent as usize)
    }

    /// Returns the items of a kind from a position on, at most `limit` of them.
    pub fn query(&self, kinds: Option<&[ItemKind]>, since: usize, limit: usize) -> Vec<&ContextItem> {
        self.items
            .iter()
            .skip(since)
            .filter(|item| kinds.is_none_or(|kinds| kinds.contains(&item.kind)))
            .take(limit)
            .collect()
    }

    /// Returns the items of some kinds, in log order.
    pub fn filter_by_kind(&self, kinds: &[ItemKind]) -> Vec<&ContextItem> {
        self.query(Some(kinds), 0, usize::MAX)
    }

    /// Reads a snapshot; unknown fields are kept.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `DUPLICATE_ID`, `QUOTA_EXCEEDED` and the like, at paths below `path`.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let at = fields.at("items");
        let mut log = Self::new();
        let mut items = Vec::new();
        for (item, unknown) in ITEM.take(&mut fields, "items", ContextItem::from_value)? {
            log.unknown.keep(&item.id, unknown);
            items.push(item);
        }
        log.append_all(items).map_err(|error| {
            let path = format!("{at}{}", error.path());
            error.under(path)
        })?;
        log.unknown.top = fields.rest();
        Ok(log)
    }
}

impl Serialize for EventLog {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let records = self.items.iter().map(|item| RecordWithRest(item, self.unknown.of(&item.id)));
        write_list(s, "items", &records.collect::<Vec<_>>(), &self.unknown.top)
    }
}
