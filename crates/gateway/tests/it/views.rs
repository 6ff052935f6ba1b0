//! Tools with views (MCP Apps), and tools that views alone call.

use contextweaver_gateway::{AppUse, CallStep, ClientTraits, FrontMode, Gateway};
use serde_json::{Value, json};

use crate::support::{error, gateway, list, request, text};

fn tools(address: &str) -> Value {
    json!([
        { "name": "show", "description": "Shows the map.", "_meta": { "ui": { "resourceUri": address }, "ui/resourceUri": address } },
        { "name": "tiles", "description": "Loads tiles of the map.", "_meta": { "ui": { "resourceUri": address, "visibility": ["app"] } } },
        { "name": "plain", "description": "Says where a place is." },
    ])
}

fn client(has_views: bool) -> ClientTraits {
    ClientTraits { has_views, ..ClientTraits::default() }
}

fn shown(gateway: &mut Gateway, has_views: bool) -> Vec<String> {
    gateway
        .list_tools_for("s", None, &client(has_views))
        .tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn tools_for_views_are_listed_for_hosts_that_show_views() {
    for (mode, without, with) in
        [("firewall", vec!["show", "plain"], vec!["show", "tiles", "plain"]), ("search", vec![], vec!["show", "tiles"])]
    {
        let mut gateway = gateway(json!({ "servers": [{ "name": "map" }], "mode": mode }));
        list(&mut gateway, "map", &tools("ui://map/view.html"));
        let own = |names: Vec<String>| -> Vec<String> {
            names.into_iter().filter(|name| ["show", "tiles", "plain"].contains(&name.as_str())).collect()
        };
        assert_eq!(own(shown(&mut gateway, false)), without, "{mode}");
        assert_eq!(own(shown(&mut gateway, true)), with, "{mode}");
        // A view calls by name; what calls by `call_tool` is a model.
        let CallStep::Forward(call) = gateway.begin_call(request("tiles", json!({}))).unwrap().step else { panic!() };
        assert_eq!(call.app, Some(AppUse::Only));
        let told = error(&gateway.begin_call(request("call_tool", json!({ "name": "tiles" }))).unwrap().step);
        assert_eq!((&told["error"], &told["details"]["reason"]), (&json!("POLICY_DENIED"), &json!("views")));
        for query in ["tiles", "load tiles of the map"] {
            let answer = text(&gateway.begin_call(request("search_tools", json!({ "query": query }))).unwrap().step);
            assert!(!answer.contains("tiles:"), "{answer}");
        }
    }
}

#[test]
fn the_address_of_a_view_leads_to_its_own_server() {
    let options = json!({ "servers": [{ "name": "evil" }, { "name": "map" }, { "name": "other" }] });
    let mut gateway = gateway(options);
    // Views need not be listed as resources.
    list(&mut gateway, "map", &tools("ui://view.html"));
    list(&mut gateway, "evil", &json!([{ "name": "x" }]));
    list(&mut gateway, "other", &json!([{ "name": "draw", "_meta": { "ui": { "resourceUri": "ui://view.html" } } }]));
    let listed = gateway.list_tools_for("s", None, &client(true)).tools;
    let address = |name: &str| {
        let tool = listed.iter().find(|tool| tool["name"] == name).unwrap();
        tool["_meta"]["ui"]["resourceUri"].as_str().unwrap().to_owned()
    };
    assert_eq!(address("show"), "ui://view.html");
    assert_eq!(address("draw"), "ui://view.html#contextweaver-server=other");
    assert_eq!(gateway.find_resource("ui://view.html").unwrap().servers[0], "map");
    let found = gateway.find_resource(&address("draw")).unwrap();
    assert_eq!((found.servers, found.uri.as_str()), (vec!["other".to_owned()], "ui://view.html"));
    // Where another lists the same address as a resource, the address names the server.
    gateway.set_listing("evil", br#"{"tools":[],"resources":[{"uri":"ui://view.html","name":"v"}]}"#).unwrap();
    let listed = gateway.list_tools_for("s", None, &client(true)).tools;
    let show = listed.iter().find(|tool| tool["name"] == "show").unwrap();
    for place in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
        let found = json!(show).pointer(place).cloned();
        assert_eq!(found, Some(json!("ui://view.html#contextweaver-server=map")), "{place}");
    }
    assert_eq!(gateway.list_resources()[0]["uri"], "ui://view.html");
    assert_eq!(gateway.find_resource("ui://view.html#contextweaver-server=map").unwrap().servers, ["map"]);
}

#[test]
fn a_client_that_searches_by_itself_sees_all_tools_with_what_it_goes_by() {
    let many: Value = (0..60).map(|at| json!({ "name": format!("tool_{at}"), "title": "Does a thing" })).collect();
    let mut gateway =
        gateway(json!({ "servers": [{ "name": "jira" }, { "name": "own" }], "pinned_tools": ["tool_7"] }));
    list(&mut gateway, "jira", &many);
    let hinted = json!({ "anthropic/searchHint": "mine", "anthropic/alwaysLoad": false });
    list(&mut gateway, "own", &json!([{ "name": "hinted", "_meta": hinted }]));
    let claude = ClientTraits { name: Some("claude-code".to_owned()), ..ClientTraits::default() };
    let seen = gateway.list_tools_for("c", None, &claude);
    assert_eq!((seen.mode, seen.tools.len()), (FrontMode::Firewall, 63));
    let meta =
        |name: &str| seen.tools.iter().find(|tool| tool["name"] == name).map(|tool| tool["_meta"].clone()).unwrap();
    assert_eq!(meta("tool_3"), json!({ "anthropic/searchHint": "jira Does a thing" }));
    assert_eq!(meta("tool_7")["anthropic/alwaysLoad"], true);
    assert_eq!(meta("hinted"), hinted);
    assert_eq!(meta("drilldown"), json!({ "anthropic/alwaysLoad": true }));
    // What it calls is no news to its list, and an error is one of the protocol as for any that sees the tools.
    let call = contextweaver_gateway::CallRequest { session: "c".to_owned(), ..request("tool_3", json!({})) };
    let CallStep::Forward(forward) = gateway.begin_call(call).unwrap().step else { panic!() };
    let finished = contextweaver_gateway::FinishedCall { call: forward.call, ..Default::default() };
    assert!(!gateway.finish_call(finished).unwrap().changed.tools);
    // Every other client searches here, unless the operator says otherwise.
    assert_eq!(gateway.list_tools("s", None).mode, FrontMode::Search);
    for (options, mode) in
        [(json!({ "mode": "search" }), FrontMode::Search), (json!({ "searching_clients": [] }), FrontMode::Search)]
    {
        let mut all = options;
        all["servers"] = json!([{ "name": "jira" }]);
        let mut gateway = crate::support::gateway(all);
        list(&mut gateway, "jira", &many);
        assert_eq!(gateway.list_tools_for("c", None, &claude).mode, mode);
    }
}
