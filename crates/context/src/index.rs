//! What is known of every item before any build: its rendered text, its cost, its words.
//!
//! Maintained as items come in, so that a build only touches the words of the query and of the current turn.

use std::borrow::Cow;

use crate::callbacks::CallbackAnswers;
use crate::compile::repeats;
use crate::digest_note;
use crate::labels::{self, SectionMark};
use crate::options::ManagerOptions;
use crate::rules::{self, Said, ours};
use crate::store::{ArtifactStore, EventLog};
use contextweaver_base::order::sort_by;
use contextweaver_convert::providers::tool_name;
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::families;
use contextweaver_text::numbered::{Term, Terms};
use contextweaver_text::terms::{for_each_term, is_identifier, is_naming};
use contextweaver_text::unicode;

/// Terms of a passage. A long result is relevant when one passage of it is, however much else it holds.
const PASSAGE_TERMS: usize = 128;
/// What stands for no term.
const NO_TERM: u32 = u32::MAX;

/// Occurrences of a term in a passage.
#[derive(Debug, Clone, Copy)]
pub struct PassagePosting {
    pub passage: u32,
    pub count: u32,
}

/// A stretch of an item's text; a short item is one passage.
#[derive(Debug, Clone, Copy)]
pub struct Passage {
    /// Position of the item in the log.
    pub at: u32,
    pub length: u32,
}

/// Where the text behind a summary is.
#[derive(Debug, Clone)]
enum FullText {
    /// In the artifact store, fit to be shown as it is.
    Stored,
    /// Here, because secrets had to be masked or lines escaped.
    Own(Box<str>),
}

/// What is known of one item.
#[derive(Debug, Clone)]
pub struct IndexEntry {
    /// The body as rendered, where it differs from the item's text: secrets masked, labels escaped, function named.
    shown: Option<Box<str>>,
    /// Where the text stands in that body: behind the name of the function.
    unnamed: (u32, u32),
    /// The line below a digest that says what is left out.
    note: Option<Box<str>>,
    /// The whole result behind a summarised one, clean and escaped, for excerpts.
    source: Option<FullText>,
    /// Weight of the label line and the body, in quarter tokens.
    pub part_quarters: u64,
    /// Weight of the text with its note, in quarter tokens: what a message says.
    pub text_quarters: u64,
    /// Equal for items that repeat each other; 0 for an item that cannot be a repeat.
    pub fingerprint: u64,
    /// The function that the body begins with. A result right after its call need not name it again.
    function: Option<Box<str>>,
    /// Distinct terms in order of first occurrence.
    pub terms: Vec<u32>,
    /// What the user states in it.
    pub said: Box<[Said]>,
    /// Whether the item is a note that a prompt made itself, and that came back as a message.
    pub is_ours: bool,
}

impl IndexEntry {
    /// Returns the body as rendered.
    pub fn shown<'a>(&'a self, item: &'a ContextItem) -> &'a str {
        self.shown.as_deref().unwrap_or(&item.text)
    }

    /// Returns the line below a digest that says what is left out.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the text excerpts are taken from; that which is shown when the stored one is gone.
    pub fn source<'a>(&'a self, item: &'a ContextItem, artifacts: &'a ArtifactStore) -> &'a str {
        let (start, end) = self.unnamed;
        self.stored(item, artifacts)
            .or_else(|| self.shown.as_deref()?.get(start as usize..end as usize))
            .unwrap_or(&item.text)
    }

    /// Returns the longer text that the shown one stands for, while it is there.
    pub fn stored<'a>(&'a self, item: &'a ContextItem, artifacts: &'a ArtifactStore) -> Option<&'a str> {
        match self.source.as_ref()? {
            FullText::Stored => artifacts.text(&item.artifact_ref.as_ref()?.handle),
            FullText::Own(text) => Some(text),
        }
    }

    /// Returns the longer text with secrets masked and nothing else changed, while it is there.
    pub fn stored_text<'a>(
        &'a self,
        item: &ContextItem,
        artifacts: &'a ArtifactStore,
        options: &ManagerOptions,
    ) -> Option<Cow<'a, str>> {
        let raw = artifacts.text(&item.artifact_ref.as_ref()?.handle)?;
        Some(match self.source.as_ref()? {
            FullText::Stored => Cow::Borrowed(raw),
            FullText::Own(_) => options.readable(raw),
        })
    }

    /// Returns the longer text where it is stored in a form that is fit to be shown as it is.
    pub fn stored_clean<'a>(&self, item: &ContextItem, artifacts: &'a ArtifactStore) -> Option<&'a str> {
        match (&self.source, &item.artifact_ref) {
            (Some(FullText::Stored), Some(artifact)) => artifacts.text(&artifact.handle),
            _ => None,
        }
    }

    /// Returns the body of another text of the item.
    pub fn body(&self, item: &ContextItem, text: &str) -> String {
        labels::default_body(item, self.function.as_deref(), text).0
    }

    /// Tells whether the shown text stands for a longer one.
    pub fn is_summarised(&self) -> bool {
        self.source.is_some()
    }
}

