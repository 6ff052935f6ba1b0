//! What a build is asked for.

use std::collections::HashMap;

use crate::running::PriceModel;
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_model::json::{Fields, Record, as_number};
use contextweaver_model::{BuildStats, Phase};

/// A request for a prompt.
///
/// ```
/// use contextweaver_context::BuildRequest;
/// use contextweaver_model::Phase;
/// use serde_json::json;
///
/// let request = BuildRequest::from_value(json!({ "phase": "call", "query": "refund", "budget_tokens": 2000 }))?;
/// assert_eq!(request, BuildRequest { budget_tokens: Some(2000), ..BuildRequest::new(Phase::Call, "refund") });
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed, root)]
pub struct BuildRequest {
    /// What the prompt is for; where that is not said, an answer.
    #[record(with = phase)]
    pub phase: Phase,
    /// Text that relevance is measured against; may be empty.
    #[record(default)]
    pub query: String,
    /// Sorted distinct tags: `query_tags` and `hints` together.
    #[record(with = tags)]
    pub tags: Vec<String>,
    /// Text above everything, part of the budget.
    #[record(default)]
    pub header: String,
    /// Text below everything, part of the budget.
    #[record(default)]
    pub footer: String,
    /// Tokens for this build instead of the phase's.
    #[record(max = limits::MAX_BUDGET_TOKENS)]
    pub budget_tokens: Option<u64>,
    /// Whether the prompt goes on with the one before of its phase, as in the loop of an agent; where that is not said, messages do
    /// and a text does not. A first prompt leaves room for others only where it is said.
    pub running: Option<bool>,
    /// Tokens of the budget for what stands beside the prompt, such as the definitions of tools.
    #[record(default, max = limits::MAX_BUDGET_TOKENS)]
    pub reserved_tokens: u64,
    /// What the provider has before the prompt, such as the names of the tools: where it changes, its cache is lost.
    pub head: Option<String>,
    /// Tokens of the tools that read what is hidden, which stand before the prompt only once something is.
    #[record(default, max = limits::MAX_BUDGET_TOKENS)]
    pub hidden_tokens: u64,
    /// What repeating a prompt costs, where the manager was not told.
    pub prices: Option<PriceModel>,
    /// How many messages of the running prompt the caller has: they are not handed out again.
    #[record(max = u64::MAX)]
    pub handed_out: Option<usize>,
    /// The time, in milliseconds since 1970, for a running prompt to know when the provider's cache is lost.
    #[record(range = 0.0..=f64::MAX)]
    pub now: Option<f64>,
    /// The model that is going to read it, if what its calls cost is to be used.
    pub model: Option<String>,
    /// Ids of items that must be in the prompt.
    pub pin: Vec<String>,
    /// Whether to say why every candidate was kept or dropped.
    #[record(default)]
    pub explain: bool,
    /// Most dropped items that the stats list; all are counted.
    pub list_dropped: Option<u64>,
    /// The caller's scores by item id, 0 to 1.
    #[record(with = item_scores)]
    pub item_scores: HashMap<String, f64>,
}

impl BuildRequest {
    /// Leaves out of the stats what is not to be listed.
    pub(crate) fn shorten(&self, stats: &mut BuildStats) {
        if let Some(most) = self.list_dropped {
            stats.dropped_items.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
    }

    /// Makes a request with nothing but a phase and a query.
    pub fn new(phase: Phase, query: &str) -> Self {
        Self {
            phase,
            query: query.to_owned(),
            tags: Vec::new(),
            header: String::new(),
            footer: String::new(),
            budget_tokens: None,
            running: None,
            reserved_tokens: 0,
            head: None,
            hidden_tokens: 0,
            prices: None,
            handed_out: None,
            now: None,
            model: None,
            pin: Vec::new(),
            explain: false,
            list_dropped: None,
            item_scores: HashMap::new(),
        }
    }

    /// Takes the fields of a request whose phase is known where they do not name one.
    ///
    /// # Errors
    /// `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field.
    pub fn from_fields_for(phase: Phase, fields: &mut Fields) -> Result<Self> {
        fields.default_to("phase", phase.as_str());
        Self::from_fields(fields)
    }
}

fn phase(fields: &mut Fields, key: &'static str) -> Result<Phase> {
    fields.parsed_or(key, Phase::default(), Phase::parse)
}

/// Takes `query_tags` and `hints`.
fn tags(fields: &mut Fields, _: &'static str) -> Result<Vec<String>> {
    let mut tags = fields.strings("query_tags")?;
    tags.extend(fields.strings("hints")?);
    contextweaver_base::order::sort_distinct(&mut tags);
    Ok(tags)
}

fn item_scores(fields: &mut Fields, key: &'static str) -> Result<HashMap<String, f64>> {
    let scores =
        fields.entries(key, |id, score, at| Ok((id.to_owned(), as_number(&score, at, 0.0, 1.0)?)))?.unwrap_or_default();
    Ok(scores.into_iter().collect())
}
