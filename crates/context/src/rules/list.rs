//! What a caller is told of the standing instructions of a log.

use super::book::{RuleRecord, Subject};
use super::find;
use super::record::{Ended, Held, record};
use super::rule::{RuleState, StandingRule};
use crate::callbacks::Outcome;
use crate::manager::ContextManager;

impl ContextManager {
    /// Returns what the user stated once and for all, oldest first, with what was replaced since. What a prompt says of it is
    /// what is in force and stands nowhere else in it. Nothing is told of turns at or above the sensitivity floor, nor of
    /// those that an edited message replaced.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Never push to main. What is left to do?"))?;
    /// let rules = manager.rules().done().unwrap();
    /// assert_eq!((rules.len(), rules[0].text.as_str(), rules[0].id.as_str()), (1, "Never push to main.", "u1#1"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn rules(&mut self) -> Outcome<Vec<StandingRule>> {
        match self.standing() {
            Outcome::Need(needs) => Outcome::Need(needs),
            Outcome::Done(told) => Outcome::Done(self.listed(&told).into_iter().map(|(rule, _)| rule).collect()),
        }
    }

    /// Tells of each item whether what it states may be told, once all is known that the statements depend on.
    pub(crate) fn standing(&mut self) -> Outcome<Vec<bool>> {
        if !self.options.standing_rules {
            return Outcome::Done(vec![false; self.events.len()]);
        }
        self.refresh_index();
        let told = self.judged(|items, is_withheld| {
            items.iter().map(|item| !item.is_superseded() && !is_withheld(item)).collect::<Vec<bool>>()
        });
        let Outcome::Done(told) = told else { return told };
        drop(self.sources().stated(|at| told[at]));
        if self.answers.is_waiting() {
            return Outcome::Need(self.answers.take_needs());
        }
        Outcome::Done(told)
    }

    /// Returns the statements of the items that may be told, each with what a record of the caller is about.
    pub(crate) fn listed(&self, told: &[bool]) -> Vec<(StandingRule, Subject)> {
        let items = self.events.items();
        let held = record(self.sources().stated(|at| told[at]));
        let item_id = |held: &Held| items.get(held.at).map(|item| item.id.clone());
        let id = |held: &Held| match held.record.map(|record| &record.subject) {
            Some(Subject::Added { id, .. }) => id.clone(),
            _ => format!("{}#{}", item_id(held).unwrap_or_default(), held.place),
        };
        let rule = |one: &Held| StandingRule {
            id: id(one),
            text: one.said.text.to_string(),
            kind: one.said.statement.kind,
            state: match one.ended {
                Some(Ended { withdrawn: true, .. }) => RuleState::Withdrawn,
                Some(_) => RuleState::Replaced,
                None if one.said.statement.is_once => RuleState::Once,
                None => RuleState::InForce,
            },
            why: why(one),
            item_id: item_id(one),
            said: words_before(one),
            replaced_by: one.ended.and_then(|ended| Some(id(&held[ended.by?]))),
        };
        let subject = |one: &Held| match one.record {
            Some(record) => record.subject.clone(),
            None => Subject::Found { item_id: item_id(one).unwrap_or_default(), said: one.said.text.to_string() },
        };
        held.iter().map(|one| (rule(one), subject(one))).collect()
    }
}

/// Returns the words that the caller put others in place of.
fn words_before(held: &Held) -> Option<String> {
    match held.record {
        Some(RuleRecord { subject: Subject::Found { said, .. }, text: Some(_), .. }) => Some(said.clone()),
        _ => None,
    }
}

/// Says in plain words why a statement is taken for one.
fn why(held: &Held) -> String {
    match held.record {
        Some(record) if record.is_added() => "added by the caller".to_owned(),
        Some(RuleRecord { text: Some(_), .. }) => "corrected by the caller".to_owned(),
        _ if held.said.is_given => "found by the function of the option `rules`".to_owned(),
        _ if held.said.is_carried => format!("in force in an earlier prompt: {}", find::why(&held.said.text)),
        _ => find::why(&held.said.text),
    }
}
