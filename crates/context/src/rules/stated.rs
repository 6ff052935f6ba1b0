//! What is stated in a log, with what the caller says of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::book::{RuleRecord, Subject};
use super::rule::RuleState;
use super::{Said, carried, has_words, one_line};
use crate::compile::inputs::BuildInputs;
use crate::options::RuleFinder;
use contextweaver_base::order::sort_by;
use contextweaver_model::{ContextItem, ItemKind};

/// The position of what the caller added, which stands in no item.
pub const NOWHERE: usize = usize::MAX;

/// A statement, before it is compared with others.
#[derive(Debug)]
pub struct Stated<'a> {
    /// Position of the item, and the place among what was found in it, from 1 on.
    pub at: usize,
    pub place: usize,
    pub said: Cow<'a, Said>,
    /// What the caller says of it.
    pub record: Option<&'a RuleRecord>,
}

impl Stated<'_> {
    /// Returns the state that the caller gave it. What it added holds until it says otherwise.
    pub fn state(&self) -> Option<RuleState> {
        let record = self.record?;
        record.state.or_else(|| record.is_added().then_some(RuleState::InForce))
    }
}

/// Records of the caller about statements that were found, by index.
#[derive(Default)]
struct Settled<'a> {
    own: HashMap<usize, &'a RuleRecord>,
    /// Words that were said again later, where there is a record about that: it is about these as well.
    said_again: HashSet<usize>,
    /// Texts that an earlier prompt may not bring back: they stand elsewhere, or are not to stand anywhere.
    elsewhere: Vec<&'a str>,
}