/// The inverted index of a log.
#[derive(Debug, Clone, Default)]
pub struct LogIndex {
    vocabulary: Terms,
    postings: Vec<Vec<PassagePosting>>,
    identifiers: Vec<bool>,
    /// Terms that name one thing each, as far as their form tells, in the order in which they came.
    names: Vec<u32>,
    /// The roots that forms of a word share; the newest term of each root; and for every term the one before it.
    roots: Terms,
    newest_of_root: Vec<u32>,
    older_kin: Vec<u32>,
    /// Where the last item counted keeps each term; checked before use, so never cleared.
    slots: Vec<u32>,
    passages: Vec<Passage>,
    entries: Vec<IndexEntry>,
    /// Positions of the items in which the user states something, ascending.
    stated: Vec<usize>,
}

impl LogIndex {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what is known of the item at a position.
    pub fn entry(&self, at: usize) -> &IndexEntry {
        &self.entries[at]
    }

    /// Returns the positions of the items in which the user states something, ascending.
    pub fn stated(&self) -> &[usize] {
        &self.stated
    }

    /// Returns all passages, in log order.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Returns the id of a term that occurs in the log.
    pub fn term(&self, term: &str) -> Option<u32> {
        self.vocabulary.get(Term::Word(term))
    }

    /// Returns the text of a term.
    pub fn word(&self, term: u32) -> &str {
        self.vocabulary.word(term).unwrap_or_default()
    }

    /// Tells whether a term looks like an identifier.
    pub fn is_identifier(&self, term: u32) -> bool {
        self.identifiers[term as usize]
    }

    /// Returns the terms that look like the name of one thing: an id, a path, an address.
    pub fn names(&self) -> &[u32] {
        &self.names
    }

    /// Returns the number of distinct terms.
    pub fn terms(&self) -> usize {
        self.postings.len()
    }

    /// Returns the other terms that are forms of a term's word, whether it is in the log itself or not. In the order of their
    /// texts: that in which they came may be another one in a restored log, and sums depend on it.
    pub fn kin(&self, term: &str) -> Vec<u32> {
        let root = families::root(term).and_then(|root| self.roots.get(Term::Word(&root)));
        let mut next = root.map_or(NO_TERM, |root| self.newest_of_root[root as usize]);
        let mut kin = Vec::new();
        while next != NO_TERM {
            if self.word(next) != term {
                kin.push(next);
            }
            next = self.older_kin[next as usize];
        }
        sort_by(&mut kin, |a, b| self.word(*a).cmp(self.word(*b)));
        kin
    }

    /// Returns where a term occurs, in log order.
    pub fn postings(&self, term: u32) -> &[PassagePosting] {
        &self.postings[term as usize]
    }

    /// Adds the items of the log that are not in it yet; `is_clean` tells that the stored bytes behind them are known to hold
    /// no secrets.
    pub fn extend(&mut self, events: &EventLog, options: &ManagerOptions, artifacts: &ArtifactStore, is_clean: bool) {
        for at in self.entries.len()..events.len() {
            let item = &events.items()[at];
            let function = function_said(events, at).map(Into::into);
            self.push(item, function, options, artifacts, is_clean);
        }
    }

    fn push(
        &mut self,
        item: &ContextItem,
        function: Option<Box<str>>,
        options: &ManagerOptions,
        artifacts: &ArtifactStore,
        is_clean: bool,
    ) {
        let clean = options.mask_secrets(&item.text);
        let (source, found) = match source_of(item, options, artifacts, is_clean) {
            None => (None, self.terms_of(&unicode::visible(&clean))),
            Some(Cow::Borrowed(text)) => (Some(FullText::Stored), self.terms_of(text)),
            Some(Cow::Owned(text)) => (Some(FullText::Own(text.as_str().into())), self.terms_of(&text)),
        };
        let terms = self.add_passages(&found);
        let fingerprint = repeats::fingerprint(item);
        let reads = options.standing_rules && item.kind == ItemKind::UserTurn;
        let said = if reads { rules::said_in(&clean) } else { Box::default() };
        if !said.is_empty() {
            self.stated.push(self.entries.len());
        }
        let is_ours = reads && ours::is_ours(&clean);
        let (shown, note) = (None, None);
        self.entries.push(IndexEntry {
            shown,
            unnamed: (0, 0),
            note,
            source,
            part_quarters: 0,
            text_quarters: 0,
            fingerprint,
            function,
            terms,
            said,
            is_ours,
        });
        self.show(self.entries.len() - 1, item, options);
    }

