//! Whatever a server sends as a schema, what is written of it keeps the rules of each provider and accepts no less.

use contextweaver_convert::tools::{MendOptions, PropertyNames, check_well_formed, mended_schema, validate_args};
use contextweaver_routing::cards::own_arguments;
use contextweaver_routing::{SchemaDialect, down_level};
use contextweaver_test_support::property;
use contextweaver_test_support::schemas::{instances, schemas};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const DIALECTS: [SchemaDialect; 4] =
    [SchemaDialect::OpenAi, SchemaDialect::OpenAiStrict, SchemaDialect::Anthropic, SchemaDialect::Gemini];

fn written(schema: &Value, dialect: SchemaDialect) -> (Value, Vec<String>) {
    let mut report = Vec::new();
    let out = down_level(schema.as_object().unwrap(), dialect, "t", &mut report);
    (out, report.into_iter().map(|change| format!("{} {}:{}", change.action, change.path, change.keyword)).collect())
}

/// Calls a function with every schema and its path.
fn each<'s>(schema: &'s Value, path: &str, run: &mut dyn FnMut(&'s Value, &str)) {
    run(schema, path);
    for (key, value) in schema.as_object().into_iter().flatten() {
        let at = format!("{path}/{key}");
        match (key.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(named),
            ) => {
                named.iter().for_each(|(name, one)| each(one, &format!("{at}/{name}"), run));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                for one in list {
                    each(one, &at, run);
                }
            }
            ("items" | "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "additionalProperties", _) => {
                each(value, &at, run);
            }
            _ => {}
        }
    }
}

fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::Array(list) => list.iter().any(|one| one == name),
        one => one == name,
    }
}

/// What a provider would say of the schema of a function.
fn complaints(dialect: SchemaDialect, root: &Value) -> Vec<String> {
    use SchemaDialect::{Anthropic, Gemini, OpenAi, OpenAiStrict};
    let mut found: Vec<String> =
        check_well_formed(root, "").err().map(|error| format!("{error:?}")).into_iter().collect();
    if root["type"] != "object" {
        found.push("the outermost schema is no object".to_owned());
    }
    for key in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref", "if"] {
        // Gemini takes alternatives there.
        if root.get(key).is_some() {
            found.push(format!("{key} at the top"));
        }
    }
    each(root, "", &mut |schema, path| {
        let mut say = |what: &str| found.push(format!("{path}: {what}"));
        let Some(map) = schema.as_object() else {
            // Only what is beside properties may be true or false.
            if !path.ends_with("/additionalProperties") || dialect == Gemini {
                say("no object");
            }
            return;
        };
        if has_type(schema, "array") && !map.get("items").is_some_and(Value::is_object) {
            say("an array without items");
        }
        if map.get("pattern").and_then(Value::as_str).is_some_and(|text| text.contains("(?") || text == "(") {
            say("pattern");
        }
        if let Some(text) = map.get("$ref").and_then(Value::as_str) {
            let target = text.strip_prefix('#').and_then(|place| root.pointer(place));
            if !target.is_some_and(Value::is_object) || dialect == Gemini {
                say("$ref");
            }
        }
        let properties = map.get("properties").and_then(Value::as_object);
        let names = || properties.into_iter().flatten().map(|(name, _)| name.as_str());
        let is_plain = |name: &str| {
            (1..=64).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
        };
        let required: Vec<&str> =
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        match dialect {
            Anthropic if !names().all(is_plain) => say("a name of a property"),
            OpenAi | Anthropic => {}
            OpenAiStrict => {
                if has_type(schema, "object")
                    && (map.get("additionalProperties") != Some(&json!(false))
                        || !names().all(|name| required.contains(&name)))
                {
                    say("an object that is not closed");
                }
            }
            Gemini => {
                if !map.contains_key("anyOf") && !map.get("type").is_some_and(Value::is_string) {
                    say("no type");
                }
                if map.get("enum").is_some()
                    && !map["enum"].as_array().is_some_and(|list| {
                        !list.is_empty() && list.iter().all(|one| one.as_str().is_some_and(|text| !text.is_empty()))
                    })
                {
                    say("enum");
                }
                if !required.iter().all(|name| names().any(|known| known == *name)) {
                    say("required");
                }
                if map.get("nullable").is_some_and(|nullable| !nullable.is_boolean()) {
                    say("nullable");
                }
            }
        }
    });
    found
}

fn accepts(schema: &Value, instance: &Value) -> bool {
    validate_args(schema, "", instance, false).is_ok_and(|checked| checked.valid)
}

