//! Queries that go on with what was said before, completed: "yes, do it" stands for what was proposed, "and for Berlin?" for
//! the same tool again.

use serde::Serialize;

use super::conversation::RouteTurn;
use super::filter::{ActiveTools, with_hints};
use super::history::CalledTools;
use super::judgement::{Judgement, MIN_CONFIDENCE};
use super::options::{RouteOptions, RouterOptions};
use super::shortlist::RankedCandidate;
use super::{NavigatorResult, exact};
use crate::cards::ToolNames;
use crate::index::{FollowUp, QUESTION_MARKS, ToolIndex};
use contextweaver_base::Result;
use contextweaver_model::ItemKind;
use contextweaver_model::json::Record;
use contextweaver_text::unicode::trim;

/// Most calls of a turn that count, the last ones.
const MAX_CALLS: usize = 3;
/// Most turns of the user that are looked through for the one that is gone on with.
const MAX_USER_TURNS: usize = 3;
/// Marks that end a sentence, beside those of a question.
const ENDS: &[char] = &['.', '!', '\n', '\u{3002}', '\u{ff01}'];

contextweaver_model::string_enum! {
    /// Why a query was completed.
    CompletionReason, "reason" {
        /// The query agrees to what the agent proposed, or to a call that has no result but errors.
        Agreement = "agreement",
        /// The query asks for the same again, or of something else.
        FollowUp = "follow_up",
    }
}

/// How a query was completed from what was said before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(closed)]
pub struct QueryCompletion {
    /// What was searched for, with credentials masked.
    pub query: String,
    /// Why the query does not stand on its own: with `agreement` it agrees to what the agent proposed, or to a call that
    /// waits; with `follow_up` it asks for the same again, or of something else.
    pub reason: CompletionReason,
    /// Ids of the turns that it was completed from, in their order.
    pub item_ids: Vec<String>,
    /// Ids of the tools that these turns called or named: they come first in the short list.
    pub tool_ids: Vec<String>,
}

/// Completes a query that goes on with what was said before; one that stands on its own stays as it is.
///
/// Vectors are not compared then: that of the query as it was asked says nothing of what is meant.
pub(super) fn completed(
    index: &mut ToolIndex,
    query: &str,
    plain: NavigatorResult,
    active: &ActiveTools<'_>,
    names: &ToolNames,
    router: &RouterOptions,
    options: &RouteOptions,
) -> Result<NavigatorResult> {
    let is_sure = |judged: &Judgement| judged.confidence.is_some_and(|confidence| confidence >= MIN_CONFIDENCE);
    let is_found = !plain.ranked.is_empty() && plain.judgement.as_ref().is_some_and(is_sure);
    let Some(follow_up) = index.follow_up(query, is_found).filter(|_| !plain.is_exact) else { return Ok(plain) };
    let is_active = |id: &str| active.get(id).is_some();
    let tools = CalledTools::new(active.catalog, names);
    let completer = Completer { tools, is_active: &is_active, turns: options.conversation.turns(), query };
    for completion in completer.completions(index, follow_up) {
        let (text, _) = with_hints(&completion.query, &options.context_hints);
        let called = completion.tool_ids.first().unwrap_or(&completion.query);
        let found = exact(index, [called, &text], active, router, options, None)?;
        if !found.ranked.is_empty() {
            return Ok(NavigatorResult { completion: Some(completion), ..found });
        }
    }
    Ok(plain)
}

impl NavigatorResult {
    /// Puts the tools that were called in what the query goes on with before all others, in their order.
    pub(super) fn put_called_first(&mut self) {
        let Some(completion) = &self.completion else { return };
        let best = self.ranked.iter().map(|candidate| candidate.score).fold(0.0, f64::max);
        for id in completion.tool_ids.iter().rev() {
            let place = self.ranked.iter().position(|candidate| candidate.id == *id);
            let path = place.map(|at| self.ranked.remove(at).path).unwrap_or_default();
            self.ranked.insert(0, RankedCandidate { id: id.clone(), score: best, path });
        }
    }
}

/// Turns before a query and the tools of the catalog, among which some may be chosen.
struct Completer<'a> {
    tools: CalledTools<'a>,
    is_active: &'a dyn Fn(&str) -> bool,
    turns: &'a [RouteTurn],
    query: &'a str,
}

/// The turn of the user, and what followed.
struct Exchange<'a> {
    user: Option<&'a RouteTurn>,
    rest: &'a [RouteTurn],
}

