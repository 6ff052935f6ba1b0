//! Settings of a router, and of one route.

use serde_json::Value;

use super::conversation::{Conversation, RouteTurn};
use super::feedback::{FeedbackWeights, ToolFeedback, aggregate_feedback};
use super::filter::RouteFilters;
use super::history::RouteHistory;
use super::judgement::MIN_CONFIDENCE;
use crate::graph::{BuildOptions, GroupingStrategy};
use crate::index::{IndexOptions, Lexicon, WordRelation};
use crate::scorers::ScorerKind;
use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, Record, as_number, as_string, pointer};
use contextweaver_model::{ProfileConfig, RoutingConfig};

/// Most tools one route returns.
pub const MAX_TOP_K: u64 = 10_000;
/// Ratio of the second score to the first from which a choice is ambiguous.
pub const AMBIGUITY_RATIO: f64 = 0.9;

contextweaver_model::string_enum! {
    /// How candidates are found.
    Navigator, "navigator" {
        /// Every tool is scored, through the inverted index.
        Exact = "exact",
        /// Down the graph, a few branches at a time.
        Beam = "beam",
    }
}

/// Options of a [`Router`](super::Router).
#[derive(Debug, Clone)]
pub struct RouterOptions {
    /// How candidates are found.
    pub navigator: Navigator,
    /// Scorer of the beam navigator.
    pub scorer: ScorerKind,
    /// Sizes of the short list, the beam and the graph.
    pub config: RoutingConfig,
    /// Ratio of the second score to the first from which a choice is ambiguous.
    pub ambiguity_ratio: f64,
    /// Tools with lower scores are left out. Scores of different queries and catalogs do not compare.
    pub min_score: f64,
    /// Confidence below which nothing fits; 0 returns whatever shares a word with the query.
    pub min_confidence: f64,
    /// Options of the exact navigator's index.
    pub index: IndexOptions,
    /// Options of the graph.
    pub tree: BuildOptions,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self {
            navigator: Navigator::Exact,
            scorer: ScorerKind::TfIdf,
            config: RoutingConfig::default(),
            ambiguity_ratio: AMBIGUITY_RATIO,
            min_score: 0.0,
            min_confidence: MIN_CONFIDENCE,
            index: IndexOptions::default(),
            tree: BuildOptions::default(),
        }
    }
}

impl RouterOptions {
    /// Reads settings over the defaults; unknown fields are refused.
    ///
    /// # Errors
    ///
    /// Fails with `UNKNOWN_FIELD`, `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_base::ErrorCode;
    /// use contextweaver_routing::RouterOptions;
    /// use serde_json::json;
    ///
    /// let options = RouterOptions::from_value(json!({ "top_k": 5, "fuzzy": false }))?;
    /// assert_eq!((options.config.top_k, options.index.fuzzy), (5, false));
    /// assert_eq!(RouterOptions::from_value(json!({ "topk": 5 })).unwrap_err().code(), ErrorCode::UnknownField);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn from_value(value: Value) -> Result<Self> {
        let mut fields = Fields::open(value, "")?;
        let options = Self::take(&mut fields, Self::default())?;
        fields.finish()?;
        Ok(options)
    }

    /// Takes the settings over `base` out of an object that may have others.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    pub fn take(fields: &mut Fields, base: Self) -> Result<Self> {
        let navigator = fields.parsed_or("navigator", base.navigator, Navigator::parse)?;
        let scorer = match fields.opt_string("scorer")? {
            Some(_) if navigator == Navigator::Exact => {
                return Err(Error::new(ErrorCode::InvalidInput, "the exact navigator has a scorer of its own")
                    .at(fields.at("scorer"))
                    .hint("give navigator: \"beam\" with it"));
            }
            given => {
                given.map(|name| ScorerKind::parse(&name).map_err(|error| error.at(fields.at("scorer")))).transpose()?
            }
        };
        let config = config(fields)?;
        let strategy = fields.parsed_or("strategy", base.tree.strategy, GroupingStrategy::parse)?;
        let group = fields.uint_or("target_group_size", config.max_children, MAX_TOP_K)?;
        if group == 0 {
            let message = "target_group_size must be at least 1";
            return Err(Error::new(ErrorCode::OutOfRange, message).at(fields.at("target_group_size")));
        }
        let max_children = config.max_children as usize;
        Ok(Self {
            tree: BuildOptions { strategy, max_children, target_group_size: group as usize },
            navigator,
            scorer: scorer.unwrap_or(base.scorer),
            config,
            ambiguity_ratio: fields.number_or("ambiguity_ratio", base.ambiguity_ratio, 0.0, 1.0)?,
            min_score: fields.number_or("min_score", base.min_score, 0.0, f64::MAX)?,
            min_confidence: fields.number_or("min_confidence", base.min_confidence, 0.0, 1.0)?,
            index: IndexOptions {
                lexicon: fields
                    .take("lexicon")
                    .map_or(Ok(base.index.lexicon), |value| lexicon(value, &fields.at("lexicon")))?,
                fuzzy: fields.bool_or("fuzzy", base.index.fuzzy)?,
                embedding_weight: fields.number_or("embedding_weight", base.index.embedding_weight, 0.0, 100.0)?,
            },
        })
    }
}

