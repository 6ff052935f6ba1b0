use serde_json::json;

use super::*;

fn check(schema: &Value, value: &Value) -> Validation {
    validate_args(schema, "/schema", value, false).unwrap()
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table of all keywords")]
fn values_fit_or_not() {
    let person = json!({ "$ref": "#/$defs/p", "$defs": { "p": { "type": "object", "properties": { "boss": { "$ref": "#/$defs/p" }, "n": { "type": "integer" } }, "required": ["n"] } } });
    let cases: Vec<(Value, Vec<Value>, Vec<Value>)> = vec![
        (json!({}), vec![json!(1), json!(null)], vec![]),
        (
            json!({ "type": "integer" }),
            vec![json!(1), json!(1.0), json!(1e20), json!(-0.0)],
            vec![json!(1.5), json!(true), json!("1"), json!(null)],
        ),
        (json!({ "type": ["string", "null"] }), vec![json!(""), json!(null)], vec![json!(0), json!([])]),
        (json!({ "type": "number" }), vec![json!(0.1)], vec![json!("a"), json!(false)]),
        (
            json!({ "enum": [1, "a", { "x": [1, 2], "y": 1 }] }),
            vec![json!(1.0), json!("a"), json!({ "y": 1, "x": [1, 2.0] })],
            vec![json!(2), json!({ "x": [2, 1], "y": 1 })],
        ),
        (json!({ "const": null }), vec![json!(null)], vec![json!(0)]),
        (
            json!({ "minimum": 1, "exclusiveMaximum": 3 }),
            vec![json!(1), json!(2.9), json!("a")],
            vec![json!(0.9), json!(3)],
        ),
        (
            json!({ "maximum": 9_007_199_254_740_993_i64 }),
            vec![json!(9_007_199_254_740_993_i64)],
            vec![json!(9_007_199_254_740_994_i64)],
        ),
        (json!({ "multipleOf": 0.01 }), vec![json!(19.99), json!(0.3), json!(4)], vec![json!(0.005)]),
        (
            json!({ "multipleOf": 0.123_456_789 }),
            vec![json!(0), json!(123_456_789), json!(1.234_567_89)],
            vec![json!(1e308)],
        ),
        (json!({ "multipleOf": 1e-300 }), vec![json!(1e308), json!(3)], vec![json!(1e-301)]),
        (json!({ "multipleOf": 0 }), vec![json!(1)], vec![]),
        (json!({ "minLength": 2, "maxLength": 2 }), vec![json!("é😀")], vec![json!("a"), json!("abc")]),
        (json!({ "pattern": "^a+$" }), vec![json!("aa"), json!(1)], vec![json!("ba"), json!("a\n")]),
        (json!({ "pattern": "(?=a)b" }), vec![json!("x")], vec![]),
        (json!({ "format": "email" }), vec![json!("x")], vec![]),
        (
            json!({ "items": { "type": "string" }, "minItems": 1, "maxItems": 2 }),
            vec![json!(["a"])],
            vec![json!([]), json!([1]), json!(["a", "b", "c"])],
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "number" } }),
            vec![json!(["a", 1]), json!([])],
            vec![json!([1]), json!(["a", "b"])],
        ),
        (
            json!({ "items": [{ "type": "string" }], "additionalItems": false }),
            vec![json!(["a"])],
            vec![json!(["a", 1]), json!([1])],
        ),
        (
            json!({ "uniqueItems": true }),
            vec![json!([1, "1", true, [1]])],
            vec![json!([1, 2, 1.0]), json!([{ "a": 1, "b": 2 }, { "b": 2, "a": 1 }])],
        ),
        (
            json!({ "contains": { "const": 1 }, "maxContains": 2 }),
            vec![json!([0, 1]), json!([1, 1])],
            vec![json!([0]), json!([1, 1, 1])],
        ),
        (json!({ "contains": { "const": 1 }, "minContains": 0 }), vec![json!([])], vec![]),
        (
            json!({ "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false }),
            vec![json!({ "a": "x" })],
            vec![json!({}), json!({ "a": 1 }), json!({ "a": "x", "b": 1 }), json!({ "a": "x", "__proto__": 1 })],
        ),
        (
            json!({ "patternProperties": { "^x-": { "type": "number" } }, "additionalProperties": { "type": "string" } }),
            vec![json!({ "x-a": 1, "b": "c" })],
            vec![json!({ "x-a": "1" }), json!({ "b": 1 })],
        ),
        (json!({ "propertyNames": { "pattern": "^[a-z]+$" } }), vec![json!({ "ab": 1 })], vec![json!({ "A": 1 })]),
        (
            json!({ "dependentRequired": { "card": ["cvc"] } }),
            vec![json!({}), json!({ "card": 1, "cvc": 1 })],
            vec![json!({ "card": 1 })],
        ),
        (
            json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
            vec![json!({ "b": 1 }), json!({ "a": 1, "b": 1 })],
            vec![json!({ "a": 1 })],
        ),
        (
            json!({ "minProperties": 1, "maxProperties": 1 }),
            vec![json!({ "a": 1 })],
            vec![json!({}), json!({ "a": 1, "b": 2 })],
        ),
        (json!({ "anyOf": [{ "type": "string" }, { "minimum": 3 }] }), vec![json!("a"), json!(3)], vec![json!(2)]),
        (
            json!({ "oneOf": [{ "type": "integer" }, { "minimum": 3 }] }),
            vec![json!(1), json!(3.5)],
            vec![json!(3), json!(0.5)],
        ),
        (json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }), vec![json!(1)], vec![json!(0), json!(3)]),
        (json!({ "not": { "type": "null" } }), vec![json!(0)], vec![json!(null)]),
        (
            json!({ "if": { "properties": { "k": { "const": 1 } } }, "then": { "required": ["a"] }, "else": { "required": ["b"] } }),
            vec![json!({ "k": 1, "a": 1 }), json!({ "k": 2, "b": 1 })],
            vec![json!({ "k": 1 }), json!({ "k": 2, "a": 1 })],
        ),
        (json!({ "properties": { "a": false } }), vec![json!({})], vec![json!({ "a": 1 })]),
        (person, vec![json!({ "n": 1, "boss": { "n": 2 } })], vec![json!({ "n": 1, "boss": {} })]),
        (
            json!({ "properties": { "a~b/c": { "type": "null" } }, "$ref": "#/properties/a~0b~1c" }),
            vec![json!(null)],
            vec![json!(1)],
        ),
        (json!(false), vec![], vec![json!(1)]),
    ];
    for (schema, good, bad) in cases {
        for value in &good {
            assert_eq!(check(&schema, value).errors, [], "{schema} {value}");
        }
        for value in &bad {
            let found = check(&schema, value);
            assert!(!found.valid && !found.errors.is_empty(), "{schema} {value}");
        }
    }
}