impl Completer<'_> {
    /// Returns the queries that may be meant, the likeliest first.
    fn completions(&self, index: &ToolIndex, follow_up: FollowUp) -> Vec<QueryCompletion> {
        let turns = self.before();
        match follow_up {
            FollowUp::Agreement { is_directive, says_more } => {
                self.agreed(index, &exchange(turns), is_directive, if says_more { self.query } else { "" })
            }
            FollowUp::Fragment => self.repeated(turns),
        }
    }

    /// Returns the turns before the one that asks the query, which may be the last.
    fn before(&self) -> &[RouteTurn] {
        match self.turns {
            [before @ .., last] if last.kind == ItemKind::UserTurn => before,
            all => all,
        }
    }

    /// What was proposed: a question names it, a call waits for it, or the agent's text has it.
    fn agreed(&self, index: &ToolIndex, exchange: &Exchange, is_directive: bool, more: &str) -> Vec<QueryCompletion> {
        let Exchange { user, rest } = exchange;
        let done =
            rest.iter().rposition(|turn| turn.kind == ItemKind::ToolCall && !turn.is_open).map_or(0, |at| at + 1);
        let rest = &rest[done..];
        let agent = rest.iter().rfind(|turn| turn.kind == ItemKind::AgentMsg);
        let said = agent.map_or("", |turn| trim(&turn.text));
        let question = questions(said);
        let mut found = Vec::new();
        let mut add = |parts: &[&RouteTurn], texts: &[&str], tools: Vec<String>| {
            let mut texts = texts.to_vec();
            texts.push(more);
            found.push(self.completion(CompletionReason::Agreement, parts, &texts, tools));
        };
        let named = self.named(said);
        if let Some(agent) = agent
            && !question.is_empty()
            && (!named.is_empty() || index.names_thing(&question))
        {
            add(&[agent], &[&question], named.clone());
        }
        let (open, tools) = self.calls(rest);
        if let Some(first) = open.first() {
            let request = user.map_or("", |turn| turn.text.as_str());
            let parts: Vec<&RouteTurn> = user.iter().copied().chain([*first]).collect();
            add(&parts, &[request], tools);
        }
        let is_proposed = !question.is_empty() && !index.asks_for_other(&question);
        if let Some(agent) = agent
            && (is_proposed || is_directive)
        {
            add(&[agent], &[said], named.clone());
            if let Some(user) = user {
                add(&[user, agent], &[&user.text, said], named);
            }
        }
        found
    }

    /// The tool of the turn before, or what was asked for in it.
    fn repeated(&self, mut turns: &[RouteTurn]) -> Vec<QueryCompletion> {
        let mut found = Vec::new();
        for _ in 0..MAX_USER_TURNS {
            let Exchange { user, rest } = exchange(turns);
            let Some(user) = user else { break };
            let (calls, tools) = self.calls(rest);
            let parts: Vec<&RouteTurn> = [user].into_iter().chain(calls).collect();
            found.push(self.completion(CompletionReason::FollowUp, &parts, &[&user.text, self.query], tools));
            turns = &turns[..turns.len() - rest.len() - 1];
        }
        found
    }

    /// Returns the last calls whose tools may be chosen, each tool once, the last call first.
    fn calls<'t>(&self, turns: &'t [RouteTurn]) -> (Vec<&'t RouteTurn>, Vec<String>) {
        let (mut calls, mut ids): (Vec<&RouteTurn>, Vec<String>) = (Vec::new(), Vec::new());
        for turn in turns.iter().rev().filter(|turn| turn.kind == ItemKind::ToolCall) {
            let id = turn.tool.as_deref().and_then(|name| self.tools.id_of(name)).filter(|id| (self.is_active)(id));
            if let Some(id) = id.filter(|id| !ids.iter().any(|known| known == id)) {
                ids.push(id.to_owned());
                calls.push(turn);
            }
            if ids.len() == MAX_CALLS {
                break;
            }
        }
        (calls, ids)
    }

    /// Returns the tools that a text names as identifiers, the last first.
    fn named(&self, text: &str) -> Vec<String> {
        let is_part = |ch: char| ch.is_alphanumeric() || "_-.:/".contains(ch);
        let mut ids: Vec<String> = Vec::new();
        for word in text.split(|ch| !is_part(ch)).rev() {
            let word = word.trim_end_matches(['.', ':', '-', '/']);
            if !word.contains(['_', '-', '.', ':']) {
                continue;
            }
            let id = self.tools.id_of(word).filter(|id| (self.is_active)(id));
            if let Some(id) = id.filter(|id| !ids.iter().any(|known| known == id)) {
                ids.push(id.to_owned());
            }
            if ids.len() == MAX_CALLS {
                break;
            }
        }
        ids
    }

    fn completion(
        &self,
        reason: CompletionReason,
        parts: &[&RouteTurn],
        texts: &[&str],
        tool_ids: Vec<String>,
    ) -> QueryCompletion {
        let in_order = self.turns.iter().filter(|turn| parts.iter().any(|part| std::ptr::eq(*part, *turn)));
        let texts: Vec<&str> = texts.iter().map(|text| trim(text)).filter(|text| !text.is_empty()).collect();
        QueryCompletion {
            query: texts.join("\n"),
            reason,
            item_ids: in_order.filter_map(|turn| turn.id.clone()).collect(),
            tool_ids,
        }
    }
}

/// Returns the last turn of the user and what followed.
fn exchange(turns: &[RouteTurn]) -> Exchange<'_> {
    match turns.iter().rposition(|turn| turn.kind == ItemKind::UserTurn) {
        Some(at) => Exchange { user: Some(&turns[at]), rest: &turns[at + 1..] },
        None => Exchange { user: None, rest: turns },
    }
}

/// Returns the sentences of a text that ask something.
fn questions(text: &str) -> String {
    let (mut found, mut start): (Vec<&str>, usize) = (Vec::new(), 0);
    for (at, mark) in text.match_indices(|ch| ENDS.contains(&ch) || QUESTION_MARKS.contains(&ch)) {
        let end = at + mark.len();
        // A full stop inside of a word ends nothing.
        if mark == "." && text[end..].starts_with(|ch: char| !ch.is_whitespace()) {
            continue;
        }
        if mark.contains(QUESTION_MARKS) {
            found.push(trim(&text[start..end]));
        }
        start = end;
    }
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_sentences() {
        for (text, wanted) in [
            ("Done. Shall I push it? It is small.", "Shall I push it?"),
            ("See v1.2 of a.rs! Open it? Or not?", "Open it? Or not?"),
            ("\u{5b8c}\u{6210}\u{3002}\u{63d0}\u{4ea4}\u{5417}\u{ff1f}", "\u{63d0}\u{4ea4}\u{5417}\u{ff1f}"),
            ("No.", ""),
            ("", ""),
        ] {
            assert_eq!(questions(text), wanted, "{text}");
        }
    }
}
