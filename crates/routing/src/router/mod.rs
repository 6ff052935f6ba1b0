//! From a query to a short list, with a reason for every place.

mod adjust;
mod beam;
mod beam_index;
mod completion;
mod conversation;
mod decision;
mod derived;
mod embeddings;
mod explanation;
mod feedback;
mod filter;
mod history;
mod impact;
mod judgement;
mod options;
mod question;
mod record;
mod report;
mod shortlist;

pub use completion::{CompletionReason, QueryCompletion};
pub use conversation::{Conversation, MAX_TURNS, RouteTurn, TURN_CHARS};
pub use decision::{DecisionParts, RoutingDecision};
pub use explanation::RouteExplanation;
pub use feedback::{FeedbackWeights, ToolFeedback, adjust_by_feedback, aggregate_feedback};
pub use filter::{FilterVerdict, RouteFilters, with_hints};
pub use history::{CalledTools, RouteHistory, ScoreDeltas};
pub use impact::{IMPACT_TOP_K, ImpactExample, RouteProbe, RoutingImpact, routing_impact};
pub use options::{MAX_TOP_K, Navigator, RouteFeedback, RouteOptions, RouterOptions, vector};
pub use question::clarifying_question;
pub use record::{RouteResult, RouteStep, RouteTrace, ScoredChild};
pub use shortlist::{RankedCandidate, ShortlistLimits, shortlist};

use crate::Catalog;
use crate::cards::ToolNames;
use crate::graph::{BrowseIndex, ChoiceGraph};
use crate::index::{FIRST_TOOLS, RankScope, RouteMatch, ToolIndex};
use adjust::{adjust, likeness};
use beam::BeamLimits;
use beam_index::BeamIndex;
use completion::completed;
use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{JsonMap, SelectableItem};
use filter::ActiveTools;
use judgement::Judgement;
use report::ResultBuilder;

/// Best tools that a clarifying question and the judgement of ambiguity look at.
const LOOKED_AT: usize = 3;

/// Chooses tools out of a catalog.
///
/// The exact navigator scores every tool through an inverted index: a query costs time in proportion to the tools that
/// share a word with it. The graph is built when it is first needed, in near-linear time.
#[derive(Debug, Clone)]
pub struct Router {
    /// Returns the catalog it routes over.
    catalog: Catalog,
    /// Returns its options.
    options: RouterOptions,
    index: Option<ToolIndex>,
    graph: Option<ChoiceGraph>,
    /// Whether the caller gave the graph: it cannot be built again.
    is_given: bool,
    /// Whether the graph lacks what only its JSON and its pages need: labels, and the hash of the catalog.
    is_outline: bool,
    beam: Option<BeamIndex>,
    browse: Option<BrowseIndex>,
    names: Option<ToolNames>,
}

/// Candidates of a navigator, before filters of the short list.
#[derive(Debug, Default)]
struct NavigatorResult {
    /// All candidates, best first.
    ranked: Vec<RankedCandidate>,
    steps: Vec<RouteStep>,
    /// Near-duplicates behind a tool, for those that stand for some.
    folded: JsonMap,
    /// Those of them that are near-duplicates of others.
    variants: WordSet,
    /// What history added to the score of each tool.
    history: JsonMap,
    /// What each tool of the short list was found by, if asked for.
    matches: Vec<RouteMatch>,
    /// Whether the query names the first tool.
    is_exact: bool,
    /// Whether the caller's vectors were compared, too.
    is_hybrid: bool,
    /// Whether anything fits; the beam navigator cannot tell.
    judgement: Option<Judgement>,
    /// What the query was completed to, where it does not stand on its own.
    completion: Option<QueryCompletion>,
}

impl Router {
    /// Makes a router of a catalog.
    pub fn new(catalog: Catalog, options: RouterOptions) -> Self {
        let index =
            (options.navigator == Navigator::Exact).then(|| ToolIndex::build(catalog.items(), options.index.clone()));
        Self::of(catalog, options, index)
    }

