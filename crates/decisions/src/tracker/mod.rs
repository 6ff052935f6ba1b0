//! What an agent looked at and thought before it decides: collected by key, and taken by the decision.

mod snapshot;

use crate::host::CallerContext;
use crate::record::{DecisionLimits, Deliberation, DeliberationInput, DeliberationStep, RelatedDecision};
use crate::terms::{truncate_masked, truncate_masked_bytes};
use crate::timestamps;
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_model::json::JsonMap;
use contextweaver_model::json::numbers::fixed;

/// Milliseconds for which an input counts: five minutes.
const INPUT_MS: i64 = 300_000;
/// Milliseconds after which an unused key is forgotten: half an hour.
const IDLE_MS: i64 = 1_800_000;
/// Most inputs under one key; the oldest go.
const MAX_INPUTS: usize = 200;
/// Most keys; the longest unused go.
const MAX_KEYS: usize = 1000;
/// Characters of a query, a description or a title in an input.
const QUOTED_CHARS: usize = 50;
/// Decisions kept of what one query found.
const MAX_RELATED: usize = 50;

/// The agent of calls that name none.
pub const NOBODY: &str = "mcp-client";
/// The transport of calls whose host names none.
const ANYWHERE: &str = "default";

/// Inputs collected under keys until a decision takes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeliberationTracker {
    keys: SortedMap<String, InputGroup>,
    /// Inputs and handles that were given numbers.
    numbered: u64,
}

/// What was collected under one key.
#[derive(Debug, Clone, Default, PartialEq)]
struct InputGroup {
    inputs: Vec<TrackedInput>,
    /// Milliseconds since 1970 at which the key was last used.
    used: i64,
}

/// The tool call that left an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputKind {
    Query,
    Check,
    Lookup,
    Stats,
    Thought,
}

impl InputKind {
    const ALL: [Self; 5] = [Self::Query, Self::Check, Self::Lookup, Self::Stats, Self::Thought];

    /// Returns the letter of ids, the source and the type of steps.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Query => ("q", "cstp:queryDecisions", "analysis"),
            Self::Check => ("g", "cstp:checkGuardrails", "constraint"),
            Self::Lookup => ("l", "cstp:getDecision", "analysis"),
            Self::Stats => ("s", "cstp:getReasonStats", "empirical"),
            Self::Thought => ("r", "cstp:recordThought", "reasoning"),
        }
    }
}

/// A query, check, lookup or thought of an agent.
#[derive(Debug, Clone, PartialEq)]
struct TrackedInput {
    id: String,
    kind: InputKind,
    text: String,
    at: i64,
    related: Vec<RelatedDecision>,
    /// The handle that was made for the call this is of, besides its key.
    handle: Option<String>,
}

/// The parts of the key that inputs are collected under.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackerScope<'a> {
    /// The agent; none for [`NOBODY`].
    pub agent: Option<&'a str>,
    /// Id of the decision that the input is for, if one is named.
    pub decision: Option<&'a str>,
    /// The transport, session or handle of the call.
    pub transport: Option<&'a str>,
}

impl<'a> TrackerScope<'a> {
    /// Returns the scope of a call: every call has a transport, if only the one of those whose host names none.
    pub fn of(call: &CallerContext<'a>, decision: Option<&'a str>) -> Self {
        Self {
            agent: Some(call.agent).filter(|agent| *agent != NOBODY),
            decision,
            transport: call.trace.filter(|trace| !trace.is_empty()).or(Some(ANYWHERE)),
        }
    }

    /// Returns the keys that inputs are taken from, in their order; the first is the one they are put under.
    pub fn keys(&self) -> Vec<String> {
        let named = |part: Option<&'a str>| part.filter(|part| !part.is_empty());
        let (agent, decision) = (named(self.agent), named(self.decision));
        let both = agent.zip(decision).map(|(agent, decision)| format!("agent:{agent}:decision:{decision}"));
        let keys = [
            both,
            decision.map(|decision| format!("decision:{decision}")),
            agent.map(|agent| format!("agent:{agent}")),
            named(self.transport).map(str::to_owned),
        ];
        keys.into_iter().flatten().collect()
    }
}

/// What is attached to a decision when it is logged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CollectedInputs {
    /// Decisions found beforehand, the nearest first.
    pub related: Vec<RelatedDecision>,
    /// The caller's own deliberation with the collected inputs after it.
    pub deliberation: Option<Deliberation>,
    /// Number of collected inputs.
    pub collected: usize,
}

impl DeliberationTracker {
    /// Notes a search and the decisions it found.
    pub fn track_query(
        &mut self,
        call: &CallerContext<'_>,
        query: &str,
        count: usize,
        mode: &str,
        found: Vec<RelatedDecision>,
    ) {
        let text = format!("Queried '{}': {count} results ({mode})", truncate_masked(query, QUOTED_CHARS));
        self.track(&TrackerScope::of(call, None), InputKind::Query, text, call.now, found);
    }

