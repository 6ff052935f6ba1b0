//! Promises over random servers and calls.

use contextweaver_gateway::{
    CallRequest, CallStep, FailedCall, FailureKind, FinishedCall, Gateway, MeasuredResult, NextStep, ServerStatus,
    UpstreamFailure,
};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::gateway;

/// Names that collide with each other, with names made of them, and with the gateway's own.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "a__b", "b__a", "a__a", "a__a_2", "drilldown", "recall", "call_tool", "search_tools",
            "tool_browse", "a b", "a_b", "é", "A", "", "x.y/z"]).prop_map(str::to_owned),
        1 => "[ab_]{0,4}",
        1 => Just("long".repeat(60)),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "type": "object" })),
        Just(json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] })),
        Just(json!({ "properties": { "p": { "$ref": "#/$defs/x" } }, "$defs": { "x": { "type": "string" } } })),
        Just(json!([])),
        Just(json!({ "type": "string" })),
        Just(Value::Null),
    ]
}

fn tool() -> impl Strategy<Value = Value> {
    (name(), prop::sample::select(vec!["Reads a.", "Writes b.", "", "a\u{200b}b"]), schema(), any::<bool>()).prop_map(
        |(name, description, schema, reads)| {
            json!({ "name": name, "description": description, "inputSchema": schema, "annotations": { "readOnlyHint": reads } })
        },
    )
}

fn tools() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(tool(), 0..6)
}

fn mode() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["auto", "firewall", "search"])
}

const SERVERS: [&str; 3] = ["a", "b", "a__b"];

fn options(mode: &str) -> Value {
    json!({ "mode": mode, "pinned_tools": ["*"], "servers": SERVERS.map(|name| json!({ "name": name })) })
}

fn listing(tools: &[Value]) -> Vec<u8> {
    json!({ "tools": tools, "resources": [{ "uri": "u:x", "name": "x" }], "prompts": [{ "name": "a" }] })
        .to_string()
        .into_bytes()
}

/// Everything that a client can be told.
fn outputs(gateway: &mut Gateway) -> String {
    let listed = gateway.list_tools("s", None);
    let primitives = (gateway.list_resources(), gateway.list_resource_templates(), gateway.list_prompts());
    let search = gateway.begin_call(call("search_tools", json!({ "query": "read a secret" }))).unwrap().step;
    json!([listed, primitives, gateway.instructions(), gateway.stats(), search]).to_string()
}

fn call(name: &str, arguments: Value) -> CallRequest {
    CallRequest { session: "s".to_owned(), name: name.to_owned(), arguments, ..CallRequest::default() }
}

