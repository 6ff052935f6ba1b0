//! Promises about tools and sessions of MCP over random and hostile input.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::api::convert::convert_call;
use contextweaver_convert::mcp::{
    HINTS, IdForm, Revision, ToolId, ToolOptions, describe, load_mcp_session_jsonl, mcp_prompt_to_envelope,
    mcp_prompt_to_selectable, mcp_resource_to_envelope, mcp_resource_to_selectable, mcp_tool_to_capability,
    mcp_tool_to_selectable, selectable_to_mcp_tool,
};
use contextweaver_model::SelectableItem;
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any JSON, with the texts and keys that have a meaning among them.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("object".to_owned()),
        Just("__proto__".to_owned()),
        Just("https://a/b.png".to_owned()),
        Just("javascript:alert(1)".to_owned()),
        Just("data:image/png;base64,".to_owned()),
        Just(" ".to_owned()),
        Just(String::new()),
        "\\PC{0,4}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(0_i64), Just(-1), any::<i64>()].prop_map(Value::from),
        prop_oneof![Just(0.0), Just(2.0), Just(-0.0), Just(1e300), -10.0..10.0_f64].prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop_oneof![
            proptest::sample::select(
                &[
                    "type",
                    "src",
                    "title",
                    "version",
                    "properties",
                    "required",
                    "readOnlyHint",
                    "destructiveHint",
                    "costHint",
                    "_contextweaver",
                    "mcp",
                    "given",
                    "absent",
                    "fields",
                    "name",
                ][..]
            )
            .prop_map(str::to_owned),
            "[a-z]{0,3}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|entries| entries.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// A tool with a name; its other fields are anything, or what they should be.
fn any_tool() -> impl Strategy<Value = Value> {
    let name = prop_oneof!["[a-z]{1,4}([._/][a-z]{1,4}){0,3}", "\\PC{0,6}x"];
    let annotations = prop::collection::vec(
        (proptest::sample::select([&["title", "costHint", "x-own"], HINTS].concat()), any_json()),
        0..5,
    )
    .prop_map(|entries| entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into());
    let field = proptest::sample::select(
        &[
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "icons",
            "execution",
            "_meta",
            "x-own",
            "given",
        ][..],
    );
    let fields = prop::collection::vec((field, prop_oneof![any_json(), "[a-c]".prop_map(Value::from)]), 0..7);
    (name, fields, prop::option::of(annotations), any::<bool>()).prop_map(|(name, fields, annotations, same)| {
        let mut tool: Map<String, Value> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if let Some(annotations) = annotations {
            tool.insert("annotations".into(), annotations);
        }
        if same {
            // Title and description repeat each other in many a tool.
            tool.insert("title".into(), name.as_str().into());
            tool.insert("description".into(), name.as_str().into());
        }
        tool.insert("name".into(), name.into());
        tool.into()
    })
}

fn options() -> impl Strategy<Value = ToolOptions> {
    (prop::option::of("\\PC{0,4}"), any::<bool>(), any::<bool>()).prop_map(|(server, canonical, verb_namespaces)| {
        ToolOptions { server, id_form: if canonical { IdForm::Canonical } else { IdForm::Name }, verb_namespaces }
    })
}

proptest! {
    #![proptest_config(property(600))]

    #[test]
    fn every_tool_comes_back_as_it_was(tool in any_tool(), options in options()) {
        let converted = mcp_tool_to_selectable(tool.clone(), &options).unwrap();
        let item = describe(&converted).unwrap();
        prop_assert_eq!(&selectable_to_mcp_tool(&converted.item, None).tool, &tool);
        prop_assert_eq!(&selectable_to_mcp_tool(&item, None).tool, &tool);
        // The item is one of ours: it is read and written without a loss.
        let again = SelectableItem::from_value(json!(item), "").unwrap();
        prop_assert_eq!(&selectable_to_mcp_tool(&again, None).tool, &tool);
        if options.id_form == IdForm::Canonical {
            prop_assert!(ToolId::parse(&item.id).is_ok(), "{}", item.id);
        }
    }

    #[test]
    fn nothing_but_true_makes_a_tool_harmless(tool in any_tool()) {
        let item = mcp_tool_to_selectable(tool.clone(), &ToolOptions::default()).unwrap().item;
        let declared = |key: &str| tool["annotations"].get(key) == Some(&Value::Bool(true));
        let harmless = declared("readOnlyHint") && !declared("destructiveHint");
        prop_assert_eq!(item.side_effects, !harmless);
        prop_assert!(item.cost_hint.is_finite() && item.cost_hint >= 0.0);
    }

    #[test]
    fn a_change_of_an_item_is_a_change_of_the_tool(tool in any_tool()) {
        let item = mcp_tool_to_selectable(tool.clone(), &ToolOptions::default()).unwrap().item;
        let mut changed = item.clone();
        changed.description = "another one".into();
        changed.args_schema = json!({ "type": "object", "properties": { "new": {} } }).as_object().cloned().unwrap();
        let back = selectable_to_mcp_tool(&changed, None).tool;
        prop_assert_eq!(&back["description"], "another one");
        prop_assert_eq!(&back["inputSchema"], &json!(changed.args_schema));
        for (key, value) in tool.as_object().unwrap() {
            prop_assert!(["description", "inputSchema"].contains(&key.as_str()) || back.get(key) == Some(value), "{}", key);
        }
        let mut changed = item.clone();
        changed.side_effects = !item.side_effects;
        let read = mcp_tool_to_selectable(selectable_to_mcp_tool(&changed, None).tool, &ToolOptions::default()).unwrap();
        prop_assert_eq!(read.item.side_effects, changed.side_effects);
    }

    #[test]
    fn a_revision_gets_what_it_knows_and_the_report_the_rest(tool in any_tool()) {
        let item = mcp_tool_to_selectable(tool.clone(), &ToolOptions::default()).unwrap().item;
        for revision in Revision::ALL {
            let back = selectable_to_mcp_tool(&item, Some(*revision));
            prop_assert_eq!(&back.tool["inputSchema"]["type"], "object");
            for (key, value) in tool.as_object().unwrap() {
                let below = format!("/{key}");
                let told = back.report.iter().any(|change| change.path.starts_with(&below));
                prop_assert!(back.tool.get(key) == Some(value) || told, "{} {:?}", key, back.report);
            }
        }
    }

    #[test]
    fn converters_answer_whatever_comes(value in any_json(), text in "\\PC{0,40}", strict in any::<bool>()) {
        let _ = mcp_tool_to_selectable(value.clone(), &ToolOptions::default());
        let _ = mcp_tool_to_capability(value.clone(), "");
        for named in [json!({ "uri": "u:x", "name": value, "x": value }), value.clone()] {
            let _ = mcp_resource_to_selectable(named, None);
        }
        for named in [json!({ "name": "p", "arguments": value }), json!({ "name": "p", "arguments": [value] })] {
            let item = mcp_prompt_to_selectable(named, None).unwrap().item;
            prop_assert_eq!(item.kind, "prompt");
        }
        for result in [json!({ "contents": [value, { "text": value, "blob": value }] }), value.clone()] {
            let _ = mcp_resource_to_envelope(&result, "r", 1000);
        }
        let message = json!({ "role": value, "content": value });
        let converted = mcp_prompt_to_envelope(&json!({ "messages": [message, value] }), "p", 100_000).unwrap();
        prop_assert!(converted.full_text.starts_with('['), "{}", converted.full_text);
        let lines = format!("{value}\n{text}\r\n{{\"type\":\"policy\",\"text\":{value}}}");
        let _ = load_mcp_session_jsonl(&lines, strict);
        let operations = [
            "mcp_tool_to_selectable",
            "mcp_resource_to_selectable",
            "mcp_prompt_to_selectable",
            "selectable_to_mcp_tool",
            "infer_namespace",
            "load_mcp_session",
        ];
        for operation in operations {
            let mut arguments = json!({});
            for key in ["tool", "resource", "prompt", "item", "name", "text"] {
                arguments[key] = value.clone();
            }
            let _ = convert_call(operation, &arguments.to_string());
            let _ = convert_call(operation, &value.to_string());
        }
    }

    #[test]
    fn sessions_keep_items(texts in prop::collection::vec("\\PC{0,8}|[\u{85}\u{2028}\r\t]{1,3}", 1..6), ends in "\r?\n") {
        let items: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| json!({ "id": format!("i{at}"), "kind": "agent_msg", "text": text }))
            .collect();
        let lines: Vec<String> = items.iter().map(Value::to_string).collect();
        let session = load_mcp_session_jsonl(&lines.join(&ends), true).unwrap();
        prop_assert!(session.items.iter().map(|item| item.text.as_str()).eq(texts.iter().map(String::as_str)));
        // Our own items, line by line, are a session.
        let again: Vec<String> = session.items.iter().map(|item| json!(item).to_string()).collect();
        prop_assert_eq!(load_mcp_session_jsonl(&again.join("\n"), true).unwrap(), session);
    }
}
