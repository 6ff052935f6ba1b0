//! Operations of a catalog of tools, and of a router.

use serde::Serialize;
use serde_json::{Value, json};

use super::{One, done, known, unknown};
use crate::error::{Error, ErrorCode, Result};
use crate::json::{self, Fields};
use crate::limits;
use crate::model::SelectableItem;
use crate::routing::Catalog;
use crate::routing::cards::{
    CardOptions, CardStyle, ChoiceCard, ProviderOptions, SchemaOptions, SchemaSource, SkippedCard, ValidateOptions,
    hydrate_with_schema, make_choice_cards, pack_cards, render_cards, selection_schema, tools_for, validate_selection,
};
use crate::routing::catalog::{
    CatalogFinding, LintOptions, Loaded, McpOptions, OnInvalid, compute_catalog_hash, diff_catalogs, from_mcp_tools,
    lint, load_catalog, pin, read_pins,
};
use crate::routing::graph::{ChoiceGraph, PageOptions};
use crate::routing::router::{RouteExplanation, RouteOptions, Router, RouterOptions, vector};
use crate::text::tokens::Estimator;
use crate::text::unicode::quote;

/// Tokens of the cards in a prompt, unless the caller says otherwise.
const CARD_TOKENS: u64 = 2000;

/// Makes a catalog from `{"items": [...]}` or from `{"mcp": <tools/list>, "server"?, "id_form"?}`, with
/// `"on_invalid": "raise" | "report"`.
pub fn new_catalog(text: &str) -> Result<Loaded> {
    let mut fields = Fields::open(json::parse_snapshot(text)?, "")?;
    let listed = fields.take("mcp");
    let default = if listed.is_some() { OnInvalid::Report } else { OnInvalid::Raise };
    let on_invalid = fields.parsed_or("on_invalid", default, OnInvalid::parse)?;
    let loaded = match listed {
        Some(listed) => {
            let short_ids = fields.parsed_or("id_form", true, id_form)?;
            let loaded = from_mcp_tools(listed, &McpOptions { server: fields.opt_string("server")?, short_ids })?;
            if on_invalid == OnInvalid::Raise {
                loaded.raise("/mcp")?;
            }
            loaded
        }
        None if on_invalid == OnInvalid::Report => {
            load_catalog(fields.take("items").unwrap_or_else(|| json!([])), on_invalid)?
        }
        None => {
            let mut catalog = Catalog::new();
            let items = fields.records("items", SelectableItem::from_value)?;
            catalog.register_all(items).map_err(|error| below(error, "/items"))?;
            Loaded { catalog, findings: Vec::new() }
        }
    };
    fields.finish()?;
    Ok(loaded)
}

fn id_form(text: &str) -> Result<bool> {
    match text {
        "name" => Ok(true),
        "canonical" => Ok(false),
        other => Err(Error::new(ErrorCode::InvalidInput, format!("unknown form of ids {}", quote(other)))
            .hint("one of: name canonical")),
    }
}

fn below(error: Error, path: &str) -> Error {
    let path = format!("{path}{}", error.path());
    error.under(path)
}

/// Runs an operation of a catalog.
pub fn catalog_call(loaded: &mut Loaded, operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse_snapshot(arguments)?, "")?;
    let catalog = &mut loaded.catalog;
    match operation {
        "register" => {
            let item = SelectableItem::from_value(fields.require("item")?, "/item")?;
            fields.finish()?;
            catalog.register(item).map_err(|error| below(error, "/item"))?;
            done(&json!({}))
        }
        "get" => done(catalog.get(&only_id(fields)?)?),
        "has" => done(&One("has", &catalog.contains(&only_id(fields)?))),
        "remove" => done(&One("removed", &catalog.remove(&only_id(fields)?).is_some())),
        "diff" => {
            let next = other_catalog(&mut fields)?;
            fields.finish()?;
            let [before, after] = [&*catalog, &next].map(|catalog| catalog.items().cloned().collect::<Vec<_>>());
            done(&diff_catalogs(&before, &after)?)
        }
        "lint" => {
            let pinned = fields.take("pinned").map(|pins| read_pins(pins, "/pinned")).transpose()?;
            fields.finish()?;
            // What was left out while loading comes first: it is worst.
            let mut found = loaded.findings.clone();
            found.retain(|finding| finding.index.is_some());
            found.extend(lint(&loaded.catalog, &LintOptions { pinned, ..LintOptions::default() }));
            done(&One::<[CatalogFinding]>("findings", &found))
        }
        _ => {
            fields.finish()?;
            catalog_report(loaded, operation)
        }
    }
}

