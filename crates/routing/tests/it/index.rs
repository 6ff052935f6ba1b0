//! The promises of the index over random tools.
#![allow(clippy::unwrap_used, reason = "a property that cannot be checked is a failed test")]

use contextweaver_base::ErrorCode;
use contextweaver_model::SelectableItem;
use contextweaver_routing::index::{IndexOptions, Lexicon, RankScope, Ranking, TermOrigin, ToolIndex, WordRelation};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::json;

const WORDS: &[&str] = &[
    "get", "list", "delete", "invoice", "invoices", "file", "files", "user", "v2", "v3", "copy", "12", "the", "search",
    "天气", "getUser", "employee", "message", "Slack", "overdue",
];

fn all(limit: usize) -> RankScope<'static> {
    RankScope { allowed: None, embedding: None, limit }
}

fn tool(id: &str, name: &str, description: &str) -> SelectableItem {
    let item = json!({ "id": id, "kind": "tool", "name": name, "description": description });
    SelectableItem::from_value(item, "").unwrap()
}

fn words(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(WORDS), 0..most).prop_map(|words| words.join(" "))
}

fn item() -> impl Strategy<Value = SelectableItem> {
    (0..12_u32, words(3), words(6), words(3), words(3), any::<bool>()).prop_map(
        |(id, name, description, tag, argument, schema)| {
            let mut item = tool(&format!("t{id}"), &name, &description);
            item.tags = vec![tag];
            if schema {
                let property = json!({ "type": "string", "description": description, "enum": [name] });
                item.args_schema.insert("properties".into(), json!({ argument: property }));
            }
            item
        },
    )
}

/// Tools with distinct ids.
fn items() -> impl Strategy<Value = Vec<SelectableItem>> {
    proptest::collection::vec(item(), 0..12).prop_map(|mut items| {
        items.sort_by(|a, b| a.id.cmp(&b.id));
        items.dedup_by(|a, b| a.id == b.id);
        items
    })
}

fn bits(ranking: &Ranking) -> Vec<(String, u64, u32, bool)> {
    ranking.entries.iter().map(|one| (one.id.clone(), one.score.to_bits(), one.folded, one.is_variant)).collect()
}

/// What makes two indexes the same: their bytes and the bits of every ranking.
fn assert_same(one: &mut ToolIndex, other: &mut ToolIndex, queries: &[String]) {
    assert_eq!(one.to_bytes(), other.to_bytes());
    assert_eq!((one.len(), one.size()), (other.len(), other.size()));
    for query in queries {
        for limit in [0, 2, 50] {
            let rankings = (one.rank(query, all(limit)).unwrap(), other.rank(query, all(limit)).unwrap());
            assert_eq!(bits(&rankings.0), bits(&rankings.1), "{query}");
            assert_eq!(rankings.0, rankings.1);
        }
    }
}