    /// Notes a check of an action.
    pub fn track_check(&mut self, call: &CallerContext<'_>, action: &str, is_allowed: bool, violations: usize) {
        self.track(
            &TrackerScope::of(call, None),
            InputKind::Check,
            check_text(action, is_allowed, violations),
            call.now,
            Vec::new(),
        );
    }

    /// Notes that a decision was looked up.
    pub fn track_lookup(&mut self, call: &CallerContext<'_>, id: &str, title: &str) {
        let text = lookup_text(id, title);
        self.track(&TrackerScope::of(call, None), InputKind::Lookup, text, call.now, Vec::new());
    }

    /// Notes that statistics of reasons were looked at.
    pub fn track_stats(&mut self, call: &CallerContext<'_>, decisions: usize, types: usize, diversity: Option<f64>) {
        let text = stats_text(decisions, types, diversity);
        self.track(&TrackerScope::of(call, None), InputKind::Stats, text, call.now, Vec::new());
    }

    /// Notes a thought, on a decision to come if one is named; returns the key it is kept under.
    pub fn track_thought(&mut self, call: &CallerContext<'_>, decision: Option<&str>, text: &str) -> String {
        self.track(&TrackerScope::of(call, decision), InputKind::Thought, text.to_owned(), call.now, Vec::new())
    }

    /// Returns the handle of a call, for later calls to name: the one it came with, or a new one that what this call
    /// noted is found under too. Call it after noting.
    pub fn trace_id(&mut self, call: &CallerContext<'_>) -> String {
        if let Some(trace) = call.trace.filter(|trace| !trace.is_empty()) {
            return trace.to_owned();
        }
        let handle = self.number("t");
        for tracked in self.keys.get_mut(ANYWHERE).into_iter().flat_map(|session| &mut session.inputs) {
            if tracked.at == call.now && tracked.handle.is_none() {
                tracked.handle = Some(handle.clone());
            }
        }
        handle
    }

    fn number(&mut self, letter: &str) -> String {
        self.numbered += 1;
        format!("{letter}-{:08x}", self.numbered)
    }

    fn track(
        &mut self,
        scope: &TrackerScope<'_>,
        kind: InputKind,
        text: String,
        now: i64,
        mut related: Vec<RelatedDecision>,
    ) -> String {
        let key = scope.keys().into_iter().next().unwrap_or_else(|| ANYWHERE.to_owned());
        related.truncate(MAX_RELATED);
        let id = self.number(kind.names().0);
        if !self.keys.contains_key(&key) {
            self.make_room(now);
        }
        let session = self.keys.get_or_insert(&key, InputGroup::default());
        if now - session.used > IDLE_MS {
            session.inputs.clear();
        }
        session.used = session.used.max(now);
        session.inputs.push(TrackedInput { id, kind, text, at: now, related, handle: None });
        if session.inputs.len() > MAX_INPUTS {
            session.inputs.remove(0);
        }
        key
    }

    /// Forgets keys that nobody used for long, and the longest unused one if there are too many still.
    fn make_room(&mut self, now: i64) {
        let idle = |session: &InputGroup| now - session.used > IDLE_MS || session.inputs.is_empty();
        let mut gone: Vec<String> =
            self.keys.iter().filter(|(_, session)| idle(session)).map(|(key, _)| key.clone()).collect();
        if self.keys.len() - gone.len() >= MAX_KEYS {
            let oldest = self.keys.iter().filter(|(_, session)| !idle(session)).min_by_key(|(_, session)| session.used);
            gone.extend(oldest.map(|(key, _)| key.clone()));
        }
        for key in gone {
            self.keys.remove(&key);
        }
    }

    /// Returns what a decision would take: what it says itself, and what was collected under its keys. Of what was
    /// collected, the newest inputs and the nearest decisions that a record may have are taken.
    pub fn peek(
        &self,
        scope: &TrackerScope<'_>,
        explicit: Option<Deliberation>,
        now: i64,
        limits: DecisionLimits,
    ) -> CollectedInputs {
        let said = explicit.as_ref().map_or(0, |said| said.inputs.len().max(said.steps.len()));
        let mut taken = CollectedInputs { deliberation: explicit, ..CollectedInputs::default() };
        let mut groups = self.groups(scope, now);
        keep_newest(&mut groups, limits.steps.saturating_sub(said));
        for group in groups {
            taken.collected += group.len();
            for found in group.iter().flat_map(|tracked| &tracked.related) {
                match taken.related.iter_mut().find(|known| known.id == found.id) {
                    None => taken.related.push(found.clone()),
                    Some(known) if found.distance < known.distance => *known = found.clone(),
                    Some(_) => {}
                }
            }
            taken.deliberation = Some(attach(taken.deliberation.take(), &group, limits.text_bytes));
        }
        sort_by(&mut taken.related, |a, b| a.distance.total_cmp(&b.distance));
        taken.related.truncate(limits.steps);
        for related in &mut taken.related {
            related.summary = truncate_masked_bytes(&related.summary, limits.text_bytes);
        }
        taken
    }