    /// Makes a router with the index that [`Router::index_bytes`] wrote, which is faster than building it.
    ///
    /// # Errors
    ///
    /// Fails with `DECODE_FAILED` when the bytes are damaged and with `SNAPSHOT_VERSION` when they are of other tools
    /// or of another version.
    ///
    /// # Examples
    ///
    /// ```
    /// # use contextweaver_routing::Catalog;
    /// # use serde_json::json;
    /// # let catalog = Catalog::from_value(json!({ "items": [
    /// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
    /// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
    /// # ] }), "")?;
    ///
    /// use contextweaver_routing::{RouteOptions, Router, RouterOptions};
    ///
    /// let bytes = Router::new(catalog.clone(), RouterOptions::default()).index_bytes();
    /// // In a later process: the index is read instead of built.
    /// let mut router = Router::with_index(catalog, RouterOptions::default(), &bytes)?;
    /// assert_eq!(router.route("send an email", &RouteOptions::default())?.candidate_ids[0], "mail.send");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn with_index(catalog: Catalog, options: RouterOptions, index: &[u8]) -> Result<Self> {
        if options.navigator == Navigator::Beam {
            return Err(Error::new(ErrorCode::InvalidInput, "the beam navigator has no index that could be restored"));
        }
        let index = ToolIndex::from_bytes(index, catalog.items(), options.index.clone())?;
        Ok(Self::of(catalog, options, Some(index)))
    }

    /// Returns the index as bytes for [`Router::with_index`]; nothing for the beam navigator, which has none.
    pub fn index_bytes(&self) -> Vec<u8> {
        self.index.as_ref().map(ToolIndex::to_bytes).unwrap_or_default()
    }

    fn of(catalog: Catalog, options: RouterOptions, index: Option<ToolIndex>) -> Self {
        Self {
            catalog,
            options,
            index,
            graph: None,
            is_given: false,
            is_outline: false,
            beam: None,
            browse: None,
            names: None,
        }
    }

    /// Returns the tools.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the settings.
    pub fn options(&self) -> &RouterOptions {
        &self.options
    }

    /// Adds tools, or none of them when one has an id that is taken. The index takes them in without being rebuilt.
    ///
    /// # Errors
    ///
    /// Fails as [`Catalog::register_all`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use contextweaver_routing::Catalog;
    /// # use serde_json::json;
    /// # let catalog = Catalog::from_value(json!({ "items": [
    /// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
    /// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
    /// # ] }), "")?;
    ///
    /// use contextweaver_model::SelectableItem;
    /// use contextweaver_routing::{RouteOptions, Router, RouterOptions};
    ///
    /// let mut router = Router::new(catalog, RouterOptions::default());
    /// let tool = json!({ "id": "maps.route", "kind": "tool", "name": "plan_trip", "description": "Plan a trip by train." });
    /// router.add(vec![SelectableItem::from_value(tool, "")?])?;
    /// assert_eq!(router.route("a train trip", &RouteOptions::default())?.candidate_ids[0], "maps.route");
    /// assert_eq!(router.remove(&["maps.route".to_owned()]), 1);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn add(&mut self, items: Vec<SelectableItem>) -> Result<()> {
        let ids: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
        self.catalog.register_all(items)?;
        if let Some(index) = &mut self.index {
            for item in ids.iter().filter_map(|id| self.catalog.find(id)) {
                index.add(item);
            }
        }
        self.forget();
        Ok(())
    }

    /// Removes tools; returns how many were there.
    pub fn remove(&mut self, ids: &[String]) -> usize {
        let mut removed = 0;
        for id in ids {
            if self.catalog.remove(id).is_some() {
                removed += 1;
                if let Some(index) = &mut self.index {
                    index.remove(id);
                }
            }
        }
        if removed > 0 {
            self.forget();
        }
        removed
    }

    /// Chooses tools for a query.
    ///
    /// A query that nothing fits is no failure: the result says `no_match`.
    ///
    /// # Errors
    ///
    /// Fails with `NO_CANDIDATES` when the catalog is empty or the filters leave nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use contextweaver_routing::Catalog;
    /// # use serde_json::json;
    /// # let catalog = Catalog::from_value(json!({ "items": [
    /// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
    /// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
    /// # ] }), "")?;
    ///
    /// use contextweaver_routing::{RouteOptions, Router, RouterOptions};
    ///
    /// let mut router = Router::new(catalog, RouterOptions::default());
    /// let result = router.route("write an email to Ada", &RouteOptions { debug: true, ..RouteOptions::default() })?;
    /// assert_eq!(result.candidate_ids[0], "mail.send");
    /// // Which terms matched, in which field and with what share of the score.
    /// assert!(result.trace.extra.contains_key("matches"));
    /// assert_eq!(router.route("zzz", &RouteOptions::default())?.no_match, Some(true));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn route(&mut self, query: &str, options: &RouteOptions) -> Result<RouteResult> {
        self.prepare()?;
        let needs_names = !options.conversation.turns().is_empty() && self.index.is_some()
            || options
                .history
                .as_ref()
                .is_some_and(|history| history.called_tool_ids.iter().any(|id| !self.catalog.contains(id)));
        if needs_names {
            self.names();
        }
        let (mut text, hints) = with_hints(query, &options.context_hints);
        let Self { catalog, options: router, index, graph, beam, names, .. } = self;
        let active = ActiveTools::new(catalog, &options.filters)?;
        let mut found = match (index.as_mut(), graph.as_ref(), beam.as_ref()) {
            (Some(index), ..) => {
                let plain = exact(index, [query, &text], &active, router, options, options.query_embedding.as_deref())?;
                match names.as_ref().filter(|_| !options.conversation.turns().is_empty()) {
                    Some(names) => completed(index, query, plain, &active, names, router, options)?,
                    None => plain,
                }
            }
            (None, Some(graph), Some(beam)) => by_beam(beam, graph, &text, &active, router, options)?,
            _ => NavigatorResult::default(),
        };
        if let Some(completion) = &found.completion {
            text = with_hints(&completion.query, &options.context_hints).0;
        }
        let mut likeness = |summary: &str, found: &[RankedCandidate]| match (index.as_mut(), beam.as_ref()) {
            (Some(index), _) => likeness(index, summary, found),
            (None, Some(beam)) => Ok(beam.scores(summary, found)),
            _ => Ok(SortedMap::new()),
        };
        let names = names.as_ref().filter(|_| needs_names);
        adjust(&mut found, &active, names, router, options, &mut likeness)?;
        found.put_called_first();
        let places = ShortlistLimits {
            top_k: options.top_k.unwrap_or(router.config.top_k) as usize,
            pinned: &options.pin_ids,
            namespace_quota: options.namespace_quota.map(|quota| quota as usize),
        };
        let mut short = shortlist(&found.ranked, places, &|id| active.get(id).map(|item| item.namespace.as_str()));
        tell_of(&mut short, &mut found, graph.as_ref());
        if let (true, Some(index)) = (options.debug, index.as_mut()) {
            for candidate in &short {
                found.matches.push(index.explain(&text, &candidate.id)?);
            }
        }
        Ok(ResultBuilder { router, options, query, hints, active: &active, found: &found }.result(short))
    }

    /// Builds what routing needs and is not there.
    fn prepare(&mut self) -> Result<()> {
        if self.graph.is_none() && !self.catalog.is_empty() {
            self.build_outline()?;
        }
        if let (None, None, Some(graph)) = (&self.index, &self.beam, &self.graph) {
            self.beam = Some(BeamIndex::new(&self.catalog, graph, &self.options));
        }
        Ok(())
    }
}

