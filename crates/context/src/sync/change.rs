//! What is new in a conversation, and what is gone from it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use super::align::{Fingerprint, align};
use super::record::{KnownMessage, blocks_of, fingerprint};

/// Most messages between a call and its result in a format whose results have no ids.
const OPEN_MESSAGES: usize = 16;
/// Most blocks that are tried as added to a message: each try hashes the message.
const ADDED_BLOCKS: usize = 8;

/// The messages of a conversation now, beside those that were read before.
#[derive(Debug)]
pub struct Change {
    before: Vec<KnownMessage>,
    now: Vec<KnownMessage>,
    /// For each message now, the one before that it is.
    earlier: Vec<Option<usize>>,
    /// The messages before that are only left out at the front.
    trimmed: Range<usize>,
    /// How many messages now are the instructions that stay in front.
    lead: usize,
    grown: Option<Grown>,
}

/// The last message before, to which the client has added blocks: an agent that is interrupted does so with the next words
/// of its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grown {
    before: usize,
    /// Its index now.
    pub now: usize,
    /// How many blocks it had before.
    pub blocks: usize,
}

impl Change {
    /// Compares; `is_whole` says whether these are all messages of the conversation, but for instructions in front that stayed,
    /// and not what comes after others.
    pub fn new(before: Vec<KnownMessage>, now: Vec<KnownMessage>, is_whole: bool) -> Self {
        // Instructions stay in front of a conversation that is trimmed behind them.
        let lead = |list: &[KnownMessage]| {
            if is_whole { list.iter().take_while(|message| message.is_system).count() } else { 0 }
        };
        let prints = |list: &[KnownMessage]| list.iter().map(|message| message.print).collect::<Vec<Fingerprint>>();
        let (old, new) = (lead(&before), lead(&now));
        let leads = align(&prints(&before[..old]), &prints(&now[..new]), false);
        let body = align(&prints(&before[old..]), &prints(&now[new..]), is_whole);
        let shifted = body.earlier.into_iter().map(|earlier| earlier.map(|at| at + old));
        let earlier = leads.earlier.into_iter().chain(shifted).collect();
        let first = if new == 0 && body.trimmed > 0 { 0 } else { old };
        Self { before, now, earlier, trimmed: first..old + body.trimmed, lead: new, grown: None }
    }

    /// Takes what the user's last message has more than before for what is new of it. `lead` is how many of
    /// what is compared stand before all messages.
    pub fn grow(&mut self, messages: &[Value], lead: usize) {
        let Some(before) = self.before.len().checked_sub(1) else { return };
        let now = match before.checked_sub(1) {
            None => 0,
            Some(above) => match self.earlier.iter().position(|earlier| *earlier == Some(above)) {
                Some(at) => at + 1,
                None => return,
            },
        };
        if self.trimmed.contains(&before) || self.earlier.get(now) != Some(&None) {
            return;
        }
        let message = now.checked_sub(lead).and_then(|at| messages.get(at));
        let Some(message) = message.filter(|message| message.get("role").is_some_and(|role| role == "user")) else {
            return;
        };
        let mut shorter = message.clone();
        let count = blocks_of(&mut shorter).map_or(0, |blocks| blocks.len());
        for blocks in (count.saturating_sub(ADDED_BLOCKS).max(1)..count).rev() {
            if let Some(list) = blocks_of(&mut shorter) {
                list.truncate(blocks);
            }
            if fingerprint(&shorter) == self.before[before].print {
                self.grown = Some(Grown { before, now, blocks });
                return;
            }
        }
    }

    /// Returns the message to which blocks were added.
    pub fn grown(&self) -> Option<Grown> {
        self.grown
    }