proptest! {
    #![proptest_config(property(200))]

    #[test]
    fn adding_and_removing_leaves_no_trace(
        items in items(),
        steps in proptest::collection::vec((any::<bool>(), item()), 0..200),
        queries in proptest::collection::vec(words(5), 1..4),
        at in 0..200_usize,
    ) {
        let mut index = ToolIndex::build(&items, IndexOptions::default());
        let mut now = items;
        for (step, (is_new, item)) in steps.into_iter().enumerate() {
            let there = now.iter().position(|known| known.id == item.id);
            if let Some(place) = there {
                now.remove(place);
            }
            if is_new {
                index.add(&item);
                now.push(item);
            } else {
                prop_assert_eq!(index.remove(&item.id), there.is_some());
            }
            if step == at {
                // Postings that were packed and those that came later.
                assert_same(&mut index, &mut ToolIndex::build(&now, IndexOptions::default()), &queries);
            }
        }
        assert_same(&mut index, &mut ToolIndex::build(now.iter().rev(), IndexOptions::default()), &queries);
    }

    #[test]
    fn rankings_are_in_order(items in items(), query in words(5), limit in 0..15_usize, odd in any::<bool>()) {
        let mut index = ToolIndex::build(&items, IndexOptions::default());
        let whole = index.rank(&query, all(100)).unwrap();
        prop_assert_eq!(whole.entries.len(), whole.candidates);
        for pair in whole.entries.windows(2) {
            prop_assert!(pair[0].is_variant <= pair[1].is_variant);
            let is_first = whole.is_exact && pair[0].id == whole.entries[0].id;
            if pair[0].is_variant == pair[1].is_variant {
                let by_score = pair[1].score.total_cmp(&pair[0].score);
                prop_assert!(by_score.then(pair[0].id.cmp(&pair[1].id)).is_lt() || (is_first && by_score.is_eq()));
            }
        }
        let folded: u32 = whole.entries.iter().map(|one| one.folded).sum();
        prop_assert_eq!(folded as usize, whole.entries.iter().filter(|one| one.is_variant).count());
        let cut = index.rank(&query, all(limit)).unwrap();
        prop_assert_eq!(&cut.entries[..], &whole.entries[..limit.min(whole.entries.len())]);
        // What is not allowed is not there, and everything else that has a score is.
        let allowed = |id: &str| (id.len() % 2 == 1) == odd;
        let few = index.rank(&query, RankScope { allowed: Some(&allowed), ..all(100) }).unwrap();
        prop_assert!(few.entries.iter().all(|one| allowed(&one.id)));
        if !whole.is_exact && !few.is_exact {
            prop_assert_eq!(few.candidates, whole.entries.iter().filter(|one| allowed(&one.id)).count());
        }
    }

    #[test]
    fn explanations_add_up(items in items(), query in words(5)) {
        let mut index = ToolIndex::build(&items, IndexOptions::default());
        let ranking = index.rank(&query, all(100)).unwrap();
        for one in ranking.entries.iter().filter(|one| one.folded == 0 && !ranking.is_exact) {
            let explained = index.explain(&query, &one.id).unwrap();
            prop_assert!((explained.score - one.score).abs() < 1e-9);
            let sum: f64 = explained.terms.iter().map(|term| term.contribution).sum();
            prop_assert!((sum - one.score).abs() < 1e-9 && (0.0..=1.000_001).contains(&explained.coverage));
        }
    }

    #[test]
    fn an_unrelated_tool_changes_no_order_for_one_word(items in items(), word in 0..15_usize) {
        // With one word there is one rarity, which grows for all alike; several grow unequally, and may change places.
        let options = || IndexOptions { lexicon: Lexicon::none(), fuzzy: false, ..IndexOptions::default() };
        let mut index = ToolIndex::build(&items, options());
        let before = index.rank(WORDS[word], all(100)).unwrap();
        let mut unrelated = tool("unrelated", "", "");
        unrelated.namespace = "elsewhere".into();
        index.add(&unrelated);
        let after = index.rank(WORDS[word], all(100)).unwrap();
        let ids = |ranking: &Ranking| ranking.entries.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&before), ids(&after));
    }

    #[test]
    fn snapshots_are_whole_or_refused(
        items in items(),
        queries in proptest::collection::vec(words(5), 1..3),
        at in any::<proptest::sample::Index>(),
        with in any::<u8>(),
    ) {
        let mut index = ToolIndex::build(&items, IndexOptions::default());
        let bytes = index.to_bytes();
        let mut read = ToolIndex::from_bytes(&bytes, &items, IndexOptions::default()).unwrap();
        assert_same(&mut index, &mut read, &queries);
        let mut damaged = bytes.clone();
        let place = at.index(bytes.len());
        damaged[place] = with;
        if damaged != bytes {
            prop_assert!(ToolIndex::from_bytes(&damaged, &items, IndexOptions::default()).is_err());
        }
        prop_assert!(ToolIndex::from_bytes(&bytes[..place], &items, IndexOptions::default()).is_err());
        let mut changed = items.clone();
        changed.push(tool("new", "new", ""));
        let error = ToolIndex::from_bytes(&bytes, &changed, IndexOptions::default()).unwrap_err();
        prop_assert_eq!(error.code(), ErrorCode::SnapshotVersion);
        changed.pop();
        if let Some(item) = changed.first_mut() {
            item.description.push_str(" more");
            prop_assert!(ToolIndex::from_bytes(&bytes, &changed, IndexOptions::default()).is_err());
            prop_assert!(ToolIndex::from_bytes(&bytes, &items[1..], IndexOptions::default()).is_err());
            let twice: Vec<&SelectableItem> = items.iter().skip(1).chain(items.last()).collect();
            prop_assert!(items.len() < 2 || ToolIndex::from_bytes(&bytes, twice, IndexOptions::default()).is_err());
        }
    }
}

fn ids(index: &mut ToolIndex, query: &str) -> Vec<String> {
    index.rank(query, all(10)).unwrap().entries.into_iter().map(|one| one.id).collect()
}

