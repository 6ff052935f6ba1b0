//! What is in force of all that was stated in a log.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Said;
use super::book::RuleRecord;
use super::find::Statement;
use super::rule::RuleState;
use super::stated::Stated;
use crate::compile::inputs::BuildInputs;
use crate::sensitivity::classified;

/// Statements on one word that a later one is compared with.
const MOST_OF_A_WORD: usize = 8;
/// Statements with a word up to which it tells by itself that two speak of the same.
const RARE: usize = 3;
/// Words that two have in common where one takes the place of the other, and their share of the shorter one.
const SAME_WORDS: usize = 2;
const SAME_SHARE: f32 = 0.5;
/// Share of the shorter one from which on they speak of the same.
const KIN_SHARE: f32 = 0.3;

/// How a statement ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// The one that ended it, by its place among all; none where the caller did.
    pub by: Option<usize>,
    /// Whether that says that it holds no more.
    pub withdrawn: bool,
}

/// A statement of the log.
#[derive(Debug)]
pub struct Held<'a> {
    /// Position of the item, or that of what stands in none, and the place among what was found in it, from 1 on.
    pub at: usize,
    pub place: usize,
    pub said: Cow<'a, Said>,
    /// What the caller says of it.
    pub record: Option<&'a RuleRecord>,
    /// Whether the caller says that it holds, whatever was said later.
    pub is_settled: bool,
    /// Whether a later one took its place, or took it back.
    pub ended: Option<Ended>,
    /// Earlier and later ones that speak of the same.
    pub older: Vec<usize>,
    pub newer: Vec<usize>,
}

impl BuildInputs<'_> {
    /// Returns what users stated and holds no more, each with the position of its item.
    pub fn ended(&self) -> Vec<(usize, Box<str>)> {
        if !self.options.standing_rules {
            return Vec::new();
        }
        let floor = self.options.policy.sensitivity_floor;
        let is_open = |at: usize| {
            let item = &self.events.items()[at];
            !item.is_superseded() && classified(item, self.options, self.answers) < floor
        };
        let held = record(self.stated(is_open));
        held.into_iter().filter(|held| held.ended.is_some()).map(|held| (held.at, held.said.text.clone())).collect()
    }
}

/// Returns the statements of a log, in its order.
pub fn record(stated: Vec<Stated>) -> Vec<Held> {
    let mut held: Vec<Held> = Vec::new();
    let mut by_word: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut by_text: HashMap<Box<str>, usize> = HashMap::new();
    for one in stated {
        let state = one.state();
        let Stated { at, place, said, record } = one;
        let here = held.len();
        let statement = &said.statement;
        if !statement.is_sure() && statement.is_once {
            continue;
        }
        let before = by_text.get(&said.text).copied();
        let mut older = Vec::new();
        if state == Some(RuleState::Withdrawn) {
            // It says nothing of others any more.
        } else if !statement.is_once {
            // "Forget that" is about what was said last.
            let mut last = held.iter_mut().rev().take(MOST_OF_A_WORD);
            if statement.drops
                && statement.subject.is_empty()
                && let Some(last) = last.find(|held| held.ended.is_none() && !held.is_settled)
            {
                last.ended = Some(Ended { by: Some(here), withdrawn: true });
            }
            let kin = kin(&by_word, statement);
            let speaks_again = |(old, shared): &(usize, usize)| {
                let shorter = held[*old].said.statement.subject.len().min(statement.subject.len()).max(1);
                held[*old].ended.is_none() && (*shared >= SAME_WORDS || *shared as f32 >= SAME_SHARE * shorter as f32)
            };
            if !statement.is_sure() && !kin.iter().any(speaks_again) {
                continue;
            }
            for (old, shared) in kin {
                let before = &mut held[old];
                if before.said.text == said.text {
                    continue;
                }
                let (is_kin, is_same) = compare(&before.said.statement, statement, shared, &by_word);
                if is_kin || is_same {
                    before.newer.push(here);
                    if is_same && !before.is_settled {
                        before.ended.get_or_insert(Ended { by: Some(here), withdrawn: statement.drops });
                    }
                    older.push(old);
                }
            }
        }
        if said.is_callers {
            // It takes the place of what the item itself says.
            older.push(here);
        }
        let is_settled = state.is_some_and(|state| state != RuleState::Withdrawn);
        let mut ended = (state == Some(RuleState::Withdrawn)).then_some(Ended { by: None, withdrawn: true });
        if let Some(before) = before {
            if is_settled || !held[before].is_settled {
                // A statement that was repeated stands where it was said last.
                held[before].ended = Some(Ended { by: Some(here), withdrawn: false });
            } else {
                ended.get_or_insert(Ended { by: Some(before), withdrawn: false });
            }
        }
        if before.is_none_or(|before| held[before].ended.is_some()) {
            by_text.insert(said.text.clone(), here);
        }
        for word in &statement.subject {
            by_word.entry(*word).or_default().push(here);
        }
        held.push(Held { at, place, said, record, is_settled, ended, older, newer: Vec::new() });
    }
    held
}

/// Returns the earlier statements that share words with one, and how many.
fn kin(by_word: &HashMap<u64, Vec<usize>>, statement: &Statement) -> Vec<(usize, usize)> {
    let mut shared: Vec<(usize, usize)> = Vec::new();
    for word in &statement.subject {
        for old in by_word.get(word).into_iter().flatten().rev().take(MOST_OF_A_WORD) {
            match shared.iter_mut().find(|(known, _)| known == old) {
                Some((_, count)) => *count += 1,
                None => shared.push((*old, 1)),
            }
        }
    }
    shared
}

/// Tells whether a later statement speaks of the same as an earlier one, and whether it takes its place.
fn compare(old: &Statement, new: &Statement, shared: usize, by_word: &HashMap<u64, Vec<usize>>) -> (bool, bool) {
    let shorter = old.subject.len().min(new.subject.len()).max(1);
    let share = shared as f32 / shorter as f32;
    let has_rare = || {
        let common = new.subject.iter().filter(|word| old.subject.contains(word));
        common.filter(|word| by_word.get(word).is_none_or(|known| known.len() <= RARE)).count() > 0
    };
    let has_new_value = old.frame.is_some() && old.frame == new.frame;
    let is_kin = shared >= SAME_WORDS || share >= KIN_SHARE || has_rare();
    let is_changed = new.changes && shared >= SAME_WORDS && share >= SAME_SHARE;
    (is_kin, has_new_value || is_changed)
}
