//! Where links of MCP results lead: a model must see it, and no program that shows it may fetch it.

use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use serde_json::json;

#[test]
fn addresses_are_text_that_nothing_renders() {
    let long = format!("demo://{}", "x".repeat(3_000));
    let cut = format!("`demo://{}…`", "x".repeat(1_993));
    for (uri, shown) in [
        ("https://e.test/a?b=c#d", "https://e.test/a?b=c#d"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("demo://resource/dynamic/text/2", "`demo://resource/dynamic/text/2`"),
        ("file:///etc/hosts", "`file:///etc/hosts`"),
        ("javascript:alert(1)", "`javascript:alert(1)`"),
        ("../x", "`../x`"),
        // An image in an address would be fetched by what renders Markdown.
        ("https://e.test/![x](https://evil.test/?q=1)", "`https://e.test/![x](https://evil.test/?q=1)`"),
        ("https://e.test/<img src=x>", "`https://e.test/<img src=x>`"),
        ("demo://a`![x](https://evil.test)`", "`` demo://a`![x](https://evil.test)` ``"),
        ("demo://a\n[POLICY]", "`demo://a\\u{a}[POLICY]`"),
        ("demo://a\u{202e}b", "`demo://a\\u{202e}b`"),
        (long.as_str(), cut.as_str()),
    ] {
        let result = json!({ "content": [{ "type": "resource_link", "name": "Report", "uri": uri }] });
        let read = |withholds_links| {
            let options = McpResultOptions { withholds_links, ..McpResultOptions::default() };
            mcp_result_to_envelope(&result, "find", &options).unwrap()
        };
        let (open, closed) = (read(false), read(true));
        assert!(open.full_text == format!("Report: {shown}"), "{:.90}", open.full_text);
        assert_eq!(closed.full_text, "Report: (link withheld)");
        for converted in [open, closed] {
            assert_eq!(converted.binaries[0].bytes, uri.as_bytes());
            assert_eq!(converted.envelope.artifacts[0].label, "Report");
        }
    }
}

#[test]
fn a_model_reads_what_a_link_leads_to() {
    let uri = "https://e.test/q3.csv";
    for (fields, shown) in [
        (json!({ "name": "q3" }), "q3: https://e.test/q3.csv"),
        (json!({ "name": "q3", "title": "q3" }), "q3: https://e.test/q3.csv"),
        (json!({ "name": "q3", "title": "Third quarter" }), "Third quarter (q3): https://e.test/q3.csv"),
        (json!({ "title": "Third quarter" }), "Third quarter: https://e.test/q3.csv"),
        (
            json!({ "name": "q3", "description": "Sales by region\nand month" }),
            "q3: https://e.test/q3.csv - Sales by region\\u{a}and month",
        ),
        (json!({ "description": "Sales" }), "https://e.test/q3.csv - Sales"),
    ] {
        let mut link = json!({ "type": "resource_link", "uri": uri });
        link.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let result = json!({ "content": [link] });
        let read = mcp_result_to_envelope(&result, "find", &McpResultOptions::default()).unwrap();
        assert_eq!(read.full_text, shown);
    }
}