#[test]
fn differences_name_the_place_and_never_the_value() {
    let schema = json!({ "type": "object", "required": ["id"], "additionalProperties": false, "properties": { "id": {}, "list": { "items": { "enum": ["a", 2] } }, "age": { "type": ["integer", "null"], "minimum": 18 } } });
    let found = check(&schema, &json!({ "list": ["a", "secret-1"], "age": 17.5, "other": "secret-2" }));
    let lines: Vec<String> = found.errors.iter().map(|e| format!("{} {}: {}", e.path, e.keyword, e.expected)).collect();
    assert_eq!(
        lines,
        [
            " required: the property `id`",
            "/other additionalProperties: no such property",
            "/list/1 enum: one of \"a\", 2",
            "/age type: integer or null",
            "/age minimum: at least 18",
        ]
    );
    let many: Vec<Value> = (0..50).map(Value::from).collect();
    assert_eq!(check(&json!({ "items": { "type": "string" } }), &json!(many)).errors.len(), 10);
    let long = "k".repeat(5000);
    let found = check(&json!({ "additionalProperties": false }), &json!({ long: 1 }));
    assert!(found.errors[0].path.len() < 100);
}

#[test]
fn what_is_not_enforced_is_said() {
    let schema = json!({ "properties": { "a": { "pattern": "(?<=a)b" }, "b": { "$ref": "#/nowhere" }, "pattern": { "type": "string" } }, "unevaluatedProperties": false });
    let found = check(&schema, &json!({ "a": "x", "b": 1 }));
    assert!(found.valid);
    let said: Vec<String> = found.warnings.iter().map(|w| format!("{} {}", w.code, w.path)).collect();
    assert_eq!(
        said,
        [
            "unsupported_keyword /schema/unevaluatedProperties",
            "unsupported_pattern /schema/properties/a/pattern",
            "unresolved_ref /schema/properties/b/$ref",
        ]
    );
}

