use serde_json::{Value, json};

use super::*;

fn run(schema: &Value, role: SchemaRole, options: ToolSchemaOptions) -> Result<(Value, Vec<&'static str>)> {
    let mut warnings = Vec::new();
    let schema = normalized(schema, "/schema", role, options, &mut warnings)?;
    Ok((schema, warnings.iter().map(|warning| warning.code).collect()))
}

fn older() -> ToolSchemaOptions {
    ToolSchemaOptions { revision: Revision::V2025_11_25, ..ToolSchemaOptions::default() }
}

#[test]
fn roots_become_objects() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } });
    let cases: [(Value, Value, &[&str]); 12] = [
        (json!({}), json!({ "type": "object", "additionalProperties": false }), &[]),
        (
            json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" }),
            json!({ "type": "object", "additionalProperties": false }),
            &[],
        ),
        (
            json!({ "type": "object", "x-own": 1, "required": [] }),
            json!({ "type": "object", "x-own": 1, "required": [] }),
            &[],
        ),
        (json!({ "properties": {} }), json!({ "type": "object", "properties": {} }), &[]),
        (json!({ "type": ["object", "null"] }), json!({ "type": "object" }), &["root_type_narrowed"]),
        (
            json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }),
            json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }),
            &[],
        ),
        (
            json!({ "anyOf": [{ "required": ["a"] }] }),
            json!({ "type": "object", "anyOf": [{ "required": ["a"] }] }),
            &["root_composition"],
        ),
        (
            json!({ "$ref": "#/$defs/Node", "title": "N", "$defs": { "Node": node } }),
            json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } }, "title": "N", "$defs": { "Node": node } }),
            &[],
        ),
        (
            json!({ "$ref": "#/$defs/a", "required": ["x"], "$defs": { "a": { "properties": { "x": {} } } } }),
            json!({ "type": "object", "required": ["x"], "$defs": { "a": { "properties": { "x": {} } } }, "allOf": [{ "properties": { "x": {} } }] }),
            &["root_composition"],
        ),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "type": "object" } } }),
            json!({ "type": "object", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "type": "object" } } }),
            &[],
        ),
        (
            json!({ "city": { "description": "c" }, "n": { "type": "number", "optional": true }, "l": { "type": "array", "items": "string" } }),
            json!({ "type": "object", "properties": { "city": { "type": "string", "description": "c" }, "n": { "type": "number" }, "l": { "type": "array", "items": { "type": "string" } } }, "required": ["city", "l"] }),
            &[],
        ),
        (
            json!({ "a": { "optional": true, "enum": [1] } }),
            json!({ "type": "object", "properties": { "a": { "enum": [1] } } }),
            &[],
        ),
    ];
    for (schema, wanted, codes) in cases {
        let (found, warnings) = run(&schema, SchemaRole::Input, older()).unwrap();
        assert_eq!((found.to_string(), warnings.as_slice()), (wanted.to_string(), codes), "{schema}");
        // What was brought into the form is in the form.
        assert_eq!(run(&found, SchemaRole::Input, older()).unwrap().0, found);
    }
    let (_, warnings) = run(&json!({ "anyOf": [] }), SchemaRole::Input, ToolSchemaOptions::default()).unwrap();
    assert!(warnings.is_empty());
    let any = json!({ "type": "array" });
    assert_eq!(run(&any, SchemaRole::Output, ToolSchemaOptions::default()).unwrap().0, any);
    let forced = ToolSchemaOptions { format: Some(SchemaFormat::Shorthand), ..older() };
    assert_eq!(
        run(&json!({ "type": { "type": "number" } }), SchemaRole::Input, forced).unwrap().0["properties"]["type"]["type"],
        "number"
    );
}

