//! What a route says of a query that nothing fits.

use contextweaver_routing::{Catalog, RouteOptions, Router, RouterOptions};
use serde_json::json;

#[test]
fn a_refusal_names_what_no_tool_has() {
    let tools = json!({ "items": [
        { "id": "a", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
        { "id": "b", "kind": "tool", "name": "send_mail", "description": "Send a message by mail, with files going along." },
    ] });
    let mut router = Router::new(Catalog::from_value(tools, "").unwrap(), RouterOptions::default());
    let nothing = "no word of the query says what a tool should do";
    for (query, cause) in [
        ("make me a coffee", "no tool has `coffee`"),
        // Words that are left out of queries name nothing, also where there are no others.
        ("how are you", nothing),
        ("hi there, how is it going?", nothing),
        ("what can you do?", nothing),
        ("thanks!", nothing),
        ("?!", "the query has no words"),
    ] {
        let found = router.route(query, &RouteOptions::default()).unwrap();
        assert_eq!(found.no_match_cause.as_deref(), Some(cause), "{query}");
        assert!(cause != nothing || found.nearest_ids.unwrap_or_default().is_empty(), "{query}");
    }
}

/// Tools of three servers, of which one has `count` tools.
fn servers(count: usize) -> Router {
    let games =
        [("ranks", "History of players."), ("board", "Best players."), ("teams", "All teams."), ("maps", "All maps.")];
    let mut tools = vec![
        json!({ "id": "npm", "kind": "tool", "name": "maintainers", "namespace": "npm", "description": "Who keeps a package." }),
        json!({ "id": "docs", "kind": "tool", "name": "pages", "namespace": "docs", "description": "Finds pages." }),
    ];
    tools.extend(games[..count].iter().map(
        |(name, text)| json!({ "id": name, "kind": "tool", "name": name, "namespace": "game", "description": text }),
    ));
    Router::new(Catalog::from_value(json!({ "items": tools }), "").unwrap(), RouterOptions::default())
}

#[test]
fn one_word_of_a_request_in_a_stray_tool_is_no_match() {
    let ids = |count: usize, query: &str| servers(count).route(query, &RouteOptions::default()).unwrap().candidate_ids;
    let request = "What is the evolutionary history of pandas in southern China?";
    // A server of few tools has none that could have come near, and a command may name what it wants with one word.
    assert_eq!(ids(4, request), [""; 0]);
    assert_eq!(ids(1, request), ["ranks"]);
    assert_eq!(ids(4, "history, please"), ["ranks"]);
    assert_eq!(ids(4, "What is the history of the players that pandas have in southern China?")[0], "ranks");
}