#[test]
fn an_id_or_a_name_as_the_query_comes_first() {
    let items = [
        tool("a.get", "get", "gets the weather"),
        tool("b.get", "fetch", "gets get get the weather, get it"),
        tool("c", "Show It", ""),
        tool("d", "twin", ""),
        tool("e", "twin", "twin twin"),
    ];
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    for (query, first, is_exact) in
        [("get", "a.get", true), (" A.GET ", "a.get", true), ("show it", "c", true), ("twin", "e", false)]
    {
        let ranking = index.rank(query, all(10)).unwrap();
        assert_eq!((ranking.entries[0].id.as_str(), ranking.is_exact), (first, is_exact), "{query}");
    }
    // A name is unique among what is allowed.
    let allowed = |id: &str| id == "d";
    let ranking = index.rank("twin", RankScope { allowed: Some(&allowed), ..all(10) }).unwrap();
    assert_eq!((ranking.entries.len(), ranking.is_exact), (1, true));
    let ranking = index.rank("?!", all(10)).unwrap();
    assert!(ranking.is_empty && ranking.entries.is_empty());
    assert!(!index.rank("zebra", all(10)).unwrap().is_empty);
    assert!(ToolIndex::new(IndexOptions::default()).rank("get rid of", all(10)).unwrap().entries.is_empty());
}

#[test]
fn near_duplicates_share_one_place() {
    let names = ["get_file", "get_file_v2", "get_file_v10", "get_file_copy"];
    let mut items: Vec<SelectableItem> = names.iter().map(|name| tool(name, name, "Gets a file")).collect();
    items.push(tool("put_file", "put_file", "Puts a file"));
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    assert_eq!(ids(&mut index, "gets files")[..2], ["get_file", "put_file"]);
    let ranking = index.rank("gets files", all(10)).unwrap();
    assert_eq!((ranking.entries.len(), ranking.entries[0].folded, ranking.entries[4].is_variant), (5, 3, true));
    assert_eq!(ids(&mut index, "gets files v10")[..2], ["get_file_v10", "put_file"]);
    let numbered: Vec<String> = (0..90).map(|number| format!("create_invoice_{number}")).collect();
    let invoices: Vec<SelectableItem> = numbered.iter().map(|name| tool(name, name, "Creates an invoice")).collect();
    assert_eq!(
        ids(&mut ToolIndex::build(&invoices, IndexOptions::default()), "create invoice 80")[0],
        "create_invoice_80"
    );
    // Filters apply before.
    let allowed = |id: &str| id != "get_file";
    let ranking = index.rank("gets files", RankScope { allowed: Some(&allowed), ..all(1) }).unwrap();
    assert_eq!((ranking.entries[0].id.as_str(), ranking.entries[0].folded), ("get_file_v2", 2));
}

#[test]
fn the_lexicon_can_be_replaced() {
    let items = [tool("a", "frobnicate", "Adjusts the gadget"), tool("b", "paint", "Paints")];
    let found = |lexicon: Lexicon, fuzzy: bool, query: &str| {
        ids(&mut ToolIndex::build(&items, IndexOptions { lexicon, fuzzy, ..IndexOptions::default() }), query)
    };
    let mut own = Lexicon::none();
    own.add_group(WordRelation::Noun, "widget gadget");
    own.add_phrase("make pretty", "paint");
    assert_eq!(found(own.clone(), true, "widget"), ["a"]);
    assert_eq!(found(own, true, "make it, make pretty"), ["b"]);
    assert_eq!(found(Lexicon::none(), true, "widget"), [""; 0]);
    assert_eq!(found(Lexicon::none(), true, "frobnicat3"), ["a"]);
    assert_eq!(found(Lexicon::none(), false, "frobnicat3"), [""; 0]);
    assert_eq!(found(Lexicon::english(), false, "modify"), ["a"]);
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    let explained = index.explain("modify frobnicat3", "a").unwrap();
    let origins: Vec<(TermOrigin, Option<&str>)> =
        explained.terms.iter().map(|term| (term.origin, term.from.as_deref())).collect();
    assert_eq!(origins, [(TermOrigin::Fuzzy, Some("frobnicat3")), (TermOrigin::Neighbour, Some("modifi"))]);
    assert_eq!(index.explain("x", "none").unwrap_err().code().as_str(), "NOT_FOUND");
}

