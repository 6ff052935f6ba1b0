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