    /// Takes messages for new ones that answer calls of messages that are gone and, unless results name their calls, those
    /// that no longer follow on the call that they answered. `call_of` tells which call an item is the result of.
    pub fn renew_answers(&mut self, has_ids: bool, call_of: impl Fn(&str) -> Option<String>) {
        let gone: HashSet<String> = self.gone().flat_map(|message| message.items.iter().cloned()).collect();
        let is_appended = self.earlier.iter().skip_while(|earlier| earlier.is_some()).all(Option::is_none);
        if gone.is_empty() && (has_ids || is_appended) {
            return;
        }
        // By the item: how many messages were new up to its own.
        let mut fresh_up_to: HashMap<&str, usize> = HashMap::new();
        let mut fresh = 0;
        for earlier in &mut self.earlier {
            let Some(at) = *earlier else {
                fresh += 1;
                continue;
            };
            let items = &self.before[at].items;
            let is_new = items.iter().filter_map(|item| call_of(item)).any(|call| {
                gone.contains(&call) || !has_ids && fresh_up_to.get(call.as_str()).is_some_and(|then| *then < fresh)
            });
            if is_new {
                *earlier = None;
                fresh += 1;
            } else {
                fresh_up_to.extend(items.iter().map(|item| (item.as_str(), fresh)));
            }
        }
    }

    /// Returns how many messages are as before.
    pub fn kept(&self) -> usize {
        self.earlier.iter().flatten().count()
    }

    /// Returns the stretches of messages now that are new.
    pub fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for index in (0..self.now.len()).filter(|index| self.earlier[*index].is_none()) {
            match runs.last_mut() {
                Some(run) if run.end == index => run.end += 1,
                _ => runs.push(index..index + 1),
            }
        }
        runs
    }

    /// Returns the messages before that stay, from a message now on.
    pub fn kept_after(&self, index: usize) -> impl Iterator<Item = &KnownMessage> {
        self.earlier[index..].iter().flatten().map(|at| &self.before[*at])
    }

    /// Notes the ids of items that were read anew, with the indices of their messages now.
    pub fn note(&mut self, owners: impl Iterator<Item = (usize, String)>) {
        for (message, id) in owners {
            self.now[message].items.push(id);
        }
    }

    /// Returns the ids of the items that were read anew from a message now.
    pub fn read_from(&self, index: usize) -> &[String] {
        &self.now[index].items
    }

    /// Returns the ids of the items of the last messages before a message now, in order: those that stay, those that were
    /// read anew, and before them all those of `prefix`.
    pub fn right_before(&self, index: usize, prefix: &[KnownMessage]) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        let prefix = &prefix[prefix.len() - prefix.len().min(OPEN_MESSAGES.saturating_sub(index))..];
        ids.extend(prefix.iter().flat_map(|message| message.items.iter().cloned()));
        for message in index.saturating_sub(OPEN_MESSAGES)..index {
            let of = self.earlier[message].map_or(&self.now[message], |at| &self.before[at]);
            ids.extend(of.items.iter().cloned());
        }
        if let Some(grown) = self.grown.filter(|grown| grown.now == index) {
            ids.extend(self.before[grown.before].items.iter().cloned());
        }
        ids
    }

    /// Returns the messages before that were edited or removed.
    pub fn gone(&self) -> impl Iterator<Item = &KnownMessage> {
        let mut is_kept = vec![false; self.before.len()];
        let grown = self.grown.map(|grown| grown.before);
        for at in self.earlier.iter().flatten().copied().chain(self.trimmed.clone()).chain(grown) {
            is_kept[at] = true;
        }
        self.before.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept).map(|(message, _)| message)
    }

    /// Returns what is known from now on: what was trimmed stands behind the instructions.
    pub fn into_known(mut self) -> Vec<KnownMessage> {
        if let Some(Grown { before, now, .. }) = self.grown {
            let earlier = std::mem::take(&mut self.before[before].items);
            self.now[now].items.splice(0..0, earlier);
        }
        for (message, earlier) in self.now.iter_mut().zip(&self.earlier) {
            if let Some(at) = earlier {
                message.items = std::mem::take(&mut self.before[*at].items);
            }
        }
        let mut trimmed: Vec<KnownMessage> = self.before.drain(self.trimmed).collect();
        for message in &mut trimmed {
            message.is_trimmed = true;
        }
        self.now.splice(self.lead..self.lead, trimmed);
        self.now
    }
}
