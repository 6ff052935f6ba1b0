//! The record of a routing decision, as other systems take it over.

use serde::Serialize;
use serde_json::{Value, json};

use crate::cards::{ChoiceCard, SelectionValidation};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, JsonMap, Record};
use contextweaver_text::quote::quote;
use contextweaver_text::time::normal_iso;

/// What was offered, and what was chosen.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RoutingDecision {
    /// Unique, given by the caller.
    pub id: String,
    /// What was offered.
    pub choice_cards: Vec<ChoiceCard>,
    /// When, in ISO 8601 with an offset, given by the caller.
    #[record(with = timestamp, required)]
    pub timestamp: String,
    /// Anything the caller wants kept; `contextweaver` holds what the route says.
    pub metadata: JsonMap,
    /// The tool chosen, or the answer as it came when it was rejected.
    pub selected_item_id: Option<String>,
    /// The card chosen.
    pub selected_card_id: Option<String>,
    /// What the choice was made from, in short.
    pub context_summary: Option<String>,
}

/// What a decision is made of.
#[derive(Debug, Clone, Default)]
pub struct DecisionParts<'a> {
    /// Unique id.
    pub id: String,
    /// The moment, in ISO 8601.
    pub now: String,
    /// What was offered.
    pub choice_cards: Vec<ChoiceCard>,
    /// What the answer means, if there is one.
    pub selection: Option<&'a SelectionValidation>,
    /// The card chosen, if the caller knows better than the selection.
    pub selected_card_id: Option<String>,
    /// What the choice was made from, in short.
    pub context_summary: Option<String>,
    /// The caller's metadata; what it says under `contextweaver` wins over what is written there.
    pub metadata: JsonMap,
    /// Whether the best were too close to each other.
    pub is_ambiguous: bool,
    /// Tools excluded by id or tag.
    pub excluded_count: usize,
    /// Tools outside the namespaces or tags allowed.
    pub gated_count: usize,
    /// Whether a hint was used.
    pub context_boost_applied: bool,
    /// Hints that came with the query.
    pub context_hints: &'a [String],
    /// What to ask back.
    pub clarifying_question: Option<&'a str>,
}

impl RoutingDecision {
    /// Makes the record of a route.
    ///
    /// # Errors
    ///
    /// Fails with `NO_CANDIDATES` when nothing was offered and `INVALID_INPUT` for a moment that is none.
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
    /// use contextweaver_routing::{ChoiceCard, DecisionParts, RoutingDecision, ValidateOptions, validate_selection};
    ///
    /// let choice_cards: Vec<ChoiceCard> = catalog.items().map(|item| ChoiceCard::of(item, None, false)).collect();
    /// let ids: Vec<&str> = choice_cards.iter().map(|card| card.id.as_str()).collect();
    /// let selection = validate_selection(Some("mail.send"), &ids, &ValidateOptions::default());
    /// let decision = RoutingDecision::new(DecisionParts {
    ///     id: "r1".to_owned(),
    ///     now: "2026-03-15T12:00:00Z".to_owned(),
    ///     choice_cards: choice_cards.clone(),
    ///     selection: Some(&selection),
    ///     ..DecisionParts::default()
    /// })?;
    /// assert_eq!(decision.selected_item_id.as_deref(), Some("mail.send"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn new(parts: DecisionParts) -> Result<Self> {
        if parts.choice_cards.is_empty() {
            return Err(Error::new(ErrorCode::NoCandidates, "a decision needs something to choose from"));
        }
        let timestamp = moment(&parts.now, "/now")?;
        let mut metadata = parts.metadata.clone();
        let mut told = match metadata.shift_remove("contextweaver") {
            Some(Value::Object(own)) => own,
            Some(other) => {
                return Err(contextweaver_model::json::wrong_type("/metadata/contextweaver", "an object", &other));
            }
            None => JsonMap::new(),
        };
        for (key, value) in route_metadata(&parts) {
            told.entry(key).or_insert(value);
        }
        metadata.insert("contextweaver".to_owned(), Value::Object(told));
        let chosen = parts.selection.and_then(|selection| selection.selected_id.clone());
        let has_card = |id: &String| parts.choice_cards.iter().any(|card| card.id == *id);
        Ok(Self {
            id: parts.id,
            timestamp,
            metadata,
            selected_card_id: parts.selected_card_id.or_else(|| chosen.clone().filter(has_card)),
            selected_item_id: chosen.or_else(|| parts.selection.map(|selection| selection.raw_id.clone())),
            context_summary: parts.context_summary,
            choice_cards: parts.choice_cards,
        })
    }
}

/// Takes a time; one without a zone is UTC.
fn timestamp(fields: &mut Fields, key: &'static str) -> Result<String> {
    moment(&fields.string(key)?, &fields.at(key))
}

fn moment(text: &str, path: &str) -> Result<String> {
    normal_iso(text)
        .ok_or_else(|| Error::new(ErrorCode::InvalidInput, format!("{} is no time in ISO 8601", quote(text))).at(path))
}

/// Returns what a decision tells of its route.
fn route_metadata(parts: &DecisionParts) -> JsonMap {
    let present = |value: Value| Some(value).filter(|value| !value.is_null() && *value != json!([]));
    let fields = [
        ("is_ambiguous", Some(json!(parts.is_ambiguous))),
        ("excluded_count", Some(json!(parts.excluded_count))),
        ("gated_count", Some(json!(parts.gated_count))),
        ("context_boost_applied", Some(json!(parts.context_boost_applied))),
        ("context_hints", present(json!(parts.context_hints))),
        ("clarifying_question", present(json!(parts.clarifying_question))),
        ("selection", present(json!(parts.selection))),
    ];
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