#[test]
fn vectors_of_the_caller_count_beside_the_words() {
    let items = [tool("a", "alpha", "red"), tool("b", "beta", "red green"), tool("c", "gamma", "blue")];
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    assert_eq!(index.rank("red", RankScope { embedding: Some(&[1.0]), ..all(5) }).unwrap().entries.len(), 2);
    for (id, vector) in [("a", [0.0, 3.0]), ("b", [4.0, 0.0]), ("c", [2.0, 2.0])] {
        index.set_embedding(id, &vector).unwrap();
    }
    let ranking = index.rank("red", RankScope { embedding: Some(&[5.0, 0.0]), ..all(5) }).unwrap();
    let found: Vec<(&str, f64)> = ranking.entries.iter().map(|one| (one.id.as_str(), one.score)).collect();
    assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), ["b", "a", "c"]);
    assert!((found[2].1 - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-6 && (found[1].1 - 1.0).abs() < 1e-12);
    for wrong in [&[1.0][..], &[], &[f32::NAN, 1.0], &[1.0, 2.0, 3.0]] {
        assert_eq!(index.set_embedding("a", wrong).unwrap_err().code().as_str(), "INVALID_INPUT");
        let scope = RankScope { embedding: Some(wrong), ..all(5) };
        assert_eq!(index.rank("red", scope).unwrap_err().code().as_str(), "INVALID_INPUT");
    }
    assert_eq!(index.set_embedding("x", &[1.0, 1.0]).unwrap_err().code().as_str(), "NOT_FOUND");
    // They stay with their tools when others go.
    index.remove("c");
    assert_eq!(index.rank("red", RankScope { embedding: Some(&[5.0, 0.0]), ..all(5) }).unwrap().entries[0].id, "b");
}

#[test]
fn the_vector_of_several_requests_counts_less() {
    let items = [
        tool("a", "create_invoice", "Creates an invoice"),
        tool("b", "send_mail", "Sends an email"),
        tool("c", "gamma", "blue"),
    ];
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    index.set_embedding("c", &[1.0, 0.0]).unwrap();
    let mut score = |query: &str| {
        let found = index.rank(query, RankScope { embedding: Some(&[1.0, 0.0]), ..all(5) }).unwrap();
        found.entries.into_iter().find(|entry| entry.id == "c").map(|entry| entry.score)
    };
    assert_eq!(score("create an invoice"), Some(1.0));
    assert_eq!(score("create an invoice and send an email to Ada"), Some(0.5));
}

#[test]
fn a_file_that_a_request_names_wants_a_tool_for_its_kind() {
    let items = [
        tool("chart", "generate_chart", "Generates a chart of data, such as the price of bitcoin"),
        tool("convert", "convert_markdown", "Converts markdown, with its root heading, to a mind map"),
        tool("read", "read_file", "Reads a file"),
        tool("slides", "create_presentation", "Makes slides"),
        tool("write", "write_file", "Writes text"),
    ];
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    let mut first = |query: &str| {
        let mut found = ids(&mut index, query);
        found.truncate(2);
        found.sort();
        found
    };
    let report = "Generate a chart of the bitcoin price and save a report to";
    assert_eq!(first(&format!("{report} /srv/markdown/bitcoin.md")), ["chart", "write"]);
    assert_eq!(first(&format!("{report} /srv/markdown/bitcoin.pptx")), ["chart", "slides"]);
    assert_eq!(first("what does /srv/markdown/bitcoin.md say?")[0], "read");
    assert!(first("what does /srv/markdown say?").contains(&"convert".to_owned()));
}

#[test]
fn a_crowd_behind_the_first_five_is_told() {
    let items: Vec<SelectableItem> = (0..8)
        .map(|n| {
            tool(
                &n.to_string(),
                &format!("list_orders_{}", ["red", "blue", "gray", "pink", "gold", "lime", "teal", "rose"][n]),
                "Orders",
            )
        })
        .collect();
    let crowding = |count: usize, query: &str| {
        let mut index = ToolIndex::build(&items[..count], IndexOptions::default());
        index.rank(query, all(5)).unwrap().crowding
    };
    assert!(crowding(5, "list orders") < 1e-9);
    assert!(crowding(8, "list orders") > 0.99);
    assert!(crowding(8, "list orders red") < 0.9);
}

