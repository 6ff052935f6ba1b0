//! The default pipeline: eight stages over positions of the log, nothing copied that is not rendered.

use super::append::{self, Manifest};
use super::draft::{Draft, Event, Sources, admit};
use super::header::{self, Header};
use super::output::{self, Layout};
use super::request::BuildRequest;
use super::select::units::Selection;
use super::{explain, sensitivity};
use crate::store::EventLog;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextPack, ItemKind};
use contextweaver_text::unicode::quote;

/// A finished build.
pub struct Built {
    /// The pack.
    pub pack: ContextPack,
    /// For the hooks.
    pub events: Vec<Event>,
    /// What the next append-mode build starts from.
    pub manifest: Option<Manifest>,
    /// Postings, items and pieces touched.
    pub work: u64,
}

/// Compiles a prompt. When the caller's functions must be asked, the result is provisional and must be thrown away.
pub fn build(sources: &Sources, request: &BuildRequest, previous: Option<&Manifest>) -> Result<Built> {
    sensitivity::check_hooks(&sources.options.policy, &sources.options.custom_hooks)?;
    let pins = resolve_pins(sources.events, request)?;
    let mut draft = admit(sources, request, &pins)?;
    let header = make_header(sources, request)?;
    let footer = super::firewall::clean(&request.footer, sources.options).into_owned();
    let frame = output::Frame::new(&header.text, &footer, sources, request);
    let terms = draft.score();
    draft.make_units(&pins);
    let built = |draft: &Draft, limit: u64| -> Result<(Selection, Option<Layout>)> {
        let planner = draft.planner(&terms, limit);
        match previous {
            _ if !sources.options.append => Ok((draft.selector(&planner, limit).choose()?, None)),
            None => Ok((append::cut(draft, &planner, limit)?, None)),
            Some(manifest) => append::extend(draft, &planner, manifest, &frame, limit),
        }
    };
    let mut limit = frame.limit()?;
    loop {
        let (selection, layout) = built(&draft, limit)?;
        let prompt = output::assemble(&draft, &selection, layout.as_ref(), &frame);
        let excess = prompt.tokens.saturating_sub(frame.budget);
        if excess == 0 || sources.answers.is_waiting() {
            let finished = Finished { draft, selection, layout, prompt, frame: &frame, header: &header };
            return finished.into_built(previous);
        }
        // Only a caller's estimator can disagree with the sum of the parts; give it the difference and try again.
        let step = (4 * excess).max(limit / 64).max(4);
        if step > limit {
            return Err(Error::new(
                ErrorCode::BudgetExceeded,
                format!("the prompt exceeds the budget by {excess} tokens"),
            )
            .detail("over_by", excess));
        }
        limit -= step;
    }
}

fn resolve_pins(events: &EventLog, request: &BuildRequest) -> Result<Vec<usize>> {
    request
        .pin
        .iter()
        .enumerate()
        .map(|(index, id)| {
            events.position(id).ok_or_else(|| {
                Error::new(ErrorCode::NotFound, format!("no item with id {}", quote(id))).at(format!("/pin/{index}"))
            })
        })
        .collect()
}

fn make_header(sources: &Sources, request: &BuildRequest) -> Result<Header> {
    let memory = sources.options.policy.allows(request.phase, ItemKind::MemoryFact);
    // Facts ranked by the query would move with every query, and with them everything below.
    let query = if sources.options.append { "" } else { &request.query };
    header::ranked(&request.header, query, memory, sources.episodes, sources.facts, sources.options, sources.answers)
}

struct Finished<'a> {
    draft: Draft<'a>,
    selection: Selection,
    layout: Option<Layout>,
    prompt: output::Prompt,
    frame: &'a output::Frame,
    header: &'a Header,
}

impl Finished<'_> {
    fn into_built(self, previous: Option<&Manifest>) -> Result<Built> {
        let Self { mut draft, selection, layout, prompt, frame, header } = self;
        draft.work += selection.work;
        for (id, reason) in &header.dropped {
            draft.warnings.push(format!("{} left out of the header: {reason}", quote(id)));
        }
        let mut stats = output::stats(&draft, &selection, &prompt, frame);
        let (overflow, events) = output::events(&draft, &selection, &stats, frame);
        output::check_overflow(&draft.sources.options.policy, &overflow, &stats, &mut draft.warnings)?;
        stats.dependency_closures = draft.closures.len() as u64 + selection.closures;
        let explanation = draft.request.explain.then(|| explain::explain(&draft, &selection, &stats, frame));
        let envelopes = output::envelopes(&draft, &prompt);
        let append = draft.sources.options.append;
        let prefix = append.then(|| append::compare(previous, &prompt.text, layout.as_ref()));
        let manifest = append.then(|| Manifest::of(&draft, &prompt, frame));
        let pack = ContextPack {
            prompt: prompt.text,
            stats,
            phase: draft.request.phase,
            envelopes,
            items: Some(prompt.items),
            warnings: std::mem::take(&mut draft.warnings),
            explanation,
            prefix,
        };
        Ok(Built { pack, events, manifest, work: draft.work })
    }
}
