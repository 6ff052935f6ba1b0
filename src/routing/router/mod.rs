//! From a query to a short list, with a reason for every place.

mod beam;
mod beam_index;
mod filter;
mod options;
mod question;
mod record;
mod shortlist;

pub use filter::{Filters, Verdict, with_hints};
pub use options::{Navigator, RouteOptions, RouterOptions};
pub use question::clarifying_question;
pub use record::{RouteResult, RouteStep, RouteTrace, ScoredChild};
pub use shortlist::{Candidate, Places, shortlist};

use serde_json::json;

use crate::error::{Error, ErrorCode, Result};
use crate::model::{JsonMap, SelectableItem};
use crate::order::SortedMap;
use crate::routing::Catalog;
use crate::routing::graph::ChoiceGraph;
use beam::{Reach, by_score};
use beam_index::BeamIndex;

/// Tools that a clarifying question and the judgement of ambiguity look at.
const LOOKED_AT: usize = 3;

/// Chooses tools out of a catalog.
///
/// The exact navigator scores every tool through an inverted index: a query costs time in proportion to the tools that
/// share a word with it. The graph is built when it is first needed, in near-linear time.
#[derive(Debug, Clone)]
pub struct Router {
    catalog: Catalog,
    options: RouterOptions,
    graph: Option<ChoiceGraph>,
    beam: Option<BeamIndex>,
    index: Option<Index>,
}
