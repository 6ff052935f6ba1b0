//! The texts that a recall may read, the likeliest first.

use std::borrow::Cow;
use std::collections::HashSet;

use super::owners::Owners;
use super::request::RecallRequest;
use super::search::Wanted;
use crate::compile::excerpt::split;
use crate::digest_note;
use crate::firewall::handle_of_item;
use crate::manager::ContextManager;
use contextweaver_base::limits::MAX_RECALL_BYTES;
use contextweaver_base::order::sort_by;
use contextweaver_content::essence;
use contextweaver_convert::providers::tool_name;
use contextweaver_model::{ContextItem, ItemKind};

/// Items and artifacts that are read at most.
const MAX_TEXTS: usize = 96;
/// Places that are kept, and how many may come together before the least are forgotten.
const MAX_PLACES: usize = 256;
const PLACES_ROOM: usize = 4096;
/// Artifacts that are named as not read.
const MAX_UNREAD: usize = 16;
/// The tools that only repeat what the log holds, and what a find in their calls and results counts.
const REPEATING: [&str; 2] = ["recall", "drilldown"];
const REPEATED: f64 = 0.5;

/// A text that is read.
pub(super) struct ReadText<'a> {
    pub item: Option<&'a ContextItem>,
    pub handle: Option<String>,
    /// Secrets masked, nothing else changed.
    pub text: Cow<'a, str>,
}

/// A piece of a text that holds words of the query.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub score: f64,
    pub text: usize,
    pub piece: usize,
    /// Whether the piece before it and the one after it hold words that it does not.
    pub grows: [bool; 2],
}

/// What is to be read: an item of the log, or an artifact that the index does not know.
#[derive(Clone)]
struct Candidate<'a> {
    item: Option<usize>,
    handle: Option<&'a str>,
    factor: f64,
}

/// The texts that were read, and where the words of the query stand in them.
pub(super) struct Texts<'a> {
    manager: &'a ContextManager,
    owners: Owners<'a>,
    only: Option<HashSet<&'a str>>,
    /// Tells of a position whether its item need not be found.
    is_visible: &'a dyn Fn(usize) -> bool,
    pub read: Vec<ReadText<'a>>,
    pub places: Vec<Place>,
    pub unread: Vec<String>,
    bytes: usize,
}

impl<'a> Texts<'a> {
    pub(super) fn new(
        manager: &'a ContextManager,
        request: &'a RecallRequest,
        is_visible: &'a dyn Fn(usize) -> bool,
    ) -> Self {
        let only = request.handles.as_ref().map(|handles| handles.iter().map(String::as_str).collect());
        let owners = Owners::new(&manager.events);
        Self { manager, owners, only, is_visible, read: Vec::new(), places: Vec::new(), unread: Vec::new(), bytes: 0 }
    }

    /// Reads what may hold the words, and notes where they stand.
    pub(super) fn read(&mut self, wanted: &Wanted) {
        for candidate in self.candidates(wanted) {
            self.read_one(&candidate, wanted);
        }
        rank(&mut self.places);
        self.drop_twins();
        let Self { manager, unread, .. } = self;
        for item in manager.events.items().iter().rev().filter(|item| item.kind == ItemKind::ToolResult) {
            let Some(artifact) = item.artifact_ref.as_ref().filter(|_| digest_note::tokens(item).is_some()) else {
                continue;
            };
            if unread.len() < MAX_UNREAD
                && !manager.artifacts.exists(&artifact.handle)
                && !unread.contains(&artifact.handle)
            {
                unread.push(artifact.handle.clone());
            }
        }
    }

