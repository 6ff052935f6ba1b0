//! What servers send where schemas should stand.

use proptest::prelude::*;
use serde_json::{Value, json};

const NAMES: &[&str] = &["a", "b", "type", "required", "$ref", "f[x]"];
const KEYWORDS: &[&str] = &[
    "type",
    "enum",
    "const",
    "required",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "pattern",
    "format",
    "dependentRequired",
    "$ref",
    "$schema",
    "description",
    "default",
    "x-own",
    "properties",
    "items",
    "$defs",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "patternProperties",
    "prefixItems",
    "additionalItems",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "dependentSchemas",
];

/// Values that may stand below any keyword: right for one, wrong for the next.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2_i64..6).prop_map(Value::from),
        prop::sample::select(vec![
            "string",
            "integer",
            "any",
            "object",
            "5",
            "",
            "a",
            "b",
            "^a",
            "(?!a)",
            "(",
            "#",
            "#/$defs/a",
            "#/items/0",
            "#/properties/a",
            "#/not",
            "#/none",
            "#/x-own/a",
            "https://x.test/y",
            "#/$defs",
        ])
        .prop_map(Value::from),
        prop::collection::vec(prop::sample::select(vec!["a", "b", "string", "null", "any", "integer"]), 0..3)
            .prop_map(Value::from),
        prop::collection::vec((-1_i64..3).prop_map(Value::from), 0..3).prop_map(Value::from),
    ]
}

/// Values with keywords of schemas in right and wrong places.
pub fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        odd(),
        prop::sample::select(vec![
            json!({ "type": "string" }),
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true }),
            json!({ "const": 1 }),
            json!({ "$ref": "#/$defs/a" }),
            json!({ "$ref": "#/$defs/b" }),
            json!({ "$ref": "#/items/1" }),
        ]),
    ];
    leaf.prop_recursive(4, 48, 5, |inner| {
        let named = prop::collection::vec((prop::sample::select(NAMES), inner.clone()), 0..4)
            .prop_map(|list| list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>());
        let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
        let value = prop_oneof![3 => inner, 2 => named, 2 => list, 2 => odd()];
        prop::collection::vec((prop::sample::select(KEYWORDS), value), 0..5)
            .prop_map(|list| list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>())
    })
}

/// Values that such a schema may be about.
pub fn instances() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2_i64..4).prop_map(Value::from),
        prop::sample::select(vec!["a", "b", "", "string"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..4)
                .prop_map(|list| list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()),
        ]
    })
}
