#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is wrong")]

use super::*;
use contextweaver_test_support::property;
use proptest::prelude::*;

fn down(schema: &Value, dialect: SchemaDialect) -> (Value, Vec<SchemaChange>) {
    let mut report = Vec::new();
    let out = down_level(schema.as_object().unwrap(), dialect, "t", &mut report);
    (out, report)
}

fn check(cases: &[(SchemaDialect, Value, Value)]) {
    for (dialect, schema, wanted) in cases {
        let properties = json!({ "type": "object", "properties": { "p": schema }, "required": ["p"] });
        let (out, _) = down(&properties, *dialect);
        assert_eq!(out["properties"]["p"], *wanted, "{dialect:?} {schema}");
    }
}

#[test]
fn gemini_gets_what_it_knows() {
    use SchemaDialect::Gemini;
    check(&[
        (Gemini, json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (Gemini, json!({"const": 3}), json!({"type": "integer", "description": "One of: 3."})),
        (Gemini, json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
        (Gemini, json!({"type": ["string", "integer"]}), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})),
        (
            Gemini,
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
            json!({"type": "string", "description": "d", "nullable": true}),
        ),
        (
            Gemini,
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}], "title": "t"}),
            json!({"anyOf": [{"type": "string", "title": "t"}, {"type": "integer", "title": "t"}]}),
        ),
        (
            Gemini,
            json!({"type": "integer", "exclusiveMinimum": 0, "minimum": -3}),
            json!({"type": "integer", "minimum": 1}),
        ),
        (
            Gemini,
            json!({"type": "number", "exclusiveMaximum": 5, "maximum": 4}),
            json!({"type": "number", "maximum": 4}),
        ),
        (
            Gemini,
            json!({"type": "number", "maximum": 4, "exclusiveMaximum": true}),
            json!({"type": "number", "maximum": 4}),
        ),
        (Gemini, json!({"type": "string", "format": "uri"}), json!({"type": "string", "description": "Format: uri."})),
        (Gemini, json!({"type": "string", "format": "date-time"}), json!({"type": "string", "format": "date-time"})),
        (Gemini, json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
        (
            Gemini,
            json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}]}),
            json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
        ),
        (Gemini, json!({"type": "object", "additionalProperties": {"type": "string"}}), json!({"type": "object"})),
        (
            Gemini,
            json!({"type": "string", "enum": ["a", null]}),
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
        ),
        (Gemini, json!(true), json!({"type": "string"})),
        (
            Gemini,
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                                  {"properties": {"b": {"type": "string", "default": "x"}}, "required": ["b", "zz"]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}),
        ),
        (
            Gemini,
            json!({"type": "object", "properties": {"a": {"type": "string"}},
                        "anyOf": [{"required": ["a"]}, {"title": "t"}]}),
            json!({"anyOf": [{"required": ["a"], "type": "object", "properties": {"a": {"type": "string"}}},
                             {"title": "t", "type": "object", "properties": {"a": {"type": "string"}}}]}),
        ),
    ]);
}