impl<'a> BuildInputs<'a> {
    /// Returns what is stated in the items that `is_open` lets through, in the order of the log. What the caller forgot is not
    /// among it, and what it added stands where the log ended then.
    pub fn stated(&self, is_open: impl Fn(usize) -> bool) -> Vec<Stated<'a>> {
        let mut found = self.found(is_open);
        let Settled { own, said_again, elsewhere } = self.settled(&found);
        let mut stated: Vec<Stated> = Vec::with_capacity(found.len());
        let mut added = self.added();
        for (index, one) in found.drain(..).enumerate() {
            while let Some((_, next)) = added.next_if(|(after, _)| after.is_none_or(|after| after < one.at)) {
                stated.push(next);
            }
            match own.get(&index) {
                Some(record) if record.is_forgotten => {}
                Some(record) => {
                    let said = record.applied(Some(&one.said), |text| self.options.mask_secrets(text).into_owned());
                    stated.extend(said.map(|said| Stated { said: Cow::Owned(said), record: Some(record), ..one }));
                }
                None if said_again.contains(&index) => {}
                None if one.said.is_carried => stated.extend(without(one, &elsewhere)),
                None => stated.push(one),
            }
        }
        stated.extend(added.map(|(_, next)| next));
        stated
    }

    /// Returns what was found, by the caller's function where there is one.
    fn found(&self, is_open: impl Fn(usize) -> bool) -> Vec<Stated<'a>> {
        let index = self.index;
        if !self.options.standing_rules {
            return Vec::new();
        }
        let whole = |at: usize| {
            let said = index.entry(at).said.iter().map(Cow::Borrowed);
            said.enumerate().map(move |(place, said)| Stated { at, place: place + 1, said, record: None })
        };
        if self.options.rule_finder == RuleFinder::BuiltIn {
            return index.stated().iter().copied().filter(|at| is_open(*at)).flat_map(whole).collect();
        }
        let items = self.events.items();
        let mut found = Vec::new();
        for (at, item) in items.iter().enumerate() {
            if item.kind != ItemKind::UserTurn || item.is_superseded() || !is_open(at) {
                continue;
            }
            match self.answers.statements(item).filter(|_| !index.entry(at).is_ours) {
                None => found.extend(whole(at)),
                Some(given) => {
                    let mask = |text: &str| self.options.mask_secrets(text).into_owned();
                    let turn = one_line(&mask(&item.text));
                    let said = given.iter().map(|given| Cow::Owned(given.said(&turn, &mask)));
                    let said =
                        said.enumerate().map(|(place, said)| Stated { at, place: place + 1, said, record: None });
                    found.extend(said);
                }
            }
        }
        found
    }

    /// Returns what the records of the caller say of what was found.
    fn settled(&self, found: &[Stated<'a>]) -> Settled<'a> {
        let mut settled = Settled::default();
        let records = self.book.records();
        if records.is_empty() {
            return settled;
        }
        let (mut by_home, mut homeless) = (HashMap::new(), HashMap::new());
        for record in records.iter().rev() {
            let Subject::Found { item_id, said } = &record.subject else { continue };
            by_home.insert((item_id.as_str(), said.as_str()), record);
            // The turn may be back as another item: a conversation that was edited before it is read again from there.
            if self.events.find(item_id).is_some_and(ContextItem::is_superseded) {
                homeless.entry(said.as_str()).or_insert_with(Vec::new).push(record);
            }
        }
        let mut placed = HashSet::new();
        let mut last: HashMap<&str, usize> = HashMap::new();
        for (index, one) in found.iter().enumerate() {
            let id = self.events.items()[one.at].id.as_str();
            let home = by_home.get(&(id, &*one.said.text)).copied();
            if let Some(record) = home.or_else(|| homeless.get_mut(&*one.said.text)?.pop()) {
                settled.own.insert(index, record);
                placed.insert(std::ptr::from_ref(record));
                last.insert(&one.said.text, index);
            }
        }
        let is_before = |(index, one): &(usize, &Stated)| last.get(&*one.said.text).is_some_and(|last| index < last);
        settled.said_again = found.iter().enumerate().filter(is_before).map(|(index, _)| index).collect();
        let stays_away = |record: &&RuleRecord| {
            let is_ended = record.is_forgotten || record.state == Some(RuleState::Withdrawn);
            is_ended || record.is_added() || placed.contains(&std::ptr::from_ref(*record))
        };
        settled.elsewhere = records.iter().filter(stays_away).flat_map(RuleRecord::texts).collect();
        settled
    }

    /// Returns what the caller added, with the positions of the items behind which it stands.
    fn added(&self) -> std::iter::Peekable<std::vec::IntoIter<(Option<usize>, Stated<'a>)>> {
        let mut added: Vec<(Option<usize>, Stated)> = Vec::new();
        for record in self.book.records().iter().filter(|_| self.options.standing_rules) {
            let Subject::Added { after, .. } = &record.subject else { continue };
            let said = record.applied(None, |text| self.options.mask_secrets(text).into_owned());
            let after = after.as_deref().and_then(|id| self.events.position(id));
            let Some(said) = said.filter(|_| !record.is_forgotten) else { continue };
            added.push((after, Stated { at: NOWHERE, place: 0, said: Cow::Owned(said), record: Some(record) }));
        }
        sort_by(&mut added, |(a, _), (b, _)| a.cmp(b));
        added.into_iter().peekable()
    }
}

/// Takes texts out of a line of an earlier prompt; nothing is left of a line that says no more.
fn without<'a>(one: Stated<'a>, texts: &[&str]) -> Option<Stated<'a>> {
    let mut line = one.said.text.to_string();
    for text in texts {
        let text = one_line(text);
        while let Some(at) = place_of(&line, &text) {
            line.replace_range(at..at + text.len(), "");
        }
    }
    if line.len() == one.said.text.len() {
        return Some(one);
    }
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    has_words(&line).then(|| Stated { said: Cow::Owned(carried(&line)), ..one })
}

/// Finds a text that stands between the ends of a line or spaces.
fn place_of(line: &str, text: &str) -> Option<usize> {
    let is_apart = |at: &usize| {
        let (before, behind) = (&line[..*at], &line[at + text.len()..]);
        (before.is_empty() || before.ends_with(' ')) && (behind.is_empty() || behind.starts_with(' '))
    };
    line.match_indices(text).map(|(at, _)| at).find(is_apart).filter(|_| !text.is_empty())
}
