//! Names and modes while servers come and go.

use contextweaver_gateway::{CallStep, FrontMode, ServerStatus};
use serde_json::{Value, json};

use crate::support::{error, gateway, list, names, request};

fn tools(names: &[String]) -> Value {
    names.iter().map(|name| json!({ "name": name, "description": "Does something." })).collect()
}

fn of(names: &[&str]) -> Value {
    tools(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
}

fn two() -> Value {
    json!({ "servers": [{ "name": "quick" }, { "name": "late" }] })
}

fn many() -> Value {
    let mut all: Vec<String> = (0..60).map(|number| format!("slow_{number}")).collect();
    all.push("echo".to_owned());
    tools(&all)
}

#[test]
fn tools_of_a_server_that_is_starting_are_to_be_tried_again() {
    let mut gateway = gateway(two());
    list(&mut gateway, "quick", &of(&["one", "echo"]));
    assert_eq!(names(&mut gateway, "s"), ["one", "echo", "drilldown", "recall"]);
    for (name, arguments) in [("slow_3", json!({})), ("call_tool", json!({ "name": "slow_3" }))] {
        let told = error(&gateway.begin_call(request(name, arguments)).unwrap().step);
        assert_eq!((&told["error"], &told["retryable"]), (&json!("UPSTREAM_UNAVAILABLE"), &json!(true)));
        assert!(told["message"].as_str().unwrap().contains("starting: late"), "{told}");
    }
    // Of a server that has listed its tools nothing more is to come.
    let CallStep::Error(unknown) = gateway.begin_call(request("quick__slow_3", json!({}))).unwrap().step else {
        panic!()
    };
    assert!(unknown.message.contains("is not known") && !unknown.message.contains("yet"), "{}", unknown.message);
    // What search mode lists is answered before it is listed.
    let step = gateway.begin_call(request("call_tool", json!({ "name": "one" }))).unwrap().step;
    assert!(matches!(step, CallStep::Forward(_)));
    gateway.set_status("late", ServerStatus::Unavailable, Some("it ended")).unwrap();
    let CallStep::Error(unknown) = gateway.begin_call(request("slow_3", json!({}))).unwrap().step else { panic!() };
    assert!(unknown.message.contains("unavailable now: late"), "{}", unknown.message);
    list(&mut gateway, "late", &many());
    let CallStep::Error(unknown) = gateway.begin_call(request("slow_99", json!({}))).unwrap().step else { panic!() };
    assert!(unknown.message.contains("is not known") && !unknown.message.contains("late:"), "{}", unknown.message);
}

#[test]
fn a_name_that_a_client_was_shown_goes_on_working() {
    let mut gateway = gateway(two());
    list(&mut gateway, "quick", &of(&["one", "echo"]));
    assert!(names(&mut gateway, "s").contains(&"echo".to_owned()));
    list(&mut gateway, "late", &many());
    assert_eq!(gateway.mode(), FrontMode::Search);
    // Before and after the client has seen the new names.
    for _ in 0..2 {
        for (name, arguments) in
            [("echo", json!({})), ("quick__echo", json!({})), ("call_tool", json!({ "name": "echo" }))]
        {
            let CallStep::Forward(call) = gateway.begin_call(request(name, arguments)).unwrap().step else {
                panic!("{name}")
            };
            assert_eq!((call.server.as_str(), call.tool.as_str()), ("quick", "echo"));
        }
        names(&mut gateway, "s");
    }
    // Another client was never shown it.
    let mut other = request("echo", json!({}));
    other.session = "t".to_owned();
    assert!(matches!(gateway.begin_call(other).unwrap().step, CallStep::Error(_)));
    // Where it means something again, that counts for whoever sees it.
    list(&mut gateway, "quick", &of(&["one"]));
    let CallStep::Error(_) = gateway.begin_call(request("quick__echo", json!({}))).unwrap().step else { panic!() };
    names(&mut gateway, "s");
    let CallStep::Forward(call) = gateway.begin_call(request("echo", json!({}))).unwrap().step else { panic!() };
    assert_eq!(call.server, "late");
}

#[test]
fn mode_and_names_are_those_of_the_run_before_until_a_server_has_listed() {
    let mut first = gateway(two());
    list(&mut first, "quick", &of(&["one", "echo"]));
    list(&mut first, "late", &many());
    let mut options = two();
    options["pins"] = json!(first.pin_state())["pins"].clone();
    let all = first.list_tools("s", None);
    for order in [["quick", "late"], ["late", "quick"]] {
        let mut next = gateway(options.clone());
        for server in order {
            assert_eq!(next.mode(), FrontMode::Search);
            let told = next.begin_call(request("slow_3", json!({}))).unwrap().step;
            let is_listed = !matches!(&told, CallStep::Reply(_));
            if !is_listed {
                assert_eq!(error(&told)["message"], "the server \"late\" is starting; try again in a few seconds");
            }
            let step = next.begin_call(request("echo", json!({}))).unwrap().step;
            assert!(matches!(step, CallStep::Error(_) | CallStep::Reply(_)), "two servers have it");
            list(&mut next, server, &if server == "quick" { of(&["one", "echo"]) } else { many() });
        }
        assert_eq!(next.list_tools("s", None), all);
        let CallStep::Forward(call) = next.begin_call(request("quick__echo", json!({}))).unwrap().step else {
            panic!()
        };
        assert_eq!(call.server, "quick");
    }
}

#[test]
fn one_address_of_two_servers_is_read_from_each() {
    let mut gateway = gateway(json!({ "servers": [{ "name": "a" }, { "name": "b" }, { "name": "c" }] }));
    let listing = |uris: &[&str]| {
        let resources: Vec<Value> = uris.iter().map(|uri| json!({ "uri": uri, "name": "x" })).collect();
        json!({ "tools": [], "resources": resources }).to_string().into_bytes()
    };
    gateway.set_listing("a", &listing(&["file:///x", "file:///y#top"])).unwrap();
    gateway.set_listing("b", &listing(&["file:///x", "file:///y#top", "file:///only"])).unwrap();
    gateway.set_listing("c", &listing(&["file:///only#contextweaver-server=b"])).unwrap();
    let shown: Vec<String> =
        gateway.list_resources().iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        shown,
        [
            "file:///x",
            "file:///y#top",
            "file:///x#contextweaver-server=b",
            "file:///y#top&contextweaver-server=b",
            "file:///only",
            "file:///only#contextweaver-server=b&contextweaver-server=c",
        ]
    );
    let found: Vec<(String, String)> = shown
        .iter()
        .map(|uri| gateway.find_resource(uri).unwrap())
        .map(|found| (found.servers[0].clone(), found.uri))
        .collect();
    let wanted = [
        ("a", "file:///x"),
        ("a", "file:///y#top"),
        ("b", "file:///x"),
        ("b", "file:///y#top"),
        ("b", "file:///only"),
        ("c", "file:///only#contextweaver-server=b"),
    ];
    assert_eq!(found, wanted.map(|(server, uri)| (server.to_owned(), uri.to_owned())));
}

#[test]
fn what_only_the_gateway_says_is_taken_out_of_what_servers_list() {
    let mut gateway = gateway(json!({ "servers": [{ "name": "a" }] }));
    let meta = json!({ "contextweaver/unavailable": true, "contextweaver/server": "b", "contextweaver/handle": "x", "example.com/a": 1 });
    let listing = json!({
        "tools": [{ "name": "t", "_meta": meta }],
        "resources": [{ "uri": "file:///x", "name": "x", "_meta": meta }],
        "prompts": [{ "name": "p", "_meta": meta }],
    });
    gateway.set_listing("a", listing.to_string().as_bytes()).unwrap();
    let kept = json!({ "example.com/a": 1 });
    assert_eq!(gateway.list_tools("s", None).tools[0]["_meta"], kept);
    assert_eq!(gateway.list_resources()[0]["_meta"], kept);
    assert_eq!(gateway.list_prompts()[0]["_meta"], kept);
}
