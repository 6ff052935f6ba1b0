//! Operations of a catalog of tools, and of a router.

pub mod catalog;
mod compare;

pub use catalog::{catalog_call, catalog_snapshot, new_catalog, restore_catalog};

use serde::Serialize;
use serde_json::{Value, json};

use super::operation::{self, Operation};
use super::{One, bytes, done, known};
use catalog::below;
use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{self, Fields, there_are};
use contextweaver_routing::Catalog;
use contextweaver_routing::cards::{
    CardOptions, CardStyle, ChoiceCard, ProviderOptions, SchemaSource, SelectionSchemaOptions, SkippedCard,
    ValidateOptions, hydrate_with_schema, make_choice_cards, own_arguments, pack_cards, render_cards, selection_schema,
    tools_for, validate_selection,
};
use contextweaver_routing::catalog::LoadedCatalog;
use contextweaver_routing::graph::{ChoiceGraph, PageOptions};
use contextweaver_routing::router::{QueryCompletion, RouteExplanation, RouteOptions, Router, RouterOptions, vector};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_id, redact_secrets};
use contextweaver_text::tokens::Estimator;

/// Tokens of the cards in a prompt, unless the caller says otherwise.
const CARD_TOKENS: u64 = 2000;

/// Makes a router of a catalog.
pub fn new_router(catalog: &LoadedCatalog, options: &str) -> Result<Router> {
    router_with(options, |options| Ok(Router::new(catalog.catalog.clone(), options)))
}

/// Makes a router of `{"items": [...]}` and, where there are some, of the bytes of its index. Unlike a router of a catalog it
/// copies nothing: with thousands of tools that takes as long as reading them.
pub fn router_of_items(items: &str, options: &str, index: Option<&[u8]>) -> Result<Router> {
    let LoadedCatalog { catalog, .. } = new_catalog(items)?;
    router_with(options, |options| match index {
        None => Ok(Router::new(catalog, options)),
        Some(index) => restored(catalog, options, index),
    })
}

/// Returns a router as the JSON that [`restore_router`] reads: its tools, the vectors of those that have one, and its graph
/// where it was given one.
pub fn router_snapshot(router: &Router) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct RouterSnapshot<'a> {
        items: Vec<&'a SelectableItem>,
        /// Numbers as their bits, which come back as they were.
        vectors: Vec<(&'a str, Vec<u32>)>,
        graph: Option<&'a ChoiceGraph>,
    }
    let items = router.catalog().items().collect();
    let bits = |vector: &[f32]| vector.iter().map(|number| number.to_bits()).collect();
    let vectors = router.embeddings().map(|(id, vector)| (id, bits(vector))).collect();
    bytes(&RouterSnapshot { items, vectors, graph: router.given_graph() })
}

/// Makes a router of its options and of what [`router_snapshot`] returned. The graph is that of the snapshot.
pub fn restore_router(snapshot: &str, options: &str) -> Result<Router> {
    let mut fields = Fields::open(json::parse_snapshot(snapshot)?, "")?;
    let mut catalog = Catalog::new();
    catalog.register_all(fields.get::<Vec<SelectableItem>>("items")?)?;
    let vectors = fields.records("vectors", |pair, at| {
        let (id, bits) = serde_json::from_value::<(String, Vec<u32>)>(pair)
            .map_err(|_| Error::new(ErrorCode::DecodeFailed, "expected an id and its vector").at(at))?;
        Ok((id, bits.into_iter().map(f32::from_bits).collect()))
    })?;
    let graph = fields.take("graph").filter(|graph| !graph.is_null());
    fields.finish()?;
    let mut options = Fields::open(json::parse_snapshot(options)?, "")?;
    options.take("graph");
    let mut router = router_of(options, graph, |options| Ok(Router::new(catalog, options)))?;
    router.restore_embeddings(vectors)?;
    Ok(router)
}

/// Reads the options of a router, makes it, and gives it the graph that came with them.
fn router_with(options: &str, make: impl FnOnce(RouterOptions) -> Result<Router>) -> Result<Router> {
    let mut fields = Fields::open(json::parse_snapshot(options)?, "")?;
    let graph = fields.take("graph");
    router_of(fields, graph, make)
}

fn router_of(
    mut fields: Fields,
    graph: Option<Value>,
    make: impl FnOnce(RouterOptions) -> Result<Router>,
) -> Result<Router> {
    let graph = graph.map(|graph| ChoiceGraph::load(graph, "/graph")).transpose()?;
    let options = router_options(&mut fields)?;
    fields.finish()?;
    let mut router = make(options)?;
    if let Some(graph) = graph {
        router.use_graph(graph).map_err(|error| error.at("/graph"))?;
    }
    Ok(router)
}