    /// Returns items by their best passage, the newest of equals first, then the artifacts that the index does not know.
    fn candidates(&self, wanted: &Wanted) -> Vec<Candidate<'a>> {
        let manager = self.manager;
        let (items, passages) = (manager.events.items(), manager.index.passages());
        let mut best: Vec<(f64, usize)> = Vec::new();
        for (passage, score) in passages.iter().zip(wanted.passage_scores(&manager.index)) {
            let at = passage.at as usize;
            match best.last_mut() {
                _ if score == 0.0 => {}
                Some((known, last)) if *last == at => *known = known.max(score),
                _ => best.push((score, at)),
            }
        }
        let is_wanted = |at: usize| self.admits(&items[at]) && !(self.is_visible)(at);
        let weighed = best.into_iter().filter(|(_, at)| is_wanted(*at)).map(|(score, at)| {
            let factor = if self.repeats(&items[at]) { REPEATED } else { 1.0 };
            (score * factor, Candidate { item: Some(at), handle: None, factor })
        });
        let mut ranked: Vec<(f64, Candidate)> = weighed.collect();
        sort_by(&mut ranked, |a, b| b.0.total_cmp(&a.0).then(b.1.item.cmp(&a.1.item)));
        let indexed = ranked.into_iter().map(|(_, candidate)| candidate);
        indexed.take(MAX_TEXTS).chain(self.beside_the_index()).collect()
    }

    /// Tells whether an item may be read as far as the request goes, and the log.
    fn admits(&self, item: &ContextItem) -> bool {
        let named = |only: &HashSet<&str>| handle_of_item(item).is_some_and(|handle| only.contains(handle.as_str()));
        !item.is_superseded() && self.only.as_ref().is_none_or(named)
    }

    /// Tells whether an item is the call or the answer of a tool that repeats what stands elsewhere.
    fn repeats(&self, item: &ContextItem) -> bool {
        let call = || self.manager.events.find(item.parent_id.as_deref()?).and_then(tool_name);
        let name = match item.kind {
            ItemKind::ToolCall => tool_name(item),
            ItemKind::ToolResult => tool_name(item).or_else(call),
            _ => None,
        };
        name.is_some_and(|name| REPEATING.contains(&name)) || item.metadata.contains_key(digest_note::HANDLE_FIELD)
    }

    /// Returns the artifacts that the index does not know, or knows in part: those that no result of the log refers to,
    /// and those of which a prompt shows only chosen paths.
    fn beside_the_index(&self) -> Vec<Candidate<'a>> {
        let manager = self.manager;
        let is_indexed = |(at, item): (usize, &'a ContextItem)| {
            let handle = item.artifact_ref.as_ref().filter(|_| item.kind == ItemKind::ToolResult)?.handle.as_str();
            let is_whole = digest_note::tokens(item).is_none() || digest_note::is_reshaped(item);
            (is_whole || manager.index.entry(at).is_summarised()).then_some(handle)
        };
        let indexed: HashSet<&str> = manager.events.items().iter().enumerate().filter_map(is_indexed).collect();
        let is_wanted = |handle: &str| self.only.as_ref().is_none_or(|only| only.contains(handle));
        let media = |media_type: &str| ["image/", "audio/", "video/"].iter().any(|kind| media_type.starts_with(kind));
        let others = manager.artifacts.list().filter(|artifact| !media(&essence(&artifact.media_type)));
        let handles = others.map(|artifact| artifact.handle.as_str());
        let candidate = |handle| Candidate { item: None, handle: Some(handle), factor: 1.0 };
        handles.filter(|handle| !indexed.contains(handle) && is_wanted(handle)).map(candidate).collect()
    }

    fn read_one(&mut self, candidate: &Candidate<'a>, wanted: &Wanted) {
        let manager = self.manager;
        let item = candidate.item.map(|at| &manager.events.items()[at]);
        let handle = candidate.handle.map(str::to_owned).or_else(|| item.and_then(handle_of_item));
        let is_open = |item: &ContextItem| manager.open_sensitivity(item).is_some();
        let is_open = match &handle {
            Some(handle) => self.owners.of(handle).all(is_open),
            None => item.is_some_and(is_open),
        };
        if !is_open {
            return;
        }
        let size = handle.as_deref().and_then(|handle| manager.artifacts.peek(handle)).map_or(0, <[u8]>::len);
        if self.bytes.saturating_add(size) > MAX_RECALL_BYTES {
            self.unread.extend(handle.filter(|_| self.unread.len() < MAX_UNREAD));
            return;
        }
        let stored = handle.as_deref().and_then(|handle| self.stored(candidate, handle));
        // An item says something also where its bytes are not here, or are no text.
        let (handle, text) = match (stored, item) {
            (Some(text), _) => (handle, text),
            (None, Some(item)) => (None, manager.options.mask_secrets(&item.text)),
            (None, None) => return,
        };
        self.bytes += text.len();
        let at = self.read.len();
        let places = &mut self.places;
        wanted.places(&split(&text), |piece, score, grows| {
            places.push(Place { score: score * candidate.factor, text: at, piece, grows });
            if places.len() == PLACES_ROOM {
                rank(places);
            }
        });
        let owner = || self.owners.of(handle.as_deref()?).next();
        let item = item.or_else(owner);
        self.read.push(ReadText { item, handle, text });
    }

    /// Returns the text behind a handle with secrets masked, if it is here.
    fn stored(&self, candidate: &Candidate<'a>, handle: &str) -> Option<Cow<'a, str>> {
        let manager = self.manager;
        let clean = |at: usize| manager.index.entry(at).stored_clean(&manager.events.items()[at], &manager.artifacts);
        if let Some(text) = candidate.item.and_then(clean) {
            return Some(Cow::Borrowed(text));
        }
        let (text, _) = manager.stored_text(handle).ok()?;
        Some(match text {
            Cow::Borrowed(text) => manager.options.readable(text),
            Cow::Owned(text) => Cow::Owned(manager.options.readable(&text).into_owned()),
        })
    }
}

/// Sorts places by score, the best first, and keeps at most [`MAX_PLACES`].
fn rank(places: &mut Vec<Place>) {
    sort_by(places, |a, b| b.score.total_cmp(&a.score).then(a.text.cmp(&b.text)).then(a.piece.cmp(&b.piece)));
    places.truncate(MAX_PLACES);
}