#[test]
fn strict_objects_are_closed_and_complete() {
    use SchemaDialect::OpenAiStrict;
    check(&[
        (
            OpenAiStrict,
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "b": {"type": "integer"}},
                              "required": ["a"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}},
                   "required": ["a", "b"], "additionalProperties": false}),
        ),
        (OpenAiStrict, json!({"oneOf": [{"const": 1}, {"const": 2}]}), json!({"anyOf": [{"const": 1}, {"const": 2}]})),
        (
            OpenAiStrict,
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (OpenAiStrict, json!({}), json!({"type": ["string", "number", "boolean", "null"]})),
        (
            OpenAiStrict,
            json!({"type": "string", "format": "uri", "pattern": "x"}),
            json!({"type": "string", "pattern": "x"}),
        ),
    ]);
    // A type beside alternatives forbids null as well.
    let uuid = json!({"type": "string", "anyOf": [{"type": "string", "format": "uuid"}]});
    let (out, _) = down(&json!({"type": "object", "properties": {"a": uuid}}), OpenAiStrict);
    assert_eq!(out["properties"]["a"], json!({"anyOf": [uuid, {"type": "null"}]}));
    let (out, report) = down(
        &json!({"properties": {"n": {"$ref": "#/definitions/N", "description": "d"}, "m": {"$ref": "#/definitions/N"}},
            "required": ["n"], "definitions": {"N": {"type": "object", "properties": {"next": {"$ref": "#/definitions/N"}}}}}),
        OpenAiStrict,
    );
    assert_eq!(out["properties"]["n"], json!({"$ref": "#/$defs/N"}));
    assert_eq!(out["properties"]["m"], json!({"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}));
    assert_eq!(out["$defs"]["N"]["additionalProperties"], json!(false));
    assert!(report.iter().any(|change| change.path == "/properties/n" && change.keyword == "description"));
}

#[test]
fn properties_named_like_keywords_are_properties() {
    let names =
        ["$ref", "const", "default", "additionalProperties", "oneOf", "type", "properties", "required", "$defs"];
    let properties: JsonMap = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": names });
    for dialect in [SchemaDialect::Gemini, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi, SchemaDialect::Anthropic]
    {
        let (out, report) = down(&schema, dialect);
        let kept: Vec<&String> = out["properties"].as_object().unwrap().keys().collect();
        if dialect == SchemaDialect::Anthropic {
            // Names with other characters are written otherwise.
            assert_eq!((kept[0].as_str(), kept[8].as_str(), kept.len(), report.len()), ("_ref", "_defs", 9, 2));
        } else {
            assert_eq!(
                (kept, report),
                (names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().iter().collect(), vec![])
            );
        }
    }
}

#[test]
fn refs_that_contain_themselves_end() {
    let tree = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}, "self": {"$ref": "#"}},
        "$defs": {"Node": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}},
                  "Loop": {"$ref": "#/$defs/Loop"}, "X": {"allOf": [{"$ref": "#/$defs/X"}]}}});
    let (out, report) = down(&tree, SchemaDialect::Gemini);
    assert_eq!(out["properties"]["root"]["properties"]["kids"]["items"], json!({"type": "object"}));
    assert!(report.iter().any(|change| change.action == "inlined" && change.note.contains("contains itself")));
    for start in ["#/$defs/Loop", "#/$defs/X", "#/nowhere", "https://example.com/x"] {
        for dialect in
            [SchemaDialect::Gemini, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi, SchemaDialect::Anthropic]
        {
            let mut schema = tree.clone();
            schema["$ref"] = json!(start);
            assert_eq!(down(&schema, dialect).0["type"], "object");
        }
    }
    // Each definition twice in the next: a million when followed.
    let mut defs = JsonMap::new();
    for level in 0..20 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    let bomb = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    let (out, report) = down(&bomb, SchemaDialect::Gemini);
    assert!(out.to_string().len() < 1_000_000 && report.iter().any(|change| change.note.contains("too large")));
}

/// Returns the steps of copying, and the bytes of the schema and of the report.
fn cost(schema: &Value, dialect: SchemaDialect) -> (u64, usize) {
    let (mut report, budget) = (Vec::new(), StepBudget::new("the test", limits::MAX_REWRITE_STEPS));
    let mut walk = SchemaRewriter {
        root: schema,
        dialect,
        tool_id: "t",
        report: &mut report,
        open: Vec::new(),
        schemas: 0,
        budget,
        reported: 0,
    };
    let outermost = walk.root_object(schema.as_object().unwrap().clone());
    let written = walk.schema(&Value::Object(outermost), "", 0).unwrap();
    let spent = walk.budget.spent();
    let told: usize = report.iter().map(|change| change.path.len() + change.note.len() + 64).sum();
    (spent, written.to_string().len() + told)
}