#[test]
fn defaults_are_filled_in() {
    let schema = json!({
        "properties": { "n": { "default": 1 }, "o": { "properties": { "x": { "$ref": "#/$defs/x" } } }, "l": { "items": { "properties": { "y": { "default": [] } } } }, "s": { "type": "string", "default": 5 } },
        "allOf": [{ "properties": { "z": { "default": null } } }],
        "$defs": { "x": { "default": "dx" } },
    });
    let value = json!({ "o": {}, "l": [{}], "s": "given" });
    let found = validate_args(&schema, "", &value, true).unwrap();
    assert_eq!(
        found.value.unwrap(),
        json!({ "o": { "x": "dx" }, "l": [{ "y": [] }], "s": "given", "z": null, "n": 1 })
    );
    assert_eq!(value, json!({ "o": {}, "l": [{}], "s": "given" }));
    assert!(!validate_args(&schema, "", &json!({}), true).unwrap().valid);
    let endless = json!({ "properties": { "a": { "$ref": "#", "default": {} } } });
    assert_eq!(validate_args(&endless, "", &json!({}), true).unwrap().value.unwrap(), json!({ "a": {} }));
    let circle = json!({ "properties": { "a": { "$ref": "#/properties/a" } } });
    assert!(validate_args(&circle, "", &json!({}), true).unwrap().valid);
}

#[test]
fn hostile_schemas_end() {
    let code = |schema: &Value, value: &Value| {
        let error = validate_args(schema, "/schema", value, false).unwrap_err();
        (error.code(), error.details()["reason"].as_str().unwrap_or_default().to_owned())
    };
    let too_large = "schema_too_large".to_owned();
    assert_eq!(code(&json!({ "$ref": "#" }), &json!(1)), (ErrorCode::TooDeep, too_large.clone()));
    // Below each other in one schema, nothing is known of the others.
    let wide: Vec<Value> = (0..5_000).map(|n| json!({ "minLength": n })).collect();
    let many: Vec<Value> = (0..5_000).map(|n| json!(format!("{n:0>5000}"))).collect();
    assert_eq!(code(&json!({ "items": { "allOf": wide } }), &json!(many)), (ErrorCode::TooLarge, too_large.clone()));
    let slow = json!({ "pattern": "[ab]*a[ab]{900}c" });
    let mixed: String = (0..1_u64 << 20).map(|n| if n * n % 1009 < 500 { 'a' } else { 'b' }).collect();
    assert_eq!(code(&slow, &json!(mixed)), (ErrorCode::TooLarge, too_large));
    assert_eq!(code(&json!({ "$ref": "http://x" }), &json!(1)), (ErrorCode::Unsupported, "remote_ref".to_owned()));
    assert_eq!(code(&json!(5), &json!(1)), (ErrorCode::InvalidInput, "invalid_schema".to_owned()));
    let odd = json!({ "type": 5, "required": "a", "enum": 1, "anyOf": {}, "minLength": "x", "properties": [] });
    assert!(check(&odd, &json!({})).valid);
    let wide: Vec<Value> = (0..20_000).map(|n| json!({ "a": n, "b": [n] })).collect();
    assert!(check(&json!({ "uniqueItems": true }), &json!(wide)).valid);
}

/// The steps of checking a value, and whether it fits.
fn steps(schema: &Value, value: &Value) -> (u64, bool) {
    let (patterns, _) = survey(schema, "").unwrap();
    let mut shared = Shared::new(schema, &patterns);
    let fits = SchemaChecker::new(&mut shared, 0).check(schema, value, true).unwrap();
    (shared.budget.spent(), fits)
}