/// Takes the sizes: a preset, and what is given over it.
fn config(fields: &mut Fields) -> Result<RoutingConfig> {
    let base = match fields.opt_string("preset")? {
        None => RoutingConfig::default(),
        Some(name) => ProfileConfig::preset(&name).map_err(|error| error.at(fields.at("preset")))?.routing,
    };
    let mut size = |key: &'static str, default: u64, min: u64| {
        let value = fields.uint_or(key, default, MAX_TOP_K)?;
        if value >= min {
            return Ok(value);
        }
        let message = format!("{key} is {value}, it must be {min} to {MAX_TOP_K}");
        Err(Error::new(ErrorCode::OutOfRange, message).at(fields.at(key)))
    };
    Ok(RoutingConfig {
        beam_width: size("beam_width", base.beam_width, 1)?,
        max_depth: size("max_depth", base.max_depth, 1)?,
        top_k: size("top_k", base.top_k, 1)?,
        max_children: size("max_children", base.max_children, 2)?,
        confidence_gap: fields.number_or("confidence_gap", base.confidence_gap, 0.0, 1.0)?,
    })
}

/// Reads a lexicon: `english`, `none`, or words of the caller's own over one of them.
fn lexicon(value: Value, path: &str) -> Result<Lexicon> {
    if let Some(name) = value.as_str() {
        return named_lexicon(name).map_err(|error| error.at(path));
    }
    let mut fields = Fields::open(value, path)?;
    let mut lexicon =
        named_lexicon(&fields.string_or("base", "english")?).map_err(|error| error.at(fields.at("base")))?;
    for word in fields.strings("generic")? {
        lexicon.add_generic(&word);
    }
    let relations =
        [("verbs", WordRelation::Verb), ("nouns", WordRelation::Noun), ("abbreviations", WordRelation::Abbreviation)];
    for (key, relation) in relations {
        for group in fields.strings(key)? {
            lexicon.add_group(relation, &group);
        }
    }
    let at = fields.at("phrases");
    for (phrase, words) in fields.object("phrases")? {
        lexicon.add_phrase(&phrase, &as_string(words, &pointer(&at, &phrase))?);
    }
    fields.finish()?;
    Ok(lexicon)
}

contextweaver_model::string_enum! {
    /// Words that are there without the caller's.
    NamedLexicon, "lexicon" {
        /// Those of English tools.
        English = "english",
        /// No words.
        None = "none",
    }
}

fn named_lexicon(name: &str) -> Result<Lexicon> {
    // Made only when asked for: it takes a millisecond.
    Ok(match NamedLexicon::parse(name)? {
        NamedLexicon::English => Lexicon::english(),
        NamedLexicon::None => Lexicon::none(),
    })
}

/// Takes feedback, summed up by tool.
fn summed(fields: &mut Fields, key: &'static str) -> Result<SortedMap<String, ToolFeedback>> {
    Ok(aggregate_feedback(&fields.get::<Vec<ToolFeedback>>(key)?))
}

