//! Whatever stands where a schema should becomes a well-formed one that accepts no less.

use contextweaver_convert::tools::{MendKind, MendOptions, check_well_formed, mended_schema, validate_args};
use contextweaver_test_support::property;
use contextweaver_test_support::schemas::{instances, schemas};
use proptest::prelude::*;
use serde_json::{Value, json};

const PLAIN: MendOptions = MendOptions { plain_patterns: true };

fn mended(schema: &Value) -> (Value, Vec<(String, MendKind)>) {
    let mut mends = Vec::new();
    let out = mended_schema(schema, PLAIN, &mut mends);
    (Value::Object(out), mends.into_iter().map(|mend| (format!("{}:{}", mend.path, mend.keyword), mend.kind)).collect())
}

#[test]
fn malformed_keywords_are_mended_or_left_out() {
    use MendKind::{EarlierDraft, Malformed, Unportable};
    for (schema, wanted, told) in [
        (json!(null), json!({}), vec![(":", Malformed)]),
        (json!({ "required": null }), json!({}), vec![(":required", Malformed)]),
        (json!({ "required": true }), json!({}), vec![(":required", Malformed)]),
        (json!({ "required": {} }), json!({}), vec![(":required", Malformed)]),
        (json!({ "required": ["a", 1, "a"] }), json!({ "required": ["a"] }), vec![(":required", Malformed)]),
        (json!({ "properties": [] }), json!({}), vec![(":properties", Malformed)]),
        (
            json!({ "properties": { "a": { "type": "string", "required": true }, "required": ["a"], "type": "object" } }),
            json!({ "properties": { "a": { "type": "string" } } }),
            vec![
                ("/properties/a:required", Malformed),
                ("/properties/required:", Malformed),
                ("/properties/type:", Malformed),
            ],
        ),
        (
            json!({ "properties": { "a": 5 }, "additionalProperties": false }),
            json!({ "properties": { "a": {} }, "additionalProperties": false }),
            vec![("/properties/a:", Malformed)],
        ),
        (
            json!({ "properties": { "a": true, "b": false } }),
            json!({ "properties": { "a": {}, "b": { "not": {} } } }),
            vec![("/properties/a:", Unportable), ("/properties/b:", Unportable)],
        ),
        (json!({ "type": "any" }), json!({}), vec![(":type", Malformed)]),
        (json!({ "type": "Integer" }), json!({ "type": "integer" }), vec![(":type", Malformed)]),
        (
            json!({ "type": ["str", "string", "null"] }),
            json!({ "type": ["string", "null"] }),
            vec![(":type", Malformed)],
        ),
        (
            json!({ "minimum": "5", "maxLength": -1, "multipleOf": 0 }),
            json!({}),
            vec![(":minimum", Malformed), (":maxLength", Malformed), (":multipleOf", Malformed)],
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true }),
            json!({ "exclusiveMinimum": 1 }),
            vec![(":exclusiveMinimum", EarlierDraft)],
        ),
        (
            json!({ "items": [{ "type": "string" }], "additionalItems": false }),
            json!({ "items": { "not": {} }, "prefixItems": [{ "type": "string" }] }),
            vec![("/additionalItems:", Unportable), (":items", EarlierDraft)],
        ),
        (
            json!({ "pattern": "^(?!none$).+", "description": "d" }),
            json!({ "description": "d Pattern: ^(?!none$).+." }),
            vec![(":pattern", Unportable)],
        ),
        (
            json!({ "patternProperties": { "(": {} }, "additionalProperties": false }),
            json!({ "patternProperties": {} }),
            vec![("/patternProperties/(:", Unportable), (":additionalProperties", Unportable)],
        ),
        (json!({ "$ref": "#/$defs/none" }), json!({}), vec![(":$ref", Malformed)]),
        (json!({ "$ref": "https://example.com/a" }), json!({}), vec![(":$ref", Malformed)]),
        (
            json!({ "$defs": { "a": { "$ref": "#/$defs/a" } } }),
            json!({ "$defs": { "a": {} } }),
            vec![("/$defs/a:$ref", Malformed)],
        ),
        (
            json!({ "items": [{ "type": "string" }], "not": { "$ref": "#/items/0" } }),
            json!({ "not": { "$ref": "#/prefixItems/0" }, "prefixItems": [{ "type": "string" }] }),
            vec![(":items", EarlierDraft)],
        ),
        (
            json!({ "$ref": "#/components/a", "components": { "a": { "type": "any" } } }),
            json!({ "$ref": "#/components/a", "components": { "a": {} } }),
            vec![(":type", Malformed)],
        ),
        (
            json!({ "anyOf": [], "enum": [], "allOf": {} }),
            json!({}),
            vec![(":anyOf", Malformed), (":enum", Malformed), (":allOf", Malformed)],
        ),
        // What accepts more below these would accept less above.
        (json!({ "not": { "type": "any" } }), json!({}), vec![("/not:type", Malformed), (":not", Unportable)]),
        (
            json!({ "oneOf": [{ "$ref": "#/$defs/a" }, {}], "$defs": { "a": { "type": "any" } } }),
            json!({ "$defs": { "a": {} } }),
            vec![("/$defs/a:type", Malformed), (":oneOf", Unportable)],
        ),
        (
            json!({ "$ref": "#/not", "not": { "minimum": "1" } }),
            json!({}),
            vec![("/not:minimum", Malformed), (":not", Unportable), (":$ref", Malformed)],
        ),
    ] {
        let (out, mends) = mended(&schema);
        assert_eq!(out, wanted, "{schema}");
        let mends: Vec<(&str, MendKind)> = mends.iter().map(|(place, kind)| (place.as_str(), *kind)).collect();
        assert_eq!(mends, told, "{schema}");
    }
}