/// Runs an operation of a catalog that has no arguments.
fn catalog_report(loaded: &Loaded, operation: &str) -> Result<String> {
    let catalog = &loaded.catalog;
    match operation {
        "items" => {
            let items: Vec<&SelectableItem> = catalog.items().collect();
            done(&One("items", &items))
        }
        "size" => done(&One("size", &catalog.len())),
        "pin" => done(&One("pins", &pin(catalog))),
        "findings" => done(&One::<[CatalogFinding]>("findings", &loaded.findings)),
        "namespaces" => {
            let namespaces = catalog.namespaces();
            let list: Vec<Value> =
                namespaces.iter().map(|(name, tools)| json!({ "namespace": name, "tools": tools })).collect();
            done(&One("namespaces", &list))
        }
        "hash" => done(&One("hash", &catalog.fingerprint())),
        "reference_hash" => done(&One("hash", &compute_catalog_hash(catalog.items()))),
        other => Err(unknown(other)),
    }
}

fn other_catalog(fields: &mut Fields) -> Result<Catalog> {
    let next = fields.require("next")?;
    Catalog::from_value(next, "/next")
}

fn only_id(mut fields: Fields) -> Result<String> {
    let id = fields.string("id")?;
    fields.finish()?;
    Ok(id)
}

/// Makes a router of a catalog.
pub fn new_router(catalog: &Loaded, options: &str) -> Result<Router> {
    open_router(options, |options| Ok(Router::new(catalog.catalog.clone(), options)))
}

/// Makes a router of a catalog and the bytes of its index, as [`Router::index_bytes`] returned them.
pub fn restore_router(catalog: &Loaded, options: &str, index: &[u8]) -> Result<Router> {
    open_router(options, |options| {
        Router::with_index(catalog.catalog.clone(), options, index).map_err(|error| error.at("/index"))
    })
}

fn open_router(options: &str, open: impl FnOnce(RouterOptions) -> Result<Router>) -> Result<Router> {
    let mut fields = Fields::open(json::parse_snapshot(options)?, "")?;
    let graph = fields.take("graph").map(|graph| ChoiceGraph::load(graph, "/graph")).transpose()?;
    let options = RouterOptions::take(&mut fields)?;
    fields.finish()?;
    let mut router = open(options)?;
    if let Some(graph) = graph {
        router.use_graph(graph).map_err(|error| error.at("/graph"))?;
    }
    Ok(router)
}

/// Runs an operation of a router.
pub fn router_call(router: &mut Router, operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse_snapshot(arguments)?, "")?;
    match operation {
        "route" => {
            let query = fields.string("query")?;
            known::check(&fields)?;
            let options = RouteOptions::take(&mut fields)?;
            fields.finish()?;
            done(&router.route(&query, &options).map_err(known::of_vector)?)
        }
        "cards" => cards(router, fields),
        "browse" => browse(router, fields),
        "graph" => {
            fields.finish()?;
            done(router.graph()?)
        }
        "hydrate" => hydrate(router, fields),
        "selection_schema" => schema(fields),
        "validate_selection" => selection(router, fields),
        "tools_for" => provider_tools(router, fields),
        "add" => {
            let items = fields.records("items", SelectableItem::from_value)?;
            fields.finish()?;
            router.add(items).map_err(|error| below(error, "/items"))?;
            done(&json!({}))
        }
        "remove" => {
            let ids = fields.strings("ids")?;
            fields.finish()?;
            done(&One("removed", &router.remove(&ids)))
        }
        "set_embeddings" => {
            let vectors = fields.records("vectors", embedding)?;
            fields.finish()?;
            router.set_embeddings(&vectors)?;
            done(&json!({}))
        }
        "items" => {
            fields.finish()?;
            let items: Vec<&SelectableItem> = router.catalog().items().collect();
            done(&One("items", &items))
        }
        other => Err(unknown(other)),
    }
}

