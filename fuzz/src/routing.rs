//! Tools as servers list them.

use contextweaver_convert::mcp::ToolOptions;
use contextweaver_routing::cards::SchemaChange;
use contextweaver_routing::{
    CardOptions, CardStyle, Catalog, InvalidTools, LintOptions, RouteOptions, Router, RouterOptions, SchemaDialect,
    down_level, from_mcp_tools, lint, load_catalog, make_choice_cards, pack_cards,
};
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

const DIALECTS: [SchemaDialect; 4] =
    [SchemaDialect::OpenAi, SchemaDialect::OpenAiStrict, SchemaDialect::Anthropic, SchemaDialect::Gemini];

/// Bytes that a rewritten schema and its report may have more than the schema itself.
const MAX_GROWTH: usize = 16 << 20;

/// The schema of a tool is an object for every provider, and neither it nor what is said of it grows without bound.
pub fn tool_schema(data: &[u8]) {
    let Ok(Value::Object(schema)) = serde_json::from_slice::<Value>(data) else { return };
    for dialect in DIALECTS {
        let mut report: Vec<SchemaChange> = Vec::new();
        let written = down_level(&schema, dialect, "tool", &mut report);
        assert_eq!(written["type"], "object", "{dialect:?}");
        let told: usize = report.iter().map(|change| change.path.len() + change.note.len()).sum();
        let size = written.to_string().len() + told;
        assert!(size <= data.len() * 8 + MAX_GROWTH, "{dialect:?}: {size} bytes of {}", data.len());
    }
    let tool = json!({ "id": "t", "kind": "tool", "name": "tool", "description": "A tool.", "args_schema": schema });
    let Ok(catalog) = Catalog::from_value(json!({ "items": [tool] }), "") else { return };
    assert!(lint(&catalog, &LintOptions::default()).len() <= 24);
}

/// Tokens of the cards.
const CARD_BUDGET: u64 = 100;

/// A list of tools, ours or of a server, is refused or becomes a catalog that is read again as it is, is searched without
/// naming a tool that is not there, and has cards within their budget.
pub fn catalogs(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let loaded = [load_catalog(value.clone(), InvalidTools::Report), from_mcp_tools(value, &ToolOptions::default())];
    for loaded in loaded.into_iter().flatten() {
        let catalog = loaded.catalog;
        let stored = catalog.to_json();
        let again = Catalog::from_value(stored.clone(), "").unwrap_or_else(|error| panic!("{error}: {stored}"));
        assert_eq!(again.to_json(), stored);
        assert_eq!(again.fingerprint(), catalog.fingerprint());
        let found = lint(&catalog, &LintOptions::default());
        assert_eq!(found, lint(&again, &LintOptions::default()));
        let count = |text: &str| Estimator::V3.tokens(text);
        let made = make_choice_cards(catalog.items(), None, &CardOptions::default(), &count);
        if let Ok(packed) = pack_cards(&made.cards, CARD_BUDGET, CardStyle::default(), &count) {
            assert!(packed.tokens <= CARD_BUDGET && packed.tokens == count(&packed.text), "{stored}");
        }
        let query = catalog.items().next().map_or(String::new(), |tool| tool.description.clone());
        let mut router = Router::new(catalog, RouterOptions::default());
        let Ok(found) = router.route(&query, &RouteOptions::default()) else { continue };
        assert!(found.candidate_ids.iter().all(|id| router.catalog().contains(id)), "{stored}");
        assert_eq!(found.candidate_ids.len(), found.scores.len());
    }
}