/// Any JSON, of the words that the gateway reads among others.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["a", "b", "/", "/a", "/a/*", "head", "lines", "json_keys"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop_oneof![
            prop::sample::select(vec![
                "query",
                "top_k",
                "name",
                "arguments",
                "handle",
                "selector",
                "type",
                "chars",
                "start",
                "keys",
                "server",
                "max_tokens",
                "__proto__",
                "n"
            ])
            .prop_map(str::to_owned),
            "\\PC{0,4}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..5).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(property(200))]

    /// No name is shown twice, and each reaches the tool that it was shown for.
    #[test]
    fn names_are_distinct_and_mean_what_they_were_shown_for(lists in prop::array::uniform3(tools()), mode in prop::sample::select(vec!["firewall", "search"])) {
        let mut options = options(mode);
        options["validate"] = false.into();
        let mut gateway = gateway(options);
        for (server, tools) in SERVERS.iter().zip(&lists) {
            gateway.set_listing(server, &listing(tools)).unwrap();
        }
        let listed = gateway.list_tools("s", None).tools;
        let mut names: Vec<String> = listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let own = if mode == "search" { 4 } else { 2 };
        let mut reached = Vec::new();
        for (tool, name) in listed.iter().zip(&names) {
            prop_assert!(name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)), "{}", name);
            prop_assert_eq!(&tool["inputSchema"]["type"], "object");
            if let CallStep::Forward(forward) = gateway.begin_call(call(name, json!({ "n": 1, "p": "x" }))).unwrap().step {
                let list = &lists[SERVERS.iter().position(|server| *server == forward.server).unwrap()];
                let upstream = list.iter().find(|tool| tool["name"] == forward.tool.as_str()).unwrap();
                let text = upstream["description"].as_str().unwrap();
                prop_assert_eq!(tool["description"].as_str().unwrap_or_default(), text);
                reached.push((forward.server.clone(), forward.tool.clone()));
            }
        }
        prop_assert_eq!(reached.len() + own, names.len());
        let all = reached.len();
        reached.sort();
        reached.dedup();
        prop_assert_eq!(reached.len(), all);
        let shown = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), shown);
    }

    /// In which order servers are listed changes nothing, and neither does listing one again.
    #[test]
    fn the_order_of_listings_does_not_matter(lists in prop::array::uniform3(tools()), mode in mode(), again in 0..3_usize) {
        let all = |order: &[usize]| {
            let mut gateway = gateway(options(mode));
            for place in order {
                gateway.set_listing(SERVERS[*place], &listing(&lists[*place])).unwrap();
            }
            outputs(&mut gateway)
        };
        let first = all(&[0, 1, 2]);
        prop_assert_eq!(&first, &all(&[2, 0, 1]));
        prop_assert_eq!(&first, &all(&[1, again, 2, 0]));
    }

    /// What a name meant when a client listed last it means until that client lists again.
    #[test]
    fn a_name_never_reaches_another_tool(before in prop::array::uniform3(tools()), after in prop::array::uniform3(tools())) {
        let mut gateway = gateway(options("firewall"));
        for (server, tools) in SERVERS.iter().zip(&before) {
            gateway.set_listing(server, &listing(tools)).unwrap();
        }
        let names: Vec<String> = gateway.list_tools("s", None).tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let reach = |gateway: &mut Gateway, name: &str| match gateway.begin_call(call(name, json!({ "n": 1, "p": "x" }))).unwrap().step {
            CallStep::Forward(forward) => Some((forward.server, forward.tool)),
            _ => None,
        };
        let meant: Vec<_> = names.iter().map(|name| reach(&mut gateway, name)).collect();
        for (server, tools) in SERVERS.iter().zip(&after) {
            gateway.set_listing(server, &listing(tools)).unwrap();
        }
        for (name, meant) in names.iter().zip(meant) {
            let now = reach(&mut gateway, name);
            prop_assert!(now.is_none() || meant.is_none() || now == meant, "{}: {:?} then {:?}", name, meant, now);
        }
    }

    /// Whatever a model writes is answered.
    #[test]
    fn any_arguments_are_answered(
        mode in mode(), tool in prop::sample::select(vec!["a", "b", "drilldown", "recall", "search_tools", "call_tool", "?"]),
        arguments in any_json(), tolerant: bool,
    ) {
        let mut options = options(mode);
        options["tolerant_args"] = tolerant.into();
        let mut gateway = gateway(options);
        let tools = [json!({ "name": "a", "description": "Reads a.", "inputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } } })];
        gateway.set_listing("a", &listing(&tools)).unwrap();
        gateway.list_tools("s", None);
        let (first, second) = (gateway.begin_call(call(tool, arguments.clone())).unwrap().step, gateway.begin_call(call(tool, arguments)).unwrap().step);
        if let (CallStep::Forward(a), CallStep::Forward(b)) = (&first, &second) {
            prop_assert_eq!(&a.arguments, &b.arguments);
        } else {
            prop_assert_eq!(&first, &second);
        }
    }

    /// No secret that anybody planted is in what clients, models or operators are told.
    #[test]
    fn no_secret_gets_out(mode in mode(), lint in prop::sample::select(vec!["quarantine", "report"]), at in 0..9_usize) {
        let secret = "AKIAABCDEFGHIJKLMNOP";
        let mut texts = [const { String::new() }; 9];
        texts[at] = format!("key {secret} end");
        let [name, title, description, property, default, resource, prompt, instructions, detail] = texts;
        let listing = json!({
            "tools": [
                { "name": if name.is_empty() { "read_secret" } else { secret }, "title": title, "description": format!("Reads a secret. {description}"),
                  "inputSchema": { "type": "object", "properties": { "n": { "type": "integer", "description": property, "default": default } }, "required": ["n"] },
                  "annotations": { "readOnlyHint": true } },
                { "name": "other" },
            ],
            "resources": [{ "uri": "file:///x", "name": "x", "description": resource }],
            "prompts": [{ "name": "p", "description": prompt }], "instructions": instructions,
        });
        let mut options = options(mode);
        options["lint"] = lint.into();
        let mut gateway = gateway(options);
        let listed = gateway.set_listing("a", listing.to_string().as_bytes()).unwrap();
        let mut said = json!(listed.report).to_string() + &outputs(&mut gateway);
        gateway.set_status("a", ServerStatus::Unavailable, Some(&detail)).unwrap();
        said += &outputs(&mut gateway);
        gateway.set_status("a", ServerStatus::Ready, None).unwrap();
        let mut steps = vec![
            gateway.begin_call(call("read_secret", json!({ "n": secret }))).unwrap().step,
            gateway.begin_call(call(secret, json!({ "n": secret }))).unwrap().step,
            gateway.begin_call(call("call_tool", json!({ "name": secret, secret: 1 }))).unwrap().step,
            gateway.begin_call(call("search_tools", json!({ "query": "read_secret" }))).unwrap().step,
            gateway.begin_call(call("search_tools", json!({ "query": secret, "server": secret }))).unwrap().step,
            gateway.begin_call(call("drilldown", json!({ "handle": secret, "selector": secret }))).unwrap().step,
            gateway.begin_call(call("recall", json!({ "query": "", secret: secret }))).unwrap().step,
        ];
        for name in ["read_secret", "other"] {
            if let CallStep::Forward(forward) = gateway.begin_call(call(name, json!({ "n": 1 }))).unwrap().step {
                let failure = UpstreamFailure { data: Some(json!({ "key": secret })), ..UpstreamFailure::new(FailureKind::Rpc, format!("bad {secret}")) };
                steps.push(gateway.fail_call(FailedCall { call: forward.call, failure, random: 0.0 }).unwrap().step);
            }
        }
        said += &json!(steps).to_string();
        said += &json!(gateway.stats()).to_string();
        prop_assert!(!said.contains(secret), "{}", &said[said.find(secret).unwrap().saturating_sub(200)..][..400.min(said.len())]);
    }

    /// Random sessions: every call that was begun ends once, and numbers add up.
    #[test]
    fn calls_end_once(steps in prop::collection::vec((0..4_u8, 0..8_u64, any::<bool>()), 0..40)) {
        let mut gateway = gateway(json!({ "mode": "firewall", "servers": [{ "name": "a" }], "retry": { "max_attempts": 2 } }));
        gateway.set_listing("a", &listing(&[json!({ "name": "t", "annotations": { "readOnlyHint": true } })])).unwrap();
        let (mut open, mut answered) = (Vec::new(), 0);
        for (kind, number, is_error) in steps {
            let known = open.iter().position(|call| *call == number);
            match kind {
                0 => if let CallStep::Forward(forward) = gateway.begin_call(call("t", json!({}))).unwrap().step { open.push(forward.call) },
                1 => {
                    let measured = MeasuredResult { tokens: 10, shown_tokens: 4, is_error, ..MeasuredResult::default() };
                    let done = gateway.finish_call(FinishedCall { call: number, measured, reply: Some(json!({ "content": [] })), ..FinishedCall::default() });
                    prop_assert_eq!(done.is_ok(), known.is_some());
                    known.map(|place| open.remove(place));
                    answered += u64::from(done.is_ok());
                }
                2 => {
                    let failure = UpstreamFailure::new(FailureKind::Timeout, "late");
                    let step = gateway.fail_call(FailedCall { call: number, failure, random: 0.5 });
                    prop_assert_eq!(step.is_ok(), known.is_some());
                    if let (Some(place), Ok(NextStep { step: CallStep::Reply(_), .. })) = (known, step) { open.remove(place); }
                }
                _ => { gateway.cancel_call(number); known.map(|place| open.remove(place)); }
            }
        }
        let stats = gateway.stats();
        prop_assert_eq!((stats.open_calls, stats.totals.calls, stats.totals.saved_tokens), (open.len(), answered, 6 * answered));
    }
}