fn exact(
    index: &mut ToolIndex,
    [query, text]: [&str; 2],
    active: &ActiveTools<'_>,
    router: &RouterOptions,
    options: &RouteOptions,
    embedding: Option<&[f32]>,
) -> Result<NavigatorResult> {
    let allowed = |id: &str| active.get(id).is_some();
    let top_k = options.top_k.unwrap_or(router.config.top_k) as usize;
    let scope = RankScope {
        allowed: (!options.filters.is_empty()).then_some(&allowed),
        embedding,
        // Quotas skip tools, history and feedback change their order, and pinned ones are looked up among all.
        limit: if options.looks_at_all() { usize::MAX } else { top_k.max(FIRST_TOOLS) },
    };
    let ranking = index.rank_as(text, query, scope)?;
    let is_hybrid = scope.embedding.is_some() && index.has_vectors();
    let mut found = NavigatorResult { is_exact: ranking.is_exact, is_hybrid, ..NavigatorResult::default() };
    let mut judgement = Judgement::new(&ranking, is_hybrid, router.min_confidence, text);
    let (mut ceiling, mut variants) = (f64::MAX, Vec::new());
    for entry in ranking.entries {
        if judgement.no_match || entry.score < router.min_score {
            continue;
        }
        if entry.folded > 0 {
            found.folded.insert(entry.id.clone(), entry.folded.into());
        }
        if entry.is_variant {
            variants.push(entry.id.clone());
        }
        // A near-duplicate comes after all others, so its score is at most theirs.
        ceiling = entry.score.min(ceiling);
        // Paths are looked up for the short list alone.
        found.ranked.push(RankedCandidate { id: entry.id, score: ceiling, path: Vec::new() });
    }
    if found.ranked.is_empty() && !judgement.no_match {
        "no tool reaches `min_score`".clone_into(&mut judgement.cause);
    }
    found.variants = WordSet::new(variants);
    found.judgement = Some(judgement);
    Ok(found)
}

/// Looks up the paths of the short list, and leaves out what history says of thousands of tools that are not in it.
fn tell_of(short: &mut [RankedCandidate], found: &mut NavigatorResult, graph: Option<&ChoiceGraph>) {
    let shown = WordSet::new(short.iter().map(|candidate| candidate.id.clone()).collect());
    found.history.retain(|id, _| shown.contains(id));
    for candidate in short.iter_mut().filter(|candidate| candidate.path.is_empty()) {
        candidate.path = graph.map(|graph| path_to(graph, &candidate.id)).unwrap_or_default();
    }
}

/// Returns the node ids from below the root to a tool.
fn path_to(graph: &ChoiceGraph, id: &str) -> Vec<String> {
    let Some(mut place) = graph.place(id) else { return Vec::new() };
    let mut path = vec![id.to_owned()];
    while let Some(parent) = graph.parents_at(place).first() {
        place = *parent;
        path.push(graph.id(place).to_owned());
    }
    path.pop();
    path.reverse();
    path
}

fn by_beam(
    beam: &BeamIndex,
    graph: &ChoiceGraph,
    text: &str,
    active: &ActiveTools<'_>,
    router: &RouterOptions,
    options: &RouteOptions,
) -> Result<NavigatorResult> {
    let config = router.config;
    let reach = BeamLimits {
        beam_width: config.beam_width as usize,
        max_depth: config.max_depth as usize,
        top_k: options.top_k.unwrap_or(config.top_k) as usize,
        confidence_gap: config.confidence_gap,
    };
    let (ranked, steps) = beam.search(graph, text, reach, &|id| active.get(id).is_some())?;
    Ok(NavigatorResult { ranked, steps, ..NavigatorResult::default() })
}