/// Takes the options of a router.
pub fn router_options(fields: &mut Fields) -> Result<RouterOptions> {
    RouterOptions::take(fields, RouterOptions::default())
}

/// Makes a router of a catalog and the bytes of its index, as [`Router::index_bytes`] returned them.
pub fn router_with_index(catalog: &LoadedCatalog, options: &str, index: &[u8]) -> Result<Router> {
    router_with(options, |options| restored(catalog.catalog.clone(), options, index))
}

fn restored(catalog: Catalog, options: RouterOptions, index: &[u8]) -> Result<Router> {
    Router::with_index(catalog, options, index).map_err(|error| error.at("/index"))
}

/// The operations of a router.
pub const OPERATIONS: &[Operation<Router>] = &[
    Operation::of_large_fields("route", |router, mut fields| {
        let query = fields.string("query")?;
        known::check(&fields)?;
        let options = RouteOptions::take(&mut fields)?;
        fields.finish()?;
        done(&router.route(&query, &options).map_err(known::of_vector)?)
    }),
    Operation::of_large_fields("cards", |router, fields| cards(router, fields)),
    Operation::of_large_fields("browse", browse),
    Operation::of_large_fields("graph", |router, fields| {
        fields.finish()?;
        done(router.graph()?)
    }),
    Operation::of_large_fields("hydrate", |router, fields| hydrate(router, fields)),
    Operation::of_large_fields("selection_schema", |_, fields| schema(fields)),
    Operation::of_large_fields("validate_selection", selection),
    Operation::of_large_fields("tools_for", provider_tools),
    Operation::of_large_fields("own_arguments", tool_arguments),
    Operation::of_large_fields("add", |router, mut fields| {
        let items: Vec<SelectableItem> = fields.get("items")?;
        fields.finish()?;
        router.add(items).map_err(|error| below(error, "/items"))?;
        done(&json!({}))
    }),
    Operation::of_large_fields("remove", |router, mut fields| {
        let ids = fields.strings("ids")?;
        fields.finish()?;
        done(&One("removed", &router.remove(&ids)))
    }),
    Operation::of_large_fields("set_embeddings", |router, mut fields| {
        let vectors = fields.records("vectors", embedding)?;
        fields.finish()?;
        router.set_embeddings(&vectors)?;
        done(&json!({}))
    }),
    Operation::of_large_fields("items", |router, fields| {
        fields.finish()?;
        done(&One("items", &router.catalog().items().collect::<Vec<_>>()))
    }),
];

/// Runs an operation of a router.
pub fn router_call(router: &mut Router, operation: &str, arguments: &str) -> Result<String> {
    operation::call(OPERATIONS, router, operation, arguments)
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
    struct CardsAnswer {
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
        style: CardStyle { scores: fields.bool_or("show_scores", false)? },
    };
    fields.finish()?;
    let items = candidates.items(router.catalog())?;
    let count = |text: &str| estimator.tokens(text);
    let mut made = make_choice_cards(items.into_iter(), None, &options, &count);
    if let Some(scores) = &candidates.scores {
        let mut known: SortedMap<&str, f64> = SortedMap::new();
        known.extend(candidates.ids.iter().map(String::as_str).zip(scores.iter().copied()));
        for card in &mut made.cards {
            card.score = known.get(card.id.as_str()).copied();
        }
    }
    let packed = pack_cards(&made.cards, budget, options.style, &count)?;
    let skipped = made.skipped;
    let (cards, text, tokens) = (packed.cards, packed.text, packed.tokens);
    done(&CardsAnswer { cards, text, tokens, shortened: packed.shortened, dropped: packed.dropped, skipped })
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
    let base = SelectionSchemaOptions::default();
    let provider = fields.string_or("provider", base.provider)?;
    let property = fields.string_or("property_name", base.property_name)?;
    let name = fields.string_or("schema_name", base.schema_name)?;
    fields.finish()?;
    let options = SelectionSchemaOptions {
        provider: &provider,
        property_name: &property,
        schema_name: &name,
        described_as: None,
    };
    done(&selection_schema(candidates.ids.iter().map(String::as_str), &options)?)
}

