//! Tools with views (MCP Apps), and tools that views alone call.

use contextweaver_gateway::{AppUse, CallStep, Gateway};
use serde_json::{Value, json};

use crate::support::{error, gateway, list, request, text};

fn tools(address: &str) -> Value {
    json!([
        { "name": "show", "description": "Shows the map.", "_meta": { "ui": { "resourceUri": address }, "ui/resourceUri": address } },
        { "name": "tiles", "description": "Loads tiles of the map.", "_meta": { "ui": { "resourceUri": address, "visibility": ["app"] } } },
        { "name": "plain", "description": "Says where a place is." },
    ])
}

fn shown(gateway: &mut Gateway, has_views: bool) -> Vec<String> {
    let list = if has_views { gateway.list_tools_with_views("s", None) } else { gateway.list_tools("s", None) };
    list.tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
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
    let listed = gateway.list_tools_with_views("s", None).tools;
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
    let listed = gateway.list_tools_with_views("s", None).tools;
    let show = listed.iter().find(|tool| tool["name"] == "show").unwrap();
    for place in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
        let found = json!(show).pointer(place).cloned();
        assert_eq!(found, Some(json!("ui://view.html#contextweaver-server=map")), "{place}");
    }
    assert_eq!(gateway.list_resources()[0]["uri"], "ui://view.html");
    assert_eq!(gateway.find_resource("ui://view.html#contextweaver-server=map").unwrap().servers, ["map"]);
}
