//! What the beam navigator reads: the graph, and a scorer over its tools and nodes.

use super::beam::{BeamGraph, BeamLimits, beam_search};
use super::options::RouterOptions;
use super::record::RouteStep;
use super::shortlist::RankedCandidate;
use crate::Catalog;
use crate::graph::ChoiceGraph;
use crate::graph::labels::item_text;
use crate::scorers::{PreparedQuery, Scorer};
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::similarity::jaccard;
use contextweaver_text::tokenize::token_set;

/// A scorer over the texts of tools, in the order of their ids, and then over the labels of nodes.
#[derive(Debug, Clone)]
pub struct BeamIndex {
    scorer: Scorer,
    documents: SortedMap<String, usize>,
}

impl BeamIndex {
    /// Indexes a catalog and the nodes of its graph.
    pub fn new(catalog: &Catalog, graph: &ChoiceGraph, options: &RouterOptions) -> Self {
        let mut documents = SortedMap::new();
        let mut corpus: Vec<String> = Vec::new();
        for item in catalog.items() {
            documents.insert(item.id.clone(), corpus.len());
            corpus.push(item_text(item));
        }
        for id in graph.nodes() {
            if catalog.contains(id) || graph.is_item(id) {
                continue;
            }
            let (label, hint) = graph.label(id).unwrap_or_default();
            documents.insert(id.to_owned(), corpus.len());
            corpus.push(format!("{label} {hint}"));
        }
        Self { scorer: Scorer::fit(options.scorer, &corpus), documents }
    }

    /// Returns the scores of tools for a text, 0 for those that are not indexed.
    pub fn scores(&self, text: &str, tools: &[RankedCandidate]) -> SortedMap<String, f64> {
        let query = self.scorer.prepare(text);
        let mut scores = SortedMap::new();
        scores.extend(tools.iter().map(|tool| (tool.id.clone(), self.score(&query, &tool.id).unwrap_or(0.0))));
        scores
    }

    fn score(&self, query: &PreparedQuery, id: &str) -> Option<f64> {
        self.scorer.score(query, *self.documents.get(id)?)
    }

    /// Looks for tools, best first.
    ///
    /// # Errors
    ///
    /// Fails when the graph has no root.
    pub fn search(
        &self,
        graph: &ChoiceGraph,
        query: &str,
        reach: BeamLimits,
        is_active: &dyn Fn(&str) -> bool,
    ) -> Result<(Vec<RankedCandidate>, Vec<RouteStep>)> {
        let root = graph.root_id.as_str();
        if !graph.has_node(root) {
            return Err(Error::new(ErrorCode::GraphInvalid, "the graph has no root").detail("missing_root", root));
        }
        let prepared = self.scorer.prepare(query);
        let words = token_set(query);
        let followed = followed(graph, is_active);
        let place = |id: &str| graph.place(id).is_some_and(|place| followed[place as usize]);
        Ok(beam_search(
            &BeamGraph {
                root,
                children: &|id| graph.successors(id),
                score: &|id| self.score(&prepared, id).unwrap_or_else(|| jaccard(&words, &token_set(id))),
                is_active,
                is_eligible: &place,
            },
            reach,
        ))
    }
}

/// Marks the tools that take part and the nodes above one, by place.
fn followed(graph: &ChoiceGraph, is_active: &dyn Fn(&str) -> bool) -> Vec<bool> {
    let mut marked = vec![false; graph.places()];
    let mut open: Vec<u32> = (0..graph.places() as u32).filter(|place| is_active(graph.id(*place))).collect();
    while let Some(place) = open.pop() {
        if !std::mem::replace(&mut marked[place as usize], true) {
            open.extend(graph.parents_at(place));
        }
    }
    marked
}
