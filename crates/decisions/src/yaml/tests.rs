use super::*;
use serde_json::json;

#[test]
fn compat_files_are_read() {
    let cases = [
        ("", json!(null)),
        (
            "id: 0000abcd\nsummary: x\nconfidence: 0.85\n",
            json!({ "id": "0000abcd", "summary": "x", "confidence": 0.85 }),
        ),
        (
            "reasons:\n- type: analysis\n  text: ACID\n  strength: 0.8\n- type: pattern\n  text: team\ntags:\n- db\n",
            json!({
                "reasons": [{ "type": "analysis", "text": "ACID", "strength": 0.8 }, { "type": "pattern", "text": "team" }],
                "tags": ["db"]
            }),
        ),
        ("a: \"Utiliser \\u2014 d\\xE9 \\U0001F418\"\n", json!({ "a": "Utiliser — dé 🐘" })),
        ("a: 'line1\n\n  line2'\n", json!({ "a": "line1\nline2" })),
        ("a: \"one \\\n  \\ two\"\n", json!({ "a": "one  two" })),
        ("a: one\n  two\n\n  three\nb: []\n", json!({ "a": "one two\nthree", "b": [] })),
        ("tags:\n- 'true'\n- '1.0'\n- 'null'\n- '- x'\n", json!({ "tags": ["true", "1.0", "null", "- x"] })),
        ("date: 2026-03-15T12:00:00+00:00\nid: 0123\n", json!({ "date": "2026-03-15T12:00:00+00:00", "id": "0123" })),
        ("- - a\n  - b\n-\n  k:\n- ~\n", json!([["a", "b"], { "k": null }, null])),
    ];
    for (text, wanted) in cases {
        assert_eq!(parse(text).unwrap(), wanted, "{text}");
    }
}

#[test]
fn rules_as_people_write_them_are_read() {
    let text = "# floor\n---\nguardrails:\n  - id: floor   # the id\n    scope: [a, \"b c\", {k: v}]\n    condition_confidence: '< 0.5'\n    requires: {code_review: yes, n: -1}\n    message: >-\n      two\n      lines\n    note: |\n      kept\n        deeper\n\n    url: http://x#y\n...\n";
    let wanted = json!({ "guardrails": [{
        "id": "floor", "scope": ["a", "b c", { "k": "v" }], "condition_confidence": "< 0.5",
        "requires": { "code_review": true, "n": -1 }, "message": "two lines", "note": "kept\n  deeper\n", "url": "http://x#y"
    }] });
    assert_eq!(parse(text).unwrap(), wanted);
    assert_eq!(parse(&text.replace('\n', "\r\n")).unwrap(), wanted);
}

#[test]
fn what_cannot_be_read_names_its_line() {
    let cases = [
        ("a: &x 1", 1),
        ("a: 1\nb: *x", 2),
        ("a: !!str 1", 1),
        ("a: 1\n  b: 2", 2),
        ("a:\n  - b: 1\n   - 2", 3),
        ("a: 'x", 1),
        ("a: [1, 2\nb: 1", 1),
        ("a: \"\\q\"", 1),
        ("\tx: 1", 1),
        ("a: 1\n---\nb: 2", 2),
        (": 1", 1),
    ];
    for (text, line) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!((error.code(), error.details()["line"].as_u64()), (ErrorCode::DecodeFailed, Some(line)), "{text}");
    }
}

#[test]
fn hostile_texts_are_read_or_refused_with_a_line() {
    // A repeated piece, and the line that is refused; none where the text nests too deep.
    let refused = [
        ("- ", None),
        ("[", Some(1)),
        ("\"\\", Some(1)),
        ("{a: ", Some(1)),
        ("? ", Some(1)),
        ("|\n", Some(2)),
        ("a: 'x\n", Some(1)),
        ("- [x\n", Some(1)),
    ];
    for (piece, line) in refused {
        let text = piece.repeat(200_000 / piece.len());
        let code = if line.is_some() { ErrorCode::DecodeFailed } else { ErrorCode::TooDeep };
        for text in [format!("{text}é"), text] {
            let error = parse(&text).unwrap_err();
            assert_eq!((error.code(), error.details().get("line").and_then(Value::as_u64)), (code, line), "{piece:?}");
        }
    }
    for (piece, wanted) in
        [("a:\n ", json!({ "a": { "a": null } })), ("# ", json!(null)), ("'", json!("'".repeat(99_999)))]
    {
        assert_eq!(parse(&piece.repeat(200_000 / piece.len())).unwrap(), wanted, "{piece:?}");
    }
}