#[test]
fn what_is_well_formed_stays() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "$id": "x", "type": "object", "title": "T", "x-own": [1],
        "properties": { "a": { "type": ["string", "null"], "pattern": "^[a-z]+$", "enum": ["", null] },
            "b": { "$ref": "#/$defs/tree" }, "type": { "const": true } },
        "required": ["a"], "additionalProperties": false, "oneOf": [{ "required": ["a"] }, { "not": { "minProperties": 1.0 } }],
        "$defs": { "tree": { "type": "array", "items": { "$ref": "#/$defs/tree" } } }, "default": { "type": "any" },
    });
    assert_eq!(mended(&schema), (schema.clone(), vec![]));
    let looking = json!({ "pattern": "(?=a)" });
    assert_eq!(Value::Object(mended_schema(&looking, MendOptions::default(), &mut Vec::new())), looking);
}

#[test]
fn large_and_deep_schemas_are_left_open() {
    let deep = (0..400).fold(json!({ "type": "any" }), |inner, _| json!({ "items": inner }));
    assert!(check_well_formed(&mended(&deep).0, "").is_ok());
    let many: serde_json::Map<String, Value> = (0..30_000).map(|at| (format!("p{at}"), json!({ "type": 5 }))).collect();
    let (out, _) = mended(&json!({ "properties": many }));
    assert!(check_well_formed(&out, "").is_ok());
    assert_eq!(out["properties"].as_object().unwrap().len(), 30_000);
}

#[test]
fn bounds_of_draft_4_exclude_themselves() {
    let between = json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 3, "exclusiveMaximum": true });
    let (modern, _) = mended(&between);
    for (number, fits) in [(1, false), (2, true), (3, false)] {
        assert_eq!((accepts(&between, &json!(number)), accepts(&modern, &json!(number))), (fits, fits), "{number}");
    }
    assert!(accepts(&json!({ "minimum": 1, "exclusiveMinimum": false }), &json!(1)));
}

fn accepts(schema: &Value, instance: &Value) -> bool {
    validate_args(schema, "", instance, false).is_ok_and(|checked| checked.valid)
}

proptest! {
    #![proptest_config(property(4_000))]

    #[test]
    fn any_value_becomes_a_schema_that_accepts_no_less(schema in schemas(), instances in prop::collection::vec(instances(), 6)) {
        for options in [PLAIN, MendOptions::default()] {
            let mut mends = Vec::new();
            let out = Value::Object(mended_schema(&schema, options, &mut mends));
            let told = check_well_formed(&out, "");
            prop_assert!(told.is_ok(), "{:?}: {schema} became {out}", told);
            prop_assert!(!mends.is_empty() || out == schema);
            for instance in instances.iter().filter(|instance| accepts(&schema, instance)) {
                prop_assert!(accepts(&out, instance), "{instance} fits {schema}, which became {out}");
            }
            let mut again = Vec::new();
            prop_assert_eq!(Value::Object(mended_schema(&out, options, &mut again)), out);
            prop_assert_eq!(again, vec![]);
        }
    }
}