fn embedding(value: Value, path: &str) -> Result<(String, Vec<f32>)> {
    let mut fields = Fields::open(value, path)?;
    let id = fields.string("id")?;
    let numbers = vector(&mut fields, "vector")?.unwrap_or_default();
    fields.finish()?;
    Ok((id, numbers))
}

/// Candidates in their order with the scores that were given for them.
struct Candidates {
    ids: Vec<String>,
    scores: Option<Vec<f64>>,
}

impl Candidates {
    fn take(fields: &mut Fields) -> Result<Self> {
        let ids = fields.strings("candidate_ids")?;
        let number = |value: Value, path: &str| json::as_number(&value, path, f64::MIN, f64::MAX);
        let scores = fields.has("scores").then(|| fields.records("scores", number)).transpose()?;
        if scores.as_ref().is_some_and(|scores| scores.len() != ids.len()) {
            let message = format!("expected {} scores, one for each candidate", ids.len());
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("scores")));
        }
        Ok(Self { ids, scores })
    }

    /// Returns the tools, in order. Fails with `NOT_FOUND`.
    fn items<'a>(&self, catalog: &'a Catalog) -> Result<Vec<&'a SelectableItem>> {
        let find =
            |(at, id): (usize, &String)| catalog.get(id).map_err(|error| error.under(format!("/candidate_ids/{at}")));
        self.ids.iter().enumerate().map(find).collect()
    }
}

/// Makes the cards of candidates, in their order, within a budget.
fn cards(router: &Router, mut fields: Fields) -> Result<String> {
    #[derive(Serialize)]
    struct Packed {
        cards: Vec<ChoiceCard>,
        text: String,
        tokens: u64,
        shortened: Vec<String>,
        dropped: Vec<String>,
        skipped: Vec<SkippedCard>,
    }
    let candidates = Candidates::take(&mut fields)?;
    let estimator = fields.parsed_or("estimator", Estimator::V3, Estimator::named)?;
    let budget = fields.uint_or("budget_tokens", CARD_TOKENS, limits::MAX_BUDGET_TOKENS)?;
    let base = CardOptions::default();
    let options = CardOptions {
        max_cards: fields.uint_or("max_cards", candidates.ids.len() as u64, limits::MAX_ITEMS as u64)? as usize,
        target_tokens: fields.uint_or("card_tokens", base.target_tokens, limits::MAX_BUDGET_TOKENS)?,
        hard_cap_tokens: fields.uint_or("max_card_tokens", base.hard_cap_tokens, limits::MAX_BUDGET_TOKENS)?,
        redact: fields.bool_or("redact_secrets", base.redact)?,
        style: CardStyle { scores: fields.bool_or("show_scores", false)?, reference: false },
    };
    fields.finish()?;
    let items = candidates.items(router.catalog())?;
    let count = |text: &str| estimator.tokens(text);
    let mut made = make_choice_cards(items.into_iter(), None, &options, &count)?;
    if let Some(scores) = &candidates.scores {
        for card in &mut made.cards {
            let at = candidates.ids.iter().position(|id| *id == card.id);
            card.score = at.map(|at| scores[at]);
        }
    }
    let packed = pack_cards(&made.cards, budget, options.style, &count)?;
    let skipped = made.skipped;
    let (cards, text, tokens) = (packed.cards, packed.text, packed.tokens);
    done(&Packed { cards, text, tokens, shortened: packed.shortened, dropped: packed.dropped, skipped })
}

fn browse(router: &mut Router, mut fields: Fields) -> Result<String> {
    let (path, id) = (fields.opt_string("path")?, fields.opt_string("id")?);
    let page = PageOptions::take(&mut fields)?;
    fields.finish()?;
    match (path, id) {
        (Some(_), Some(_)) => Err(Error::new(ErrorCode::InvalidInput, "give a path or an id, not both").at("/id")),
        (None, Some(id)) => done(&router.browse_id(&id, page).map_err(|error| known::not_at(error, "/id"))?),
        (path, None) => {
            let path = path.as_deref().unwrap_or("/");
            done(&router.browse(path, page).map_err(|error| known::not_at(error, "/path"))?)
        }
    }
}

