//! Cases of the cards room.

use std::collections::HashMap;

use serde_json::{Value, json};

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::call_prompt::{SchemaOverrides, schema_header};
use contextweaver_model::{ContextItem, SelectableItem};
use contextweaver_routing::Catalog;
use contextweaver_routing::cards::{
    self, CardOptions, CardStyle, ChoiceCard, ProviderOptions, SchemaSource, SelectionSchemaOptions, ValidateOptions,
    tools_for,
};
use contextweaver_routing::router::{
    FeedbackWeights, RouteHistory, ToolFeedback, adjust_by_feedback, aggregate_feedback,
};
use contextweaver_text::tokens::Estimator;

use super::items;
use crate::GONE;

/// Cards with their scores, which the recordings have.
const STYLE: CardStyle = CardStyle { scores: true };

type Answer = std::result::Result<Value, String>;

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Answer> {
    Some(match file {
        "cards" => cards_case(input),
        "selection" => Ok(selection(input)),
        "hydration" => hydration(input),
        "export" => Ok(export(input)),
        "feedback" => Ok(feedback(input)),
        "history" => Ok(history(input)),
        "history_from_log" => Ok(history_from_log(input)),
        _ => return None,
    })
}

fn count(text: &str) -> u64 {
    Estimator::V2.tokens(text)
}

fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap_or_default()
}

/// Returns a result, or the name of the reference's error class.
fn answer<T: serde::Serialize>(result: Result<T>, class: impl Fn(&Error) -> &'static str) -> Value {
    match result {
        Ok(value) => json!(value),
        Err(error) => json!({ "error": class(&error) }),
    }
}

fn cards_case(input: &Value) -> Answer {
    let catalog_error = |_: &Error| "CatalogError";
    let item = || items(&json!([input["item"]])).remove(0);
    let number = |key: &str, default: u64| input[key].as_u64().unwrap_or(default);
    let scores: HashMap<String, f64> = serde_json::from_value(input["scores"].clone()).unwrap_or_default();
    let score = |id: &str| scores.get(id).copied();
    let options = CardOptions {
        max_cards: number("max_cards", 20) as usize,
        target_tokens: number("target", number("target_tokens_per_card", 60)),
        hard_cap_tokens: number("hard_cap", number("hard_cap_tokens_per_card", 80)),
        style: STYLE,
        ..CardOptions::default()
    };
    let made = || {
        let tools = items(&input["items"]);
        let scores = (!scores.is_empty()).then_some(&score as &cards::CardScores);
        cards::make_choice_cards(tools.iter(), scores, &options, &count).cards
    };
    let given = || -> Vec<ChoiceCard> {
        let list = input["cards"].as_array().expect("a case has cards");
        list.iter().map(|card| ChoiceCard::from_value(card.clone(), "").expect("a case has good cards")).collect()
    };
    Ok(match text(input, "op") {
        "item_to_card" => json!(ChoiceCard::of(&item(), input["score"].as_f64(), true)),
        "truncate_description_to_tokens" => {
            let max = input["max_tokens"].as_i64().and_then(|max| u64::try_from(max).ok()).unwrap_or(0);
            cards::truncate_description(text(input, "text"), max, &count).into()
        }
        "make_choice_cards" => {
            let made = made();
            json!({ "text": cards::render_cards(&made, STYLE), "cards": made })
        }
        "render_cards_text" => cards::render_cards(&given(), STYLE).into(),
        "bound_browse_response" | "format_card_for_prompt" => return Err(GONE.to_owned()),
        "card_from_dict" => answer(ChoiceCard::from_value(input["data"].clone(), ""), |error| match error.code() {
            ErrorCode::MissingField => "KeyError",
            _ => "ValidationError",
        }),
        "pack" => {
            let budget = input["budget_tokens"].as_u64();
            let ids = |cards: Vec<ChoiceCard>| cards.into_iter().map(|card| card.id).collect::<Vec<_>>();
            let packed = |made: Vec<ChoiceCard>| match budget {
                None => Ok(ids(made)),
                Some(budget) => cards::pack_cards(&made, budget, STYLE, &count).map(|packed| ids(packed.cards)),
            };
            answer(packed(made()), catalog_error)
        }
        other => return Err(format!("no runner for {other}")),
    })
}