#[test]
fn bad_schemas_say_why() {
    let mut deep = json!({});
    for _ in 0..70 {
        deep = json!({ "not": deep });
    }
    let wide: Vec<Value> = (0..10_001).map(Value::from).collect();
    let doubling: JsonMap = (0..20)
        .map(|n| (format!("d{n}"), json!({ "allOf": [{ "$ref": format!("#/$defs/d{}", n + 1) }, { "$ref": format!("#/$defs/d{}", n + 1) }] })))
        .collect();
    let inline = ToolSchemaOptions { inline_refs: true, ..older() };
    let forced = ToolSchemaOptions { format: Some(SchemaFormat::Shorthand), ..older() };
    for (schema, options, reason) in [
        (json!(true), older(), "invalid_schema"),
        (json!(null), older(), "invalid_schema"),
        (json!([]), older(), "invalid_schema"),
        (json!("x"), older(), "invalid_schema"),
        (json!({ "type": 5 }), older(), "invalid_schema"),
        (json!({ "a": 1 }), forced, "invalid_schema"),
        (json!({ "$ref": "#" }), older(), "invalid_schema"),
        (json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }), older(), "invalid_schema"),
        (json!({ "$ref": "#/$defs/no" }), older(), "invalid_schema"),
        (json!({ "type": "string" }), older(), "root_not_object"),
        (json!({ "type": ["array", "null"] }), older(), "root_not_object"),
        (json!({ "enum": [1, 2] }), older(), "root_not_object"),
        (json!({ "properties": { "a": { "$ref": "https://x.example/s.json" } } }), older(), "remote_ref"),
        (deep, older(), "schema_too_large"),
        (json!({ "enum": wide }), older(), "schema_too_large"),
        (json!({ "description": "x".repeat(1 << 20) }), older(), "schema_too_large"),
        (json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": doubling }), inline, "schema_too_large"),
    ] {
        let error = run(&schema, SchemaRole::Input, options).unwrap_err();
        assert_eq!(error.details()["reason"], reason, "{}", quote(&schema.to_string()));
        assert!(error.path().starts_with("/schema"));
    }
    assert!(run(&json!({ "type": "array" }), SchemaRole::Output, older()).is_err());
    // A property may be called like a keyword.
    let odd = json!({ "type": "object", "properties": { "$ref": { "type": "string" }, "__proto__": { "const": { "$ref": "x" } } } });
    assert_eq!(run(&odd, SchemaRole::Input, older()).unwrap().0, odd);
}

#[test]
fn references_are_replaced_where_that_ends() {
    let inline = ToolSchemaOptions { inline_refs: true, ..older() };
    let tree = json!({ "type": "object", "properties": { "kids": { "type": "array", "items": { "$ref": "#/$defs/Tree" } }, "tag": { "$ref": "#/$defs/Tag" } } });
    let schema = json!({
        "type": "object",
        "properties": {
            "tag": { "$ref": "#/$defs/Tag", "description": "mine" },
            "strict": { "$ref": "#/$defs/Tag", "maxLength": 3 },
            "tree": { "$ref": "#/$defs/Tree" },
            "lost": { "$ref": "#/$defs/Lost" },
        },
        "$defs": { "Tag": { "type": "string", "description": "a tag" }, "Tree": tree, "Unused": {} },
    });
    let (found, _) = run(&schema, SchemaRole::Input, inline).unwrap();
    assert_eq!(
        found,
        json!({
            "type": "object",
            "properties": {
                "tag": { "type": "string", "description": "mine" },
                "strict": { "maxLength": 3, "allOf": [{ "type": "string", "description": "a tag" }] },
                "tree": { "type": "object", "properties": { "kids": { "type": "array", "items": { "$ref": "#/$defs/Tree" } }, "tag": { "type": "string", "description": "a tag" } } },
                "lost": { "$ref": "#/$defs/Lost" },
            },
            "$defs": { "Tag": { "type": "string", "description": "a tag" }, "Tree": tree },
        })
    );
    assert_eq!(run(&found, SchemaRole::Input, inline).unwrap().0["$defs"]["Tree"], tree);
}