    /// Renders the item at a position anew, after its text was replaced by another summary of the same source.
    pub fn show(&mut self, at: usize, item: &ContextItem, options: &ManagerOptions) {
        let clean = options.mask_secrets(&item.text);
        let (mut body, unnamed) = labels::default_body(item, self.entries[at].function.as_deref(), &clean);
        let quarters = |text: &str| options.estimator.quarters(text);
        let note = digest_note::note(item, options.estimator.tokens(&body));
        let below = note.as_ref().map_or(0, |note| 1 + quarters(note));
        let body_quarters = quarters(&body);
        let entry = &mut self.entries[at];
        entry.unnamed = (unnamed.start as u32, unnamed.end as u32);
        entry.part_quarters = quarters(&labels::label_line(item, SectionMark::None)) + 1 + body_quarters + below;
        entry.text_quarters = below + if body == clean { body_quarters } else { quarters(&clean) };
        if let Some(note) = &note {
            body = format!("{body}\n{note}");
        }
        entry.note = note.map(String::into_boxed_str);
        entry.shown = (body != item.text).then(|| body.into_boxed_str());
    }

    /// Returns the ids of a text's terms in order; new terms enter the vocabulary.
    fn terms_of(&mut self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        for_each_term(text, |term| {
            let id = self.vocabulary.intern(Term::Word(term));
            if id as usize == self.postings.len() {
                self.postings.push(Vec::new());
                self.identifiers.push(is_identifier(term));
                if is_naming(term) {
                    self.names.push(id);
                }
                self.slots.push(0);
                let newest = families::root(term).map(|root| self.roots.intern(Term::Word(&root)) as usize);
                self.older_kin.push(newest.and_then(|root| self.newest_of_root.get(root).copied()).unwrap_or(NO_TERM));
                if let Some(root) = newest {
                    self.newest_of_root.resize(self.roots.len(), NO_TERM);
                    self.newest_of_root[root] = id;
                }
            }
            found.push(id);
        });
        found
    }

    /// Enters the passages of the next item and returns its distinct terms, in order of first occurrence.
    fn add_passages(&mut self, terms: &[u32]) -> Vec<u32> {
        let at = self.entries.len() as u32;
        // Passages of one item are about equally long, so that none is favoured for being a remainder.
        let count = terms.len().div_ceil(PASSAGE_TERMS).max(1);
        let size = terms.len().div_ceil(count).max(1);
        let mut distinct = Vec::new();
        for stretch in terms.chunks(size) {
            let passage = self.passages.len() as u32;
            self.passages.push(Passage { at, length: stretch.len() as u32 });
            for (term, count) in self.count(stretch) {
                self.postings[term as usize].push(PassagePosting { passage, count });
                distinct.push(term);
            }
        }
        if count > 1 {
            // Passages share terms.
            distinct = self.count(&distinct).into_iter().map(|(term, _)| term).collect();
        }
        distinct
    }

    /// Counts terms, in order of first occurrence.
    fn count(&mut self, found: &[u32]) -> Vec<(u32, u32)> {
        let mut terms: Vec<(u32, u32)> = Vec::new();
        for &id in found {
            let slot = self.slots[id as usize] as usize;
            match terms.get_mut(slot) {
                Some((known, count)) if *known == id => *count += 1,
                _ => {
                    self.slots[id as usize] = terms.len() as u32;
                    terms.push((id, 1));
                }
            }
        }
        terms
    }
}

/// Returns the function that an item is rendered with: that of the call, unless a result stands right after it.
fn function_said(events: &EventLog, at: usize) -> Option<&str> {
    let item = &events.items()[at];
    if item.kind != ItemKind::ToolResult {
        return tool_name(item).filter(|_| item.kind == ItemKind::ToolCall);
    }
    let parent = item.parent_id.as_deref();
    let follows = at > 0 && parent == Some(events.items()[at - 1].id.as_str());
    // A call that came later would not be known had they come one by one.
    let of_call = || tool_name(&events.items()[events.position(parent?).filter(|call| *call < at)?]);
    if follows { None } else { tool_name(item).or_else(of_call) }
}

/// Returns the stored text behind a result whose own text is a summary of it, borrowed when it can be shown as it is.
fn source_of<'a>(
    item: &ContextItem,
    options: &ManagerOptions,
    artifacts: &'a ArtifactStore,
    is_clean: bool,
) -> Option<Cow<'a, str>> {
    let artifact = item.artifact_ref.as_ref().filter(|_| item.kind == ItemKind::ToolResult)?;
    let raw = artifacts.text(&artifact.handle).filter(|raw| raw.len() > item.text.len())?;
    if !digest_note::allows_excerpts(item) {
        return None;
    }
    let clean = if is_clean { Cow::Borrowed(raw) } else { options.readable(raw) };
    let source = match clean {
        Cow::Borrowed(clean) => labels::contained(clean),
        Cow::Owned(clean) => Cow::Owned(labels::contained(&clean).into_owned()),
    };
    // Longer for its colours alone, say, is no longer text.
    (source != labels::contained(&options.mask_secrets(&item.text))).then_some(source)
}

/// Returns the weight of a rendered section, counted by the caller's function where there is one.
pub fn part_quarters(
    item: &ContextItem,
    entry: &IndexEntry,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
) -> u64 {
    if !matches!(options.estimator, contextweaver_text::tokens::Estimator::Custom(_)) {
        return entry.part_quarters;
    }
    let part = format!("{}\n{}", labels::label_line(item, SectionMark::None), entry.shown(item));
    answers.quarters(&options.estimator, &part)
}