fn selection(input: &Value) -> Value {
    let candidates: Vec<&str> =
        input["candidate_ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if text(input, "op") == "validate" {
        let repair = input["repair"].as_bool().unwrap_or(true);
        let options = ValidateOptions { repair, ..ValidateOptions::default() };
        return json!(cards::validate_selection(input["selected_id"].as_str(), &candidates, &options));
    }
    let base = SelectionSchemaOptions::default();
    let options = SelectionSchemaOptions {
        provider: input["provider"].as_str().unwrap_or(base.provider),
        property_name: input["property_name"].as_str().unwrap_or(base.property_name),
        schema_name: input["schema_name"].as_str().unwrap_or(base.schema_name),
        described_as: Some("tool_id"),
    };
    answer(cards::selection_schema(candidates.into_iter(), &options), |error| match error.code() {
        ErrorCode::NoCandidates => "RouteError",
        _ => "ConfigError",
    })
}

fn hydration(input: &Value) -> Answer {
    let mut catalog = Catalog::new();
    for item in items(&input["items"]) {
        catalog.register(item).map_err(|error| error.to_string())?;
    }
    let source = match input["source"].clone() {
        Value::Object(map) => Some(SchemaSource::from_map(map).map_err(|error| error.to_string())?),
        _ => None,
    };
    let id = text(input, "tool_id");
    Ok(match text(input, "op") {
        "hydrate" => answer(cards::hydrate_with_schema(&catalog, id, source.as_ref()), |_| "ItemNotFoundError"),
        "lazy" => json!(cards::schema_of(&catalog, id, source.as_ref())),
        "source_json" => {
            let source = SchemaSource::from_json(text(input, "text"));
            let all = |source: SchemaSource| -> HashMap<String, Value> {
                source.ids().map(|id| (id.to_owned(), json!(source.get(id)))).collect()
            };
            answer(source.map(all), |_| "CatalogError")
        }
        "schema_header" => {
            let tool: &SelectableItem = catalog.get(id).map_err(|error| error.to_string())?;
            let overrides = SchemaOverrides {
                schema: input["schema"].as_object().cloned(),
                examples: serde_json::from_value(input["examples"].clone()).ok(),
                constraints: input["constraints"].as_object().cloned(),
            };
            schema_header(tool, &overrides).into()
        }
        other => return Err(format!("no runner for {other}")),
    })
}

fn export(input: &Value) -> Value {
    let tools = items(&input["items"]);
    let provider = match text(input, "provider") {
        "openai" => "openai-chat",
        other => other,
    };
    let written = tools_for(tools.iter(), &ProviderOptions::new(provider), None);
    answer(written, |_| "ConfigError")
}

fn scored(input: &Value) -> Vec<(String, f64)> {
    serde_json::from_value(input["scored"].clone()).expect("a case has scores")
}

fn feedback(input: &Value) -> Value {
    let entries = input["entries"].as_array().expect("a case has feedback").iter();
    let entries: Vec<ToolFeedback> =
        entries.map(|entry| ToolFeedback::from_value(entry.clone(), "").expect("a case has good feedback")).collect();
    let all = aggregate_feedback(&entries);
    if text(input, "op") == "aggregate" {
        return json!(all);
    }
    let weights = FeedbackWeights::from_value(input["weights"].clone(), "");
    answer(weights.map(|weights| adjust_by_feedback(scored(input), &all, &weights)), |_| "ConfigError")
}

fn history(input: &Value) -> Value {
    if text(input, "op") == "from_dict" {
        return answer(RouteHistory::from_value(input["data"].clone(), ""), |_| "ConfigError");
    }
    let history = RouteHistory::from_value(input["history"].clone(), "").expect("a case has a good history");
    let tools = items(&input["items"]);
    let tool = |id: &str| tools.iter().find(|tool| tool.id == id);
    let similarity = |id: &str| input["result_similarity"][id].as_f64();
    let (adjusted, deltas) = history.adjust(scored(input), &tool, &similarity);
    json!({ "adjusted": adjusted, "deltas": deltas })
}

fn history_from_log(input: &Value) -> Value {
    let items = input["items"].as_array().expect("a case has a log").iter();
    let items: Vec<ContextItem> =
        items.map(|item| ContextItem::from_value(item.clone(), "").expect("a case has good items")).collect();
    json!(RouteHistory::from_log(&items))
}