fn selection(router: &mut Router, mut fields: Fields) -> Result<String> {
    let candidates = Candidates::take(&mut fields)?;
    let selected = fields.opt_string("selected")?;
    let repair = fields.bool_or("repair", true)?;
    fields.finish()?;
    let (names, catalog) = router.names();
    // A model may answer with the name a provider was given, or with the tool's own where only one candidate has it.
    let resolve = |name: &str| {
        let mut bearers = candidates.ids.iter().filter(|id| catalog.find(id).is_some_and(|item| item.name == name));
        let own = || bearers.next().filter(|_| bearers.next().is_none()).cloned();
        names.find(name).map(str::to_owned).or_else(own)
    };
    let is_destructive =
        |id: &str| catalog.find(id).is_some_and(|item| ChoiceCard::of(item, None, false).safety == "destructive");
    let options = ValidateOptions { repair, resolve: Some(&resolve), is_destructive: Some(&is_destructive) };
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

/// Returns arguments with the names that the tool has for them; the tool is named as it is, or as providers know it.
fn tool_arguments(router: &mut Router, mut fields: Fields) -> Result<String> {
    let (tool, given) = (fields.string("tool")?, fields.object("arguments")?);
    fields.finish()?;
    let (names, catalog) = router.names();
    let found = catalog.find(&tool).or_else(|| catalog.find(names.find(&tool)?));
    let item = found.ok_or_else(|| {
        let known = names.iter().map(|(name, _)| name);
        let error = Error::new(ErrorCode::NotFound, format!("no tool is called {}", quote(&tool))).at("/tool");
        error.hint(there_are(&tool, "tool", known))
    })?;
    done(&json!({ "arguments": own_arguments(&item.args_schema, &given)? }))
}

/// Functions that need neither a catalog nor a router.
pub const FUNCTIONS: &[Operation<()>] = &[
    Operation::of_large_fields("render_cards", |(), mut fields| {
        let cards: Vec<ChoiceCard> = fields.get("cards")?;
        let scores = fields.bool_or("show_scores", false)?;
        fields.finish()?;
        let cards: Vec<ChoiceCard> = cards.into_iter().map(ChoiceCard::masked).collect();
        done(&json!({ "text": render_cards(&cards, CardStyle { scores }) }))
    }),
    Operation::of_large_fields("explain_route", |(), mut fields| {
        let routed = fields.require("result")?;
        fields.finish()?;
        done(&explain(routed)?)
    }),
    Operation::of_large_fields("normalise", |(), fields| compare::normalised(fields)),
    Operation::of_large_fields("capability_snapshot", |(), fields| compare::snapshot(fields)),
    Operation::of_large_fields("capability_diff", |(), fields| compare::drift(fields)),
];

/// Runs a function.
pub fn routing_call(operation: &str, arguments: &str) -> Result<String> {
    operation::call(FUNCTIONS, &mut (), operation, arguments)
}

/// Explains a route, as data and as Markdown.
fn explain(result: Value) -> Result<Value> {
    let mut fields = Fields::open(result, "/result")?;
    let candidates = Candidates::take(&mut fields)?;
    let scores = candidates.scores.unwrap_or_default().into_iter().chain(std::iter::repeat(0.0));
    let ranked: Vec<(String, f64)> = candidates.ids.into_iter().zip(scores).collect();
    let masked = |text: String| redact_secrets(&text, SECRET_MASK).into_owned();
    let hints: Vec<String> = fields.strings("context_hints")?.into_iter().map(masked).collect();
    let question = fields.opt_string("clarifying_question")?.map(|text| redact_id(&text).into_owned());
    let mut count = |key: &'static str| fields.uint_or(key, 0, limits::MAX_SEQUENCE).map(|count| count as usize);
    let (excluded_count, gated_count) = (count("excluded_count")?, count("gated_count")?);
    let is_ambiguous = fields.bool_or("is_ambiguous", false)?;
    let context_boost_applied = fields.bool_or("context_boost_applied", false)?;
    let completion =
        fields.take("completion").map(|value| QueryCompletion::from_value(value, &fields.at("completion")));
    let completion = completion.transpose()?.map(|known| QueryCompletion { query: masked(known.query), ..known });
    let at = fields.at("trace");
    let mut trace = Fields::open(fields.require("trace")?, &at)?;
    let (query, engine) = (masked(trace.string_or("query", "")?), masked(trace.string_or("retriever_engine", "")?));
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
        completion: completion.as_ref(),
    };
    Ok(json!({ "data": explanation.to_json(), "markdown": explanation.to_markdown() }))
}