/// Options of one route.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteOptions {
    /// Tools to return, in place of the router's number.
    pub top_k: Option<u64>,
    /// Whether the trace carries the beam navigator's steps, or for each tool what it was found by.
    pub debug: bool,
    /// Whether the result carries the tools themselves.
    pub include_items: bool,
    /// Tools that may be chosen.
    pub filters: RouteFilters,
    /// Words that the query is to be read with.
    pub context_hints: Vec<String>,
    /// Tools that are in the short list whatever their score.
    pub pin_ids: WordSet,
    /// Tools of one namespace in the short list, pinned ones not counted.
    pub namespace_quota: Option<u64>,
    /// Earlier calls of the same session.
    pub history: Option<RouteHistory>,
    /// Outcomes of earlier calls.
    pub feedback: Option<RouteFeedback>,
    /// The caller's embedding of the query, of the same model as those of the tools.
    pub query_embedding: Option<Vec<f32>>,
    /// What was said and called before; it completes a query that does not stand on its own. Only the exact navigator reads it.
    pub conversation: Conversation,
}

/// Outcomes of earlier calls, and how much they weigh.
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
/// use contextweaver_routing::{RouteFeedback, RouteOptions, Router, RouterOptions};
///
/// let records = json!({ "records": [{ "item_id": "mail.send", "success": false }] });
/// let feedback = RouteFeedback::from_value(records, "")?;
/// let mut router = Router::new(catalog, RouterOptions::default());
/// let before = router.route("send an email", &RouteOptions::default())?;
/// let after = router.route("send an email", &RouteOptions { feedback: Some(feedback), ..RouteOptions::default() })?;
/// assert!(after.scores[0] < before.scores[0]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed)]
pub struct RouteFeedback {
    /// Sums by tool id.
    #[record(name = "records", with = summed)]
    pub tools: SortedMap<String, ToolFeedback>,
    /// Weight of each part of the feedback.
    #[record(default)]
    pub weights: FeedbackWeights,
}

impl RouteOptions {
    /// Tells whether tools beyond the first ones count.
    pub fn looks_at_all(&self) -> bool {
        self.namespace_quota.is_some() || !self.pin_ids.is_empty() || self.history.is_some() || self.feedback.is_some()
    }

    /// Takes the settings out of an object that may have others.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let top_k = fields.opt_uint("top_k", MAX_TOP_K)?;
        let quota = fields.opt_uint("namespace_quota", MAX_TOP_K)?;
        for (key, value) in [("top_k", top_k), ("namespace_quota", quota)] {
            if value == Some(0) {
                return Err(Error::new(ErrorCode::OutOfRange, format!("{key} must be at least 1")).at(fields.at(key)));
            }
        }
        let history = fields.get("history")?;
        let feedback = fields.get("feedback")?;
        let conversation = Conversation::new(fields.records("conversation", RouteTurn::from_value)?);
        let mut set = |key: &'static str| fields.strings(key).map(WordSet::new);
        let (exclude_ids, exclude_tags, pin_ids) = (set("exclude_ids")?, set("exclude_tags")?, set("pin_ids")?);
        Ok(Self {
            top_k,
            namespace_quota: quota,
            pin_ids,
            filters: RouteFilters {
                exclude_ids,
                exclude_tags,
                allowed_namespaces: given(fields, "allowed_namespaces")?,
                allowed_tags: given(fields, "allowed_tags")?,
            },
            debug: fields.bool_or("debug", false)?,
            include_items: fields.bool_or("include_items", false)?,
            context_hints: fields.strings("context_hints")?,
            query_embedding: vector(fields, "query_embedding")?,
            history,
            feedback,
            conversation,
        })
    }
}

/// Takes a vector; the index checks its length.
///
/// # Errors
///
/// Fails with `INVALID_INPUT` or `OUT_OF_RANGE` for what is no list of 32-bit floats.
pub fn vector(fields: &mut Fields, key: &'static str) -> Result<Option<Vec<f32>>> {
    if !fields.has(key) {
        return Ok(None);
    }
    let number = |value: Value, path: &str| as_number(&value, path, f64::from(f32::MIN), f64::from(f32::MAX));
    let numbers = fields.records(key, number)?;
    Ok((!numbers.is_empty()).then(|| numbers.into_iter().map(|number| number as f32).collect()))
}

/// Takes a set that says something even when it is empty; null counts as absent.
fn given(fields: &mut Fields, key: &'static str) -> Result<Option<WordSet>> {
    match fields.take(key) {
        None => Ok(None),
        Some(list) => {
            let mut one = Fields::open(serde_json::json!({ key: list }), fields.path())?;
            one.strings(key).map(WordSet::new).map(Some)
        }
    }
}