    /// Returns the inputs that still count, by key, without empty ones.
    fn groups(&self, scope: &TrackerScope<'_>, now: i64) -> Vec<Vec<&TrackedInput>> {
        let lives = |tracked: &&TrackedInput| now - tracked.at <= INPUT_MS;
        let keys = scope.keys();
        let under = keys.iter().map(|key| self.keys.get(key).into_iter().flat_map(|session| &session.inputs));
        let mut groups: Vec<Vec<&TrackedInput>> = under.map(|inputs| inputs.filter(lives).collect()).collect();
        let handle = scope.transport.filter(|handle| *handle != ANYWHERE);
        let anywhere = self.keys.get(ANYWHERE).into_iter().flat_map(|session| &session.inputs);
        let named = |tracked: &&TrackedInput| handle.is_some() && tracked.handle.as_deref() == handle;
        groups.push(anywhere.filter(named).filter(lives).collect());
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Forgets the inputs that were attached to a decision.
    pub fn forget(&mut self, scope: &TrackerScope<'_>) {
        for key in scope.keys() {
            self.keys.remove(&key);
        }
        if let (Some(handle), Some(anywhere)) = (scope.transport, self.keys.get_mut(ANYWHERE)) {
            anywhere.inputs.retain(|tracked| tracked.handle.as_deref() != Some(handle));
        }
    }
}

fn check_text(action: &str, is_allowed: bool, violations: usize) -> String {
    let action = truncate_masked(action, QUOTED_CHARS);
    if is_allowed {
        return format!("Checked '{action}': allowed");
    }
    format!("Checked '{action}': blocked ({violations} violations)")
}

fn lookup_text(id: &str, title: &str) -> String {
    format!("Retrieved decision {id}: {}", truncate_masked(title, QUOTED_CHARS))
}

fn stats_text(decisions: usize, types: usize, diversity: Option<f64>) -> String {
    let mut text = format!("Reviewed reason stats: {types} types, {decisions} decisions");
    if let Some(diversity) = diversity {
        text.push_str(", diversity=");
        text.push_str(&fixed(diversity, 2));
    }
    text
}

/// Removes the oldest inputs, of all groups together, until at most so many are left.
fn keep_newest(groups: &mut Vec<Vec<&TrackedInput>>, most: usize) {
    let mut excess = groups.iter().map(Vec::len).sum::<usize>().saturating_sub(most);
    while excess > 0 {
        let Some(oldest) = groups.iter_mut().min_by_key(|group| group.first().map_or(i64::MAX, |first| first.at))
        else {
            return;
        };
        oldest.remove(0);
        excess -= 1;
    }
    groups.retain(|group| !group.is_empty());
}

/// Puts inputs into a deliberation, after what is there: each with the step that rests on it.
fn attach(deliberation: Option<Deliberation>, group: &[&TrackedInput], text_bytes: usize) -> Deliberation {
    let is_first = deliberation.is_none();
    let mut deliberation = deliberation.unwrap_or_default();
    let mut number = deliberation.steps.iter().map(|step| step.step).max().unwrap_or_default();
    for tracked in group {
        let (_, source, kind) = tracked.kind.names();
        let timestamp = Some(timestamps::iso(tracked.at));
        let text = truncate_masked_bytes(&tracked.text, text_bytes);
        let id = add_input(&mut deliberation, (&tracked.id, &text), source, timestamp.clone());
        number = number.saturating_add(1);
        deliberation.steps.push(DeliberationStep {
            step: number,
            thought: text,
            inputs_used: vec![id],
            timestamp,
            kind: Some(kind.to_owned()),
            ..DeliberationStep::default()
        });
    }
    if let (true, [first, .., last]) = (is_first, group) {
        deliberation.total_duration_ms = Some(u64::try_from(last.at - first.at).unwrap_or_default());
    }
    deliberation
}

/// Adds an input under an id of its own; one that the deliberation has already is left as it is.
fn add_input(
    deliberation: &mut Deliberation,
    (own, text): (&str, &str),
    source: &str,
    timestamp: Option<String>,
) -> String {
    let find = |id: &str| deliberation.inputs.iter().find(|input| input.id == id);
    let mut id = own.to_owned();
    let mut next = 2_u32;
    while let Some(known) = find(&id) {
        if known.text == text {
            return id;
        }
        id = format!("{own}-{next}");
        next += 1;
    }
    let input = DeliberationInput {
        id: id.clone(),
        text: text.to_owned(),
        source: Some(source.to_owned()),
        timestamp,
        unknown: JsonMap::new(),
    };
    deliberation.inputs.push(input);
    id
}

#[cfg(test)]
mod tests;