/// Definitions of which each refers twice to the next, the last of them being `last`.
fn doubling(keyword: &str, levels: usize, last: &Value) -> Value {
    let next = |n: usize| json!({ "$ref": format!("#/$defs/d{}", n + 1) });
    let defs: JsonMap = (0..levels)
        .map(|n| (format!("d{n}"), json!({ keyword: [next(n), next(n)] })))
        .chain([(format!("d{levels}"), last.clone())])
        .collect();
    json!({ "$ref": "#/$defs/d0", "$defs": defs })
}

#[test]
fn references_to_one_schema_are_followed_once() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        for last in [json!({ "type": "string" }), json!({ "type": "number" })] {
            let (few, _) = steps(&doubling(keyword, 20, &last), &json!(1));
            let (many, fits) = steps(&doubling(keyword, 40, &last), &json!(1));
            assert!(many < few * 3, "{keyword}: {few} {many}");
            let only_once = keyword != "oneOf" && last["type"] == "number";
            assert_eq!(fits, only_once, "{keyword} {last}");
        }
    }
    // What is known of one value is not known of another.
    let schema = json!({ "$defs": { "n": { "type": "number" } }, "items": { "$ref": "#/$defs/n" } });
    assert_eq!(check(&schema, &json!([1, "a", 2, "b"])).errors.len(), 2);
    let names = json!({ "$defs": { "n": { "maxLength": 1 } }, "propertyNames": { "$ref": "#/$defs/n" } });
    assert!(check(&names, &json!({ "a": 1, "b": 1 })).valid && !check(&names, &json!({ "a": 1, "bb": 1 })).valid);
}

#[test]
fn work_grows_with_patterns_times_names_and_no_faster() {
    let of = |count: usize| {
        let patterns: JsonMap = (0..count).map(|n| (format!("^(a|b)*{n}$"), json!({}))).collect();
        let names: JsonMap = (0..count).map(|n| (format!("{}{n}", "ab".repeat(50)), json!(1))).collect();
        steps(&json!({ "patternProperties": patterns }), &Value::Object(names))
    };
    let ((few, _), (many, fits)) = (of(100), of(200));
    assert!(fits && many < few * 9 / 2, "{few} {many}");
    // About a step for a character: what a pattern learned of one name it knows of the next.
    assert!(many < 200 * 200 * 104 * 2, "{many}");
}

#[test]
fn every_keyword_pays_for_what_it_reads() {
    let list = |count: usize| json!((0..count).map(|n| json!({ "id": n, "x": [n, 1.5] })).collect::<Vec<_>>());
    let (text, entry) = ("x".repeat(10_000), json!({ "x": [99, 1.5], "id": 99 }));
    for (schema, few, many) in [
        (json!({ "uniqueItems": true }), list(1000), list(2000)),
        (json!({ "items": { "enum": list(100) } }), json!(vec![&entry; 100]), json!(vec![&entry; 200])),
        (json!({ "items": { "minLength": 1 } }), json!(vec![&text; 100]), json!(vec![&text; 200])),
        (json!({ "contains": { "type": "null" } }), list(1000), list(2000)),
        (json!({ "propertyNames": { "maxLength": 9 } }), json!({ &text: 1 }), json!({ format!("{text}{text}"): 1 })),
    ] {
        let ((few, _), (many, _)) = (steps(&schema, &few), steps(&schema, &many));
        assert!(few > 500 && many > few * 3 / 2 && many < few * 5 / 2, "{schema}: {few} {many}");
    }
}

/// A long name above thousands of schemas was once written out for each of them.
#[test]
fn paths_are_short_and_written_when_needed() {
    let many: Vec<Value> = (0..3000).map(|n| json!({ "minLength": n })).chain([json!({ "pattern": "(" })]).collect();
    let schema = json!({ "properties": { "n".repeat(500_000): { "anyOf": many } } });
    let found = check(&schema, &json!({}));
    assert_eq!(found.warnings.len(), 1);
    assert!(found.warnings[0].path.ends_with("/anyOf/3000/pattern") && found.warnings[0].path.len() < 300);
}

