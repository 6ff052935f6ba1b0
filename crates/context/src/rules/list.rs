//! What a caller is told of the standing instructions of a log.

use serde::Serialize;

use super::find::StatementKind;
use super::record::{Ended, record};
use crate::callbacks::Outcome;
use crate::manager::ContextManager;
use crate::store::EventLog;

/// Whether an instruction of the user holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleState {
    /// It stands in every prompt that has room for it.
    InForce,
    /// It was for one time alone, and stands in no prompt for its own sake.
    Once,
    /// What was said later takes its place.
    Replaced,
    /// It was taken back.
    Withdrawn,
}

#[cfg(feature = "ts")]
contextweaver_base::wire_strings!(RuleState);

impl RuleState {
    /// Lists every state.
    pub const ALL: &'static [Self] = &[Self::InForce, Self::Once, Self::Replaced, Self::Withdrawn];

    /// Returns the wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InForce => "in_force",
            Self::Once => "once",
            Self::Replaced => "replaced",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl Serialize for RuleState {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

/// An instruction that the user gave, as far as its form tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StandingRule {
    /// The item, and the place among the statements of it, from 1 on.
    pub id: String,
    /// The user's words, with secrets masked.
    pub text: String,
    /// What it does.
    pub kind: StatementKind,
    /// Whether it holds.
    pub state: RuleState,
    /// The turn that it was said in.
    pub item_id: String,
    /// The instruction that took its place or took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub replaced_by: Option<String>,
}

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
    /// let mut manager = ContextManager::new(ManagerOptions { standing_rules: true, ..ManagerOptions::default() });
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Never push to main. What is left to do?"))?;
    /// let rules = manager.rules().done().unwrap();
    /// assert_eq!((rules.len(), rules[0].text.as_str(), rules[0].id.as_str()), (1, "Never push to main.", "u1#1"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn rules(&mut self) -> Outcome<Vec<StandingRule>> {
        self.refresh_index();
        let withheld = self.judged(|items, is_withheld| items.iter().map(is_withheld).collect::<Vec<bool>>());
        let withheld = match withheld {
            Outcome::Need(needs) => return Outcome::Need(needs),
            Outcome::Done(withheld) => withheld,
        };
        let items = self.events.items();
        let is_told = |at: &usize| !withheld[*at] && !items[*at].is_superseded();
        let places = self.index.stated().iter().copied().filter(is_told);
        let said = places.flat_map(|at| self.index.entry(at).said.iter().map(move |said| (at, said)));
        let held = record(said);
        let ids = ids(&self.events, held.iter().map(|held| held.at));
        let rules = held.iter().zip(&ids).map(|(held, id)| StandingRule {
            id: id.clone(),
            text: held.said.text.to_string(),
            kind: held.said.statement.kind,
            state: match held.ended {
                Some(Ended { withdrawn: true, .. }) => RuleState::Withdrawn,
                Some(_) => RuleState::Replaced,
                None if held.said.statement.is_once => RuleState::Once,
                None => RuleState::InForce,
            },
            item_id: items[held.at].id.clone(),
            replaced_by: held.ended.and_then(|ended| ids.get(ended.by).cloned()),
        });
        Outcome::Done(rules.collect())
    }
}

/// Names statements by their items, counted in each.
fn ids(events: &EventLog, places: impl Iterator<Item = usize>) -> Vec<String> {
    let (mut last, mut count) = (usize::MAX, 0);
    let name = |at: usize| {
        count = if at == last { count + 1 } else { 1 };
        last = at;
        format!("{}#{count}", events.items()[at].id)
    };
    places.map(name).collect()
}
