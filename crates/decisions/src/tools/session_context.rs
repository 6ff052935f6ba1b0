//! What an agent should know at the start of a session.

use serde_json::{Map, Value, json};

use super::statistics::DecisionSelector;
use crate::briefing::{Briefing, BriefingBudget, wisdom};
use crate::contradictions::Contradiction;
use crate::host::CallerContext;
use crate::profile::{SamplesByCategory, patterns, profile};
use crate::ready::{DueFilter, OVERDUE, STALE, queue, shorten_ids};
use crate::record::CompactionLevel;
use crate::search::{BridgeSide, DecisionFilters, DecisionQuery, LONG_TITLE, RetrievalMode, summary};
use crate::store::DecisionStore;
use contextweaver_base::limits::MAX_BUDGET_TOKENS;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::trim;

/// The sections; the first five unless a call says otherwise.
const SECTIONS: &[&str] = &["decisions", "guardrails", "calibration", "ready", "patterns", "contradictions", "wisdom"];
const USUAL: usize = 5;

struct SessionContextArguments {
    task: Option<String>,
    include: Vec<String>,
    decisions: usize,
    ready: usize,
    is_json: bool,
    budget: BriefingBudget,
    selection: DecisionSelector,
    filters: DecisionFilters,
}

impl SessionContextArguments {
    fn read(arguments: &Map<String, Value>, call: &CallerContext<'_>) -> Result<Self> {
        let mut fields = Fields::open(Value::Object(arguments.clone()), "")?;
        let selection = DecisionSelector::take(&mut fields, call)?;
        let usual = || SECTIONS[..USUAL].iter().map(|name| (*name).to_owned()).collect();
        let include =
            if fields.peek("include").is_none_or(Value::is_null) { usual() } else { fields.strings("include")? };
        if let Some(at) = include.iter().position(|name| !SECTIONS.contains(&name.as_str())) {
            let message = format!("expected one of {}, got {}", SECTIONS.join(", "), quote(&include[at]));
            return Err(Error::new(ErrorCode::InvalidInput, message).at(format!("/include/{at}")));
        }
        Ok(Self {
            task: fields.opt_string("task_description")?.filter(|task| !trim(task).is_empty()),
            include,
            decisions: fields.uint_or("decisions_limit", 10, 50)? as usize,
            ready: fields.uint_or("ready_limit", 5, 20)? as usize,
            is_json: fields.string_or("format", "markdown")? == "json",
            budget: BriefingBudget {
                chars: fields.opt_uint("max_chars", u64::from(u32::MAX))?,
                tokens: fields.opt_uint("max_tokens", MAX_BUDGET_TOKENS)?,
            },
            filters: DecisionFilters { agent: selection.agent().map(str::to_owned), ..DecisionFilters::default() },
            selection,
        })
    }

    fn wants(&self, section: &str) -> bool {
        self.include.iter().any(|name| name == section)
    }

    fn query(&self, store: &DecisionStore) -> Option<DecisionQuery<'_>> {
        let text = self.task.as_deref().filter(|_| self.wants("decisions"))?;
        let mode = store.options.search.context_retrieval_mode;
        Some(DecisionQuery { text, limit: self.decisions, mode, side: BridgeSide::Both, filters: &self.filters })
    }
}

/// Returns the texts whose vectors the host must make before the tool runs.
pub fn session_context_texts(
    store: &DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<String>> {
    let arguments = SessionContextArguments::read(arguments, call)?;
    let mut query = arguments.query(store);
    if arguments.wants("contradictions") {
        // They are looked for among the vectors of decisions, which a search by meaning asks for; whatever for.
        let any = DecisionQuery {
            text: SECTIONS[5],
            limit: 1,
            mode: RetrievalMode::Semantic,
            side: BridgeSide::Both,
            filters: &arguments.filters,
        };
        query = Some(DecisionQuery { mode: RetrievalMode::Semantic, ..query.unwrap_or(any) });
    }
    Ok(query.map_or_else(Vec::new, |query| store.texts_to_embed(call.answers, &query)))
}

/// Returns what an agent should know at the start of a task, as Markdown or JSON.
pub fn get_session_context(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Value> {
    let arguments = SessionContextArguments::read(arguments, call)?;
    let (briefing, warnings) = brief(store, call, &arguments)?;
    let mut out = if arguments.is_json {
        briefing.to_json()
    } else {
        let written = briefing.to_markdown(call.agent, arguments.budget);
        let mut out = Map::new();
        out.insert("markdown".to_owned(), written.markdown.into());
        if written.omitted > 0 {
            out.insert("omittedLines".to_owned(), written.omitted.into());
        }
        out.insert("queryTimeMs".to_owned(), 0.into());
        out
    };
    if !warnings.is_empty() {
        out.insert("warnings".to_owned(), json!(warnings));
    }
    out.insert("trace_id".to_owned(), store.tracker.trace_id(call).into());
    Ok(Value::Object(out))
}

fn brief(
    store: &mut DecisionStore,
    call: &CallerContext<'_>,
    arguments: &SessionContextArguments,
) -> Result<(Briefing, Vec<Warning>)> {
    let mut briefing = Briefing { redact_secrets: store.options.service.redact_secrets, ..Briefing::default() };
    let mut warnings = Vec::new();
    if let Some(query) = arguments.query(store) {
        let found = store.query(call.answers, &query)?;
        warnings.extend(found.warnings);
        for hit in &found.hits {
            let Some(decision) = store.records.get(&hit.id) else { continue };
            let mut shown = summary(decision, hit, LONG_TITLE);
            shown.insert("compactionLevel".to_owned(), CompactionLevel::of(decision, call.now).as_str().into());
            briefing.relevant.push(Value::Object(shown));
        }
    }
    if arguments.wants("contradictions") {
        let found = store.contradictions(call.answers, &|decision| arguments.selection.holds(decision));
        briefing.contradictions = Some(found.iter().map(Contradiction::to_value).collect());
    }
    let own = store.records.iter().filter(|decision| arguments.selection.holds(decision));
    let categories = SamplesByCategory::of(own.clone());
    briefing.profile = profile(own.clone(), &categories);
    if arguments.wants("calibration") {
        let figures = categories.calibrations().into_iter();
        briefing.calibration = figures.map(|(category, figures)| (category.to_owned(), figures)).collect();
    }
    if arguments.wants("ready") {
        let kinds = [OVERDUE.to_owned(), STALE.to_owned()];
        let wanted = DueFilter { min_priority: "low", kinds: &kinds, limit: arguments.ready, category: None };
        let mut due = queue(own.clone(), call.now, &wanted);
        shorten_ids(&mut due.actions, |short| store.records.ids_starting(short).nth(1).is_none());
        briefing.ready = due.actions;
        warnings.extend(due.warnings);
    }
    if arguments.wants("patterns") {
        briefing.patterns = patterns(own.clone());
    }
    if arguments.wants("wisdom") {
        briefing.wisdom = Some(wisdom(own, call.now));
    }
    if arguments.wants("guardrails") {
        briefing.guardrails = store.rules.active();
        briefing.breakers = store.breakers.active(call.now);
    }
    Ok((briefing, warnings))
}