/// Patterns and names are chosen by a server and by a model: each pair counts, and no pattern is prepared for each pair.
#[test]
fn patterns_of_names_cost_what_they_take() {
    let schema = |count: usize, pattern: &str| {
        let patterns: JsonMap = (0..count).map(|n| (format!("{pattern}{n:04}$"), json!({}))).collect();
        json!({ "patternProperties": patterns, "additionalProperties": { "type": "integer" } })
    };
    let object =
        |count: usize| Value::Object((0..count).map(|n| (format!("{n:04}{}", "ab".repeat(28)), json!(n))).collect());
    for pattern in ["^x", "^(?:[ab0-9]*)x", "a[ab]{5}c", "[ab]*b{3}"] {
        let few = steps(&schema(128, pattern), &object(128)).0;
        let names = steps(&schema(128, pattern), &object(256)).0;
        let patterns = steps(&schema(256, pattern), &object(128)).0;
        assert!(10 * names <= 22 * few && 10 * patterns <= 22 * few, "{pattern}: {few} {names} {patterns}");
        // A step for each character, and some for each pair, once for both keywords.
        assert!(few < 128 * 128 * 120, "{pattern}: {few}");
    }
    assert!(validate_args(&schema(512, "^x"), "", &object(512), false).unwrap().valid);
    let error = validate_args(&schema(2000, "^x"), "/inputSchema", &object(2000), false).unwrap_err();
    assert_eq!((error.code(), error.path()), (ErrorCode::TooLarge, "/inputSchema"));
    assert_eq!(error.details()["max_steps"], limits::MAX_SCHEMA_STEPS);
    assert!(error.to_json()["hint"].is_string());
}

#[test]
fn a_long_reference_is_followed_once() {
    let nested = (0..60).fold(json!({ "type": "array" }), |inner, _| json!({ "a": inner }));
    let text = format!("#/$defs{}", "/a".repeat(60));
    let schema = |count: usize| json!({ "items": { "allOf": vec![json!({ "$ref": text }); count] }, "$defs": nested });
    let (few, many) = (steps(&schema(50), &json!([[], []])).0, steps(&schema(100), &json!([[], []])).0);
    assert!(10 * many <= 21 * few && many < 40_000, "{few} {many}");
}

#[test]
fn additional_properties_are_those_that_nothing_speaks_of() {
    let rule = |first: bool, schema: Value| {
        let mut map = JsonMap::new();
        if first {
            map.insert("additionalProperties".to_owned(), json!(false));
        }
        map.extend(schema.as_object().unwrap().clone());
        map.insert("additionalProperties".to_owned(), json!(false));
        Value::Object(map)
    };
    let schema = json!({ "properties": { "a": {} }, "patternProperties": { "^x": { "type": "integer" }, "y$": {} } });
    for first in [true, false] {
        let errors = |value: Value| -> Vec<String> {
            let checked = validate_args(&rule(first, schema.clone()), "", &value, false).unwrap();
            checked.errors.into_iter().map(|error| format!("{} {}", error.path, error.keyword)).collect()
        };
        assert_eq!(errors(json!({ "a": 1, "x1": 2, "by": "", "xy": 3 })), [""; 0]);
        assert_eq!(errors(json!({ "b": 1, "a": 1, "c": 2 })), ["/b additionalProperties", "/c additionalProperties"]);
        let wrong = errors(json!({ "x1": "", "z": 1, "n": { "x2": 1 } }));
        assert_eq!(wrong.len(), 3);
        assert!(wrong.contains(&"/x1 type".to_owned()) && wrong.contains(&"/n additionalProperties".to_owned()));
    }
    // One that is not understood may have meant any name.
    let unclear = json!({ "patternProperties": { "(?=a)": {}, "^x": {} }, "additionalProperties": false });
    assert!(validate_args(&unclear, "", &json!({ "b": 1 }), false).unwrap().valid);
}

#[test]
fn defaults_of_doubling_definitions_are_filled_in_once() {
    let object = json!({ "properties": { "a": { "default": 1 }, "b": { "properties": { "c": { "default": [] } } } } });
    let steps = |levels: usize| {
        let schema = doubling("allOf", levels, &object);
        let mut budget = StepBudget::new("the test", limits::MAX_SCHEMA_STEPS);
        let filled = defaults::filled(&schema, &json!({ "b": {} }), &mut budget).unwrap();
        assert_eq!(filled, json!({ "b": { "c": [] }, "a": 1 }));
        budget.spent()
    };
    let (few, many) = (steps(20), steps(40));
    assert!(many <= 2 * few && many < 20_000, "{few} {many}");
}