#[test]
fn work_grows_with_what_there_is() {
    let catalog = |count: usize| -> Vec<SelectableItem> {
        let text = |n: usize| format!("does thing{} with part{} of kind{n}", n % 50, n % 1000);
        (0..count).map(|n| tool(&format!("t{n:06}"), &format!("do_{n}"), &text(n))).collect()
    };
    let counts: Vec<(u64, u64, u64)> = [1_000, 10_000, 50_000]
        .into_iter()
        .map(|count| {
            let items = catalog(count);
            let mut index = ToolIndex::build(&items, IndexOptions::default());
            let built = index.work();
            index.rank("thing7 with part77", all(10)).unwrap();
            let asked = index.work() - built;
            for item in &items {
                index.remove(&item.id);
            }
            for item in &items {
                index.add(item);
            }
            index.rank("thing7 with part77", all(10)).unwrap();
            (built, asked, index.work() - built - asked)
        })
        .collect();
    for pair in counts.windows(2) {
        let (small, large) = (pair[0], pair[1]);
        assert!(large.0 < small.0 * 13 && large.1 < small.1 * 13 && large.2 < small.2 * 15, "{counts:?}");
    }
}

#[test]
fn hostile_texts_are_no_trap() {
    let long = "x".repeat(300_000);
    let many = (0..30_000).map(|n| format!("zq{n}x")).collect::<Vec<_>>().join(" ");
    let mut items = vec![tool("long", &long, &many), tool("marks", "''''s'", "\u{2019}s\u{2019}\u{301}\u{200d}İ ß")];
    let mut schema = json!({});
    for _ in 0..60 {
        schema = json!({ "properties": { "deep": schema, "n": 1 }, "items": [1], "enum": [null] });
    }
    items[1].args_schema.extend(schema.as_object().unwrap().clone());
    let mut index = ToolIndex::build(&items, IndexOptions::default());
    for query in [&long, &many, "'", "\u{0}", "deep"] {
        index.rank(query, all(10)).unwrap();
    }
    assert_eq!(ids(&mut index, "deep"), ["marks"]);
    let bytes = index.to_bytes();
    assert_eq!(ToolIndex::from_bytes(&bytes, &items, IndexOptions::default()).unwrap().to_bytes(), bytes);
    for bytes in [&b""[..], b"CWIX", b"CWIX\x01", &[0xFF; 64]] {
        let error = ToolIndex::from_bytes(bytes, &items, IndexOptions::default()).unwrap_err();
        assert_eq!(error.code().as_str(), "DECODE_FAILED");
    }
    let mut newer = bytes;
    newer[4] += 1;
    let error = ToolIndex::from_bytes(&newer, &items, IndexOptions::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "SNAPSHOT_VERSION");
}

/// How well the first tools fit a query hardly depends on what else is in the catalog.
#[test]
fn evidence_is_comparable_between_catalogs() {
    let tool = |id: &str, description: &str| {
        let tool = json!({ "id": id, "kind": "tool", "name": id, "description": description });
        SelectableItem::from_value(tool, "").unwrap()
    };
    let mail = tool("send_mail", "Sends a letter to a customer");
    let others = (0..80).map(|n| tool(&format!("mail_{n}"), "Lists mails of a folder"));
    let fit = |tools: Vec<SelectableItem>, query: &str| {
        let mut index = ToolIndex::build(&tools, IndexOptions::default());
        index.rank(query, RankScope { allowed: None, embedding: None, limit: 5 }).unwrap().fit
    };
    let alone = vec![mail.clone()];
    let among: Vec<SelectableItem> = others.chain([mail]).collect();
    for (query, least, most) in [
        ("send a mail", 1.5, 2.2),
        ("mail", 0.9, 1.1),
        ("a letter", 0.4, 0.9),
        ("the weather in Rome", 0.0, 0.0),
        ("thanks, well done", 0.0, 0.0),
        ("12345", 0.0, 0.0),
        ("", 0.0, 0.0),
    ] {
        for tools in [&alone, &among] {
            let evidence = fit(tools.clone(), query).evidence;
            assert!((least..=most).contains(&evidence), "{query}: {evidence} among {}", tools.len());
        }
    }
    let weather = fit(among.clone(), "please get 3 letters and the weather in Rome");
    assert_eq!((weather.unknown().collect::<Vec<_>>(), weather.is_about), (vec!["weather", "rome"], true));
    let chinese = fit(among.clone(), "我想买可口可乐");
    assert_eq!(chinese.unknown().collect::<Vec<_>>(), ["我想买可口可乐"], "named once");
    assert!(!fit(among, "yes, do it").is_about);
    // A turn of phrase says what its words, taken one by one, do not.
    let mut clocks: Vec<SelectableItem> =
        (0..80).map(|n| tool(&format!("mail_{n}"), "Lists mails of a folder")).collect();
    clocks.push(tool("get_current_time", "Get current time in a specific timezone"));
    let clock = fit(clocks, "what time is it in Tokyo");
    assert!(clock.evidence > 0.6, "{}", clock.evidence);
}