/// A server names a large part of its schema a thousand times, puts a long text beside a thousand alternatives, or gives
/// a property a name as long as the schema: what comes out is bounded, and is a schema.
#[test]
fn small_schemas_do_not_become_large_ones() {
    let named =
        |count: usize, value: Value| -> JsonMap { (0..count).map(|n| (format!("p{n}"), value.clone())).collect() };
    let of = |properties: JsonMap, big: Value| json!({ "type": "object", "properties": properties, "$defs": { "big": big } });
    let to_big = || named(900, json!({ "$ref": "#/$defs/big" }));
    let wide = json!({ "type": "object", "properties": named(900, json!({ "type": "string" })) });
    let list: Vec<usize> = (0..4000).collect();
    let beside = json!({ "anyOf": vec![json!({}); 5000], "description": "x".repeat(30_000) });
    let schemas = [
        of(to_big(), json!({ "type": "string", "description": "x".repeat(30_000) })),
        of(to_big(), json!({ "enum": list })),
        of(to_big(), wide.clone()),
        of(named(1500, json!({ "$ref": "#" })), json!({})),
        json!({ "type": "object", "anyOf": vec![json!({ "$ref": "#/$defs/big" }); 1200], "$defs": { "big": wide } }),
        of(named(1, beside), json!({})),
        of(
            JsonMap::from_iter([(
                "k".repeat(30_000),
                json!({ "type": "object", "properties": named(1500, json!({ "format": "x" })) }),
            )]),
            json!({}),
        ),
    ];
    for schema in &schemas {
        assert!(schema.to_string().len() < 65_536);
        for dialect in [SchemaDialect::Gemini, SchemaDialect::OpenAiStrict] {
            let (_, bytes) = cost(schema, dialect);
            assert!(bytes < 6_000_000, "{dialect:?} {bytes}: {}", &schema.to_string()[..60]);
            assert_eq!(down(schema, dialect).0["type"], "object");
        }
    }
    let (out, report) = down(&schemas[1], SchemaDialect::Gemini);
    assert!(report.iter().any(|change| change.note.contains("too large to stand here")));
    assert_eq!(out["properties"].as_object().map(JsonMap::len), Some(900));
}

#[test]
fn copies_are_counted_by_what_is_copied() {
    let named = |count: usize, size: usize| {
        let list: Vec<usize> = (0..size).collect();
        let properties: JsonMap = (0..count).map(|n| (format!("p{n}"), json!({ "$ref": "#/$defs/big" }))).collect();
        json!({ "type": "object", "properties": properties, "$defs": { "big": { "enum": list } } })
    };
    let (few, _) = cost(&named(10, 100), SchemaDialect::Gemini);
    assert_eq!(cost(&named(20, 100), SchemaDialect::Gemini).0, 2 * few);
    assert!(cost(&named(10, 200), SchemaDialect::Gemini).0 <= 2 * few);
    assert_eq!(few, 10 * 102);
}

#[test]
fn long_lists_are_joined_once() {
    let required = |from: usize, to: usize| -> Vec<String> { (from..to).map(|n| format!("k{n}")).collect() };
    let parts: Vec<Value> = (0..2000).map(|n| json!({ "required": required(n, n + 2) })).collect();
    let (out, _) = down(&json!({ "allOf": parts, "properties": { "k1": {} } }), SchemaDialect::OpenAi);
    assert_eq!(out["required"].as_array().map(Vec::len), Some(2001));
    let enums = json!({ "properties": { "x": { "allOf": [{ "enum": [1, "a", [1], { "b": 1, "c": 2 }] },
        { "enum": [{ "c": 2, "b": 1 }, [1], "a", 1.5] }] } } });
    let (out, _) = down(&enums, SchemaDialect::OpenAiStrict);
    assert_eq!(out["properties"]["x"]["anyOf"][0]["enum"], json!(["a", [1], { "b": 1, "c": 2 }]));
    // Many schemas of one property hold together.
    let same: Vec<Value> = (0..500).map(|n| json!({ "properties": { "p": { "minimum": n } } })).collect();
    let (out, report) = down(&json!({ "properties": { "x": { "allOf": same } } }), SchemaDialect::Gemini);
    assert_eq!(out["properties"]["x"]["properties"]["p"]["minimum"], 499);
    assert_eq!(report.iter().filter(|change| change.keyword == "allOf").count(), 2);
    let branches: Vec<Value> = (0..500).map(|n| json!({ "properties": { "p": { "const": n % 250 } } })).collect();
    let (out, _) = down(&json!({ "type": "object", "oneOf": branches }), SchemaDialect::OpenAi);
    assert_eq!(out["properties"]["p"]["anyOf"].as_array().map(Vec::len), Some(250));
}