fn hydrate(router: &Router, mut fields: Fields) -> Result<String> {
    let id = fields.string("id")?;
    let source = match fields.take("schemas") {
        None => None,
        Some(Value::Object(map)) => Some(SchemaSource::from_map(map)?),
        Some(other) => return Err(json::wrong_type("/schemas", "an object", &other)),
    };
    fields.finish()?;
    done(&hydrate_with_schema(router.catalog(), &id, source.as_ref())?)
}

fn schema(mut fields: Fields) -> Result<String> {
    let candidates = Candidates::take(&mut fields)?;
    let base = SchemaOptions::default();
    let provider = fields.string_or("provider", base.provider)?;
    let property = fields.string_or("property_name", base.property_name)?;
    let name = fields.string_or("schema_name", base.schema_name)?;
    fields.finish()?;
    let options = SchemaOptions { provider: &provider, property_name: &property, schema_name: &name, reference: false };
    done(&selection_schema(candidates.ids.iter().map(String::as_str), &options)?)
}

fn selection(router: &mut Router, mut fields: Fields) -> Result<String> {
    let candidates = Candidates::take(&mut fields)?;
    let selected = fields.opt_string("selected")?;
    let repair = fields.bool_or("repair", true)?;
    fields.finish()?;
    let (names, catalog) = router.names();
    let resolve = |name: &str| names.resolve(name).ok().map(str::to_owned);
    let is_destructive =
        |id: &str| catalog.find(id).is_some_and(|item| ChoiceCard::of(item, None, false).safety == "destructive");
    let options =
        ValidateOptions { repair, resolve: Some(&resolve), is_destructive: Some(&is_destructive), reference: false };
    let ids: Vec<&str> = candidates.ids.iter().map(String::as_str).collect();
    done(&validate_selection(selected.as_deref(), &ids, &options))
}

fn provider_tools(router: &mut Router, mut fields: Fields) -> Result<String> {
    let candidates = Candidates::take(&mut fields)?;
    let provider = fields.string("provider")?;
    let (strict, redact) = (fields.bool_or("strict", false)?, fields.bool_or("redact_secrets", true)?);
    fields.finish()?;
    let (names, catalog) = router.names();
    let items = candidates.items(catalog)?;
    let options = ProviderOptions { provider: &provider, strict, redact };
    done(&tools_for(items.into_iter(), &options, Some(names))?)
}

/// Runs a function that needs neither a catalog nor a router.
pub fn routing_call(operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    let result = match operation {
        "render_cards" => {
            let cards = fields.records("cards", ChoiceCard::from_value)?;
            let scores = fields.bool_or("show_scores", false)?;
            json!({ "text": render_cards(&cards, CardStyle { scores, reference: false }) })
        }
        "explain_route" => {
            let routed = fields.require("result")?;
            explain(routed)?
        }
        other => return Err(unknown(other)),
    };
    fields.finish()?;
    done(&result)
}

/// Explains a route, as data and as Markdown.
fn explain(result: Value) -> Result<Value> {
    let mut fields = Fields::open(result, "/result")?;
    let candidates = Candidates::take(&mut fields)?;
    let scores = candidates.scores.unwrap_or_default().into_iter().chain(std::iter::repeat(0.0));
    let ranked: Vec<(String, f64)> = candidates.ids.into_iter().zip(scores).collect();
    let (hints, question) = (fields.strings("context_hints")?, fields.opt_string("clarifying_question")?);
    let mut count = |key: &str| fields.uint_or(key, 0, limits::MAX_SEQUENCE).map(|count| count as usize);
    let (excluded_count, gated_count) = (count("excluded_count")?, count("gated_count")?);
    let is_ambiguous = fields.bool_or("is_ambiguous", false)?;
    let context_boost_applied = fields.bool_or("context_boost_applied", false)?;
    let at = fields.at("trace");
    let mut trace = Fields::open(fields.require("trace")?, &at)?;
    let (query, engine) = (trace.string_or("query", "")?, trace.string_or("retriever_engine", "")?);
    let explanation = RouteExplanation {
        query: &query,
        retriever_engine: &engine,
        candidates: &ranked,
        is_ambiguous,
        clarifying_question: question.as_deref(),
        context_hints: &hints,
        context_boost_applied,
        excluded_count,
        gated_count,
        reference: false,
    };
    Ok(json!({ "data": explanation.to_json(), "markdown": explanation.to_markdown() }))
}
