//! What a build is asked for.

use std::collections::HashMap;

use serde_json::Value;

use crate::running::PriceModel;
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_model::json::{Fields, as_number, pointer};
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
#[derive(Debug, Clone, PartialEq)]
pub struct BuildRequest {
    /// What the prompt is for.
    pub phase: Phase,
    /// Text that relevance is measured against; may be empty.
    pub query: String,
    /// Sorted distinct tags: `query_tags` and `hints` together.
    pub tags: Vec<String>,
    /// Text above everything, part of the budget.
    pub header: String,
    /// Text below everything, part of the budget.
    pub footer: String,
    /// Tokens for this build instead of the phase's.
    pub budget_tokens: Option<u64>,
    /// Whether the prompt goes on with the one before of its phase, as in the loop of an agent; where that is not said, messages do
    /// and a text does not. A first prompt leaves room for others only where it is said.
    pub running: Option<bool>,
    /// Tokens of the budget for what stands beside the prompt, such as the definitions of tools.
    pub reserved_tokens: u64,
    /// What the provider has before the prompt, such as the names of the tools: where it changes, its cache is lost.
    pub head: Option<String>,
    /// Tokens of the tools that read what is hidden, which stand before the prompt only once something is.
    pub hidden_tokens: u64,
    /// What repeating a prompt costs, where the manager was not told.
    pub prices: Option<PriceModel>,
    /// How many messages of the running prompt the caller has: they are not handed out again.
    pub handed_out: Option<usize>,
    /// The time, in milliseconds since 1970, for a running prompt to know when the provider's cache is lost.
    pub now: Option<f64>,
    /// The model that is going to read it, if what its calls cost is to be used.
    pub model: Option<String>,
    /// Ids of items that must be in the prompt.
    pub pin: Vec<String>,
    /// Whether to say why every candidate was kept or dropped.
    pub explain: bool,
    /// Most dropped items that the stats list; all are counted.
    pub list_dropped: Option<u64>,
    /// The caller's scores by item id, 0 to 1.
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

    /// Reads a closed request: an unknown field is an error.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD`, `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field.
    pub fn from_value(value: Value) -> Result<Self> {
        let mut fields = Fields::open(value, "")?;
        let request = Self::take(&mut fields)?;
        fields.finish()?;
        Ok(request)
    }

    /// Takes the fields of a request out of a larger record. What a prompt is for must be said: a default would fit one
    /// phase of four.
    ///
    /// # Errors
    /// `MISSING_FIELD` without a phase; `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let phase = fields.parsed("phase", Phase::parse)?;
        Self::take_rest(phase, fields)
    }

    /// Takes the fields of a request whose phase is known where they do not name one.
    ///
    /// # Errors
    /// `INVALID_INPUT` and `OUT_OF_RANGE`, at the path of the field.
    pub fn take_for(phase: Phase, fields: &mut Fields) -> Result<Self> {
        let phase = fields.parsed_or("phase", phase, Phase::parse)?;
        Self::take_rest(phase, fields)
    }

    fn take_rest(phase: Phase, fields: &mut Fields) -> Result<Self> {
        let mut request = Self::new(phase, "");
        request.query = fields.string_or("query", "")?;
        request.tags = fields.strings("query_tags")?;
        request.tags.extend(fields.strings("hints")?);
        contextweaver_base::order::sort_distinct(&mut request.tags);
        request.header = fields.string_or("header", "")?;
        request.footer = fields.string_or("footer", "")?;
        request.budget_tokens = fields.opt_uint("budget_tokens", limits::MAX_BUDGET_TOKENS)?;
        request.running = fields.opt_bool("running")?;
        request.reserved_tokens = fields.uint_or("reserved_tokens", 0, limits::MAX_BUDGET_TOKENS)?;
        request.head = fields.opt_string("head")?;
        request.hidden_tokens = fields.uint_or("hidden_tokens", 0, limits::MAX_BUDGET_TOKENS)?;
        let prices_at = fields.at("prices");
        request.prices = fields.take("prices").map(|value| PriceModel::from_value(value, &prices_at)).transpose()?;
        request.handed_out = fields.opt_uint("handed_out", u64::MAX)?.map(|count| count as usize);
        request.now = fields.opt_number("now", 0.0, f64::MAX)?;
        request.model = fields.opt_string("model")?;
        request.pin = fields.strings("pin")?;
        request.explain = fields.bool_or("explain", false)?;
        request.list_dropped = fields.opt_uint("list_dropped", u64::MAX)?;
        let at = fields.at("item_scores");
        for (id, score) in fields.object("item_scores")? {
            let score = as_number(&score, &pointer(&at, &id), 0.0, 1.0)?;
            request.item_scores.insert(id, score);
        }
        Ok(request)
    }
}