#[test]
fn the_outermost_schema_is_a_plain_object() {
    for dialect in [SchemaDialect::Gemini, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi, SchemaDialect::Anthropic]
    {
        let (out, report) = down(
            &json!({"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}, "k": {"type": "string"}}, "required": ["a", "k"]},
                              {"properties": {"b": {"type": "string"}, "k": {"type": "integer"}}, "required": ["b", "k"]}]}),
            dialect,
        );
        assert_eq!(out["type"], "object");
        assert!(["anyOf", "oneOf", "allOf"].iter().all(|key| out.get(*key).is_none()), "{out}");
        assert_eq!(out["properties"].as_object().unwrap().len(), 3);
        assert!(out["properties"]["k"]["anyOf"].is_array(), "{out}");
        if dialect != SchemaDialect::OpenAiStrict {
            assert_eq!(out["required"], json!(["k"]));
        }
        assert!(report.iter().any(|change| change.keyword == "oneOf" && change.path.is_empty()));
        let (out, _) = down(&json!({"type": "string", "description": "d"}), dialect);
        assert_eq!((&out["required"], &out["properties"]["value"]["type"]), (&json!(["value"]), &json!("string")));
        assert_eq!(down(&json!({}), dialect).0["type"], "object");
    }
    let (out, _) =
        down(&json!({"type": "object", "properties": {"a": {"type": "array"}}, "x-own": 1}), SchemaDialect::Anthropic);
    assert_eq!(out, json!({"type": "object", "properties": {"a": {"type": "array", "items": {}}}, "x-own": 1}));
}

/// Schemas of every form, keywords in wrong places and with wrong values among them.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "default": "x", "format": "uri"})),
        Just(json!({"type": ["integer", "null"], "exclusiveMinimum": 1, "multipleOf": 2})),
        Just(json!({"const": {"a": 1}})),
        Just(json!({"enum": [1, "a", null]})),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!({"$ref": "#/properties/x"})),
        Just(json!({"$ref": 5, "type": "strange"})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!("no schema")),
        Just(json!({"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": true})),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..3);
        let named = proptest::collection::vec((prop_oneof!["x", "\\$ref", "const", "type"], inner.clone()), 0..3)
            .prop_map(|list| Value::Object(list.into_iter().collect()));
        let keyword = prop_oneof![
            Just("anyOf"),
            Just("oneOf"),
            Just("allOf"),
            Just("items"),
            Just("prefixItems"),
            Just("not"),
            Just("if")
        ];
        prop_oneof![
            (named.clone(), any::<bool>()).prop_map(|(named, is_typed)| if is_typed {
                json!({"type": "object", "properties": named, "required": ["x", "gone", 3]})
            } else {
                json!({"properties": named, "anyOf": [{"required": ["x"]}, {"type": "null"}]})
            }),
            (keyword, list).prop_map(|(keyword, list)| json!({ keyword: list, "description": "d" })),
            inner.prop_map(|inner| json!({"type": "array", "items": inner, "uniqueItems": true, "examples": [1]})),
            named.prop_map(|named| json!({"$defs": named, "$ref": "#/$defs/x", "type": "object"})),
        ]
    })
}

/// Returns the keywords at places of keywords that a list does not have.
fn strangers(value: &Value, allowed: &[&str], found: &mut Vec<String>) {
    let Value::Object(node) = value else {
        found.push(value.to_string());
        return;
    };
    for (key, value) in node {
        match key.as_str() {
            _ if !allowed.contains(&key.as_str()) => found.push(key.clone()),
            "properties" | "$defs" => {
                value.as_object().unwrap().values().for_each(|schema| strangers(schema, allowed, found));
            }
            "anyOf" => value.as_array().unwrap().iter().for_each(|schema| strangers(schema, allowed, found)),
            "items" => strangers(value, allowed, found),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn nothing_forbidden_is_left(schema in schemas()) {
        prop_assume!(schema.is_object());
        let before = schema.clone();
        let gemini = ["type", "format", "title", "description", "nullable", "enum", "properties", "required", "items",
            "minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum",
            "maximum", "anyOf", "propertyOrdering"];
        let strict = ["type", "title", "description", "enum", "const", "properties", "required", "additionalProperties",
            "items", "anyOf", "$ref", "$defs", "pattern", "format", "multipleOf", "minimum", "maximum",
            "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"];
        for (dialect, allowed) in [(SchemaDialect::Gemini, &gemini[..]), (SchemaDialect::OpenAiStrict, &strict)] {
            let (out, _) = down(&schema, dialect);
            let mut found = Vec::new();
            strangers(&out, allowed, &mut found);
            prop_assert!(found.is_empty(), "{dialect:?} {found:?} in {out}");
            prop_assert_eq!(&out["type"], "object");
        }
        for dialect in [SchemaDialect::OpenAi, SchemaDialect::Anthropic] {
            let (out, _) = down(&schema, dialect);
            prop_assert_eq!(&out["type"], "object");
            prop_assert!(["anyOf", "oneOf", "allOf", "$ref"].iter().all(|key| out.get(*key).is_none()));
        }
        prop_assert_eq!(before, schema);
    }
}