#[test]
fn what_providers_refuse_is_written_otherwise_and_told() {
    use SchemaDialect::{Anthropic, Gemini, OpenAi};
    let of = |schema: Value| json!({ "type": "object", "properties": { "p": schema }, "required": ["p"] });
    for (dialect, schema, wanted, told) in [
        (
            OpenAi,
            json!({ "type": "string", "pattern": "^(?!none$).+" }),
            json!({ "type": "string", "description": "Pattern: ^(?!none$).+." }),
            "removed /properties/p:pattern",
        ),
        (
            OpenAi,
            json!({ "type": "array", "items": [{ "type": "integer" }] }),
            json!({ "type": "array", "prefixItems": [{ "type": "integer" }], "items": {} }),
            "rewritten /properties/p:items",
        ),
        (
            OpenAi,
            json!({ "minimum": 5, "exclusiveMinimum": true }),
            json!({ "exclusiveMinimum": 5 }),
            "rewritten /properties/p:exclusiveMinimum",
        ),
        (OpenAi, json!({ "type": "any" }), json!({}), "removed /properties/p:type"),
        (
            Gemini,
            json!({ "type": "string", "enum": ["x", ""] }),
            json!({ "type": "string", "description": "One of: \"x\", \"\"." }),
            "rewritten /properties/p:enum",
        ),
        (
            Gemini,
            json!({ "enum": [true, false] }),
            json!({ "type": "boolean", "description": "One of: true, false." }),
            "rewritten /properties/p:enum",
        ),
        (
            Gemini,
            json!({ "enum": [0.5, 1] }),
            json!({ "type": "number", "description": "One of: 0.5, 1." }),
            "rewritten /properties/p:enum",
        ),
        (
            Gemini,
            json!({ "enum": ["a", 1, null] }),
            json!({ "anyOf": [
            { "type": "string", "nullable": true, "enum": ["a"] },
            { "type": "integer", "nullable": true, "description": "One of: 1." },
        ] }),
            "rewritten /properties/p:enum",
        ),
        (
            Anthropic,
            json!({ "type": "object", "properties": { "f[x]": {} }, "required": ["f[x]"] }),
            json!({ "type": "object", "properties": {
            "f_x_": { "description": "Its own name is `f[x]`." } }, "required": ["f_x_"] }),
            "rewritten /properties/p/properties/f_x_:f[x]",
        ),
    ] {
        let (out, report) = written(&of(schema.clone()), dialect);
        assert_eq!(out["properties"]["p"], wanted, "{dialect:?} {schema}");
        assert!(report.iter().any(|change| change == told), "{schema}: {report:?}");
    }
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn any_schema_keeps_the_rules_of_each_provider(schema in schemas(), instances in prop::collection::vec(instances(), 6)) {
        let schema = if schema.is_object() { schema } else { json!({ "properties": { "a": schema } }) };
        let root = Value::Object(mended_schema(&schema, MendOptions { plain_patterns: true }, &mut Vec::new()));
        let names = PropertyNames::of(&root);
        // Alternatives at the top become one object with the properties of all, each as the alternatives that have it say.
        let is_joined = ["anyOf", "oneOf"].iter().any(|key| root.get(*key).is_some()) || root.get("allOf").is_some() || root.get("$ref").is_some();
        let fitting: Vec<&Map<String, Value>> = instances.iter().filter(|one| accepts(&schema, one)).filter_map(Value::as_object).collect();
        for dialect in DIALECTS {
            let (out, report) = written(&schema, dialect);
            prop_assert_eq!(complaints(dialect, &out), Vec::<String>::new(), "{:?}: {} became {}", dialect, schema, out);
            prop_assert!(!report.is_empty() || dialect == SchemaDialect::OpenAiStrict || out.as_object().map(Map::len) >= schema.as_object().map(Map::len));
            let (again, _) = written(&out, dialect);
            prop_assert_eq!(&again, &out, "{:?}: {}", dialect, schema);
            if is_joined || !matches!(dialect, SchemaDialect::OpenAi | SchemaDialect::Anthropic) {
                continue;
            }
            for own in &fitting {
                let given = if dialect == SchemaDialect::Anthropic { names.with_written_names(&root, own).unwrap() } else { (*own).clone() };
                let given_value = Value::Object(given.clone());
                prop_assert!(accepts(&out, &given_value), "{:?}: {} fits {}, which became {}", dialect, given_value, schema, out);
                let back = own_arguments(schema.as_object().unwrap(), &given).unwrap();
                prop_assert_eq!(&back, *own);
            }
        }
    }
}
