//! Tools as servers list them.

use contextweaver_routing::cards::SchemaChange;
use contextweaver_routing::{Catalog, LintOptions, SchemaDialect, down_level, lint};
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
