//! The promises as properties over random logs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a property that cannot be checked is a failed test")]

use crate::support;

use std::collections::{HashMap, HashSet};

use contextweaver_base::ErrorCode;
use contextweaver_content::{KeepPath, PathSegment, project};
use contextweaver_context::ContextManager;
use contextweaver_model::{ContextItem, ContextPack, DropReason, ItemKind, Phase, RenderedAs, Sensitivity};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Log, Setup, build, log, setup};

fn manager(log: &Log, setup: &Setup) -> ContextManager {
    let mut manager = ContextManager::new(setup.options.clone());
    manager.ingest_all(log.items.clone()).unwrap();
    for fact in &log.facts {
        manager.add_fact(None, fact.clone()).unwrap();
    }
    for episode in &log.episodes {
        manager.add_episode(episode.clone()).unwrap();
    }
    manager
}

fn included(pack: &ContextPack) -> HashSet<&str> {
    pack.items.iter().flatten().map(|item| item.id.as_str()).collect()
}

/// Returns a section without the stub of a call that may stand above a result.
fn own_section(section: &str) -> &str {
    let stubs = ["[TOOL CALL]\n(not in the log)\n\n", "[TOOL CALL]\n(logged later)\n\n"];
    stubs.iter().find_map(|stub| section.strip_prefix(stub)).unwrap_or(section)
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn p1_the_prompt_never_exceeds_the_budget(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        match build(&mut manager, &setup.request) {
            Ok(pack) => {
                let tokens = setup.options.estimator.tokens(&pack.prompt);
                let budget = pack.stats.budget_tokens.unwrap();
                prop_assert!(tokens <= budget, "{tokens} > {budget}");
                prop_assert_eq!(pack.stats.prompt_tokens, Some(tokens));
                let sections: u64 = pack.stats.tokens_per_section.iter().map(|(_, sum)| sum).sum();
                prop_assert_eq!(sections + pack.stats.header_footer_tokens, tokens);
            }
            Err(error) => {
                prop_assert_eq!(error.code(), ErrorCode::BudgetExceeded, "{}", error);
                prop_assert!(error.details()["over_by"].as_u64().unwrap() > 0);
            }
        }
    }

    #[test]
    fn p2_calls_and_results_stay_together(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let Ok(pack) = build(&mut manager, &setup.request) else { return Ok(()) };
        let shown = included(&pack);
        let calls: HashSet<&str> =
            log.items.iter().filter(|item| item.kind == ItemKind::ToolCall).map(|item| item.id.as_str()).collect();
        for item in log.items.iter().filter(|item| item.kind == ItemKind::ToolResult) {
            let Some(call) = item.parent_id.as_deref().filter(|parent| calls.contains(parent)) else { continue };
            prop_assert_eq!(shown.contains(item.id.as_str()), shown.contains(call), "{} without {}", &item.id, call);
        }
        for pair in log.items.windows(2) {
            let together = pair.iter().all(|item| item.kind == ItemKind::ToolCall)
                && pair[0].parent_id == pair[1].parent_id
                && pair[0].parent_id.is_some();
            if together {
                prop_assert_eq!(shown.contains(pair[0].id.as_str()), shown.contains(pair[1].id.as_str()));
            }
        }
    }

    #[test]
    fn p3_the_rendered_order_is_log_order(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let Ok(pack) = build(&mut manager, &setup.request) else { return Ok(()) };
        let place: HashMap<&str, usize> = log.items.iter().enumerate().map(|(at, item)| (item.id.as_str(), at)).collect();
        let items = pack.items.as_ref().unwrap();
        let order: Vec<usize> = items.iter().filter(|item| !item.recalled).map(|item| place[item.id.as_str()]).collect();
        prop_assert!(order.is_sorted());
        let mut end = 0;
        for item in items {
            prop_assert!(item.start >= end && item.end >= item.start);
            end = item.end;
            let section = &pack.prompt[item.start as usize..item.end as usize];
            prop_assert!(section.starts_with('['), "{section:?}");
            let label = own_section(section).lines().next().unwrap();
            prop_assert_eq!(item.recalled, label.contains("(RECALLED)"));
            prop_assert_eq!(item.rendered_as == RenderedAs::Excerpt, label.contains("(EXCERPT)"));
        }
    }

    #[test]
    fn p2_a_result_stands_below_its_call_or_a_stub_of_one(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let Ok(pack) = build(&mut manager, &setup.request) else { return Ok(()) };
        let item = |id: &str| log.items.iter().find(|item| item.id == id).unwrap();
        let mut above: HashSet<&str> = HashSet::new();
        for rendered in pack.items.as_ref().unwrap() {
            let result = item(&rendered.id);
            above.insert(&rendered.id);
            if result.kind != ItemKind::ToolResult || result.metadata.contains_key("drilldown_handle") {
                continue;
            }
            let section = &pack.prompt[rendered.start as usize..rendered.end as usize];
            let call = result.parent_id.as_deref().filter(|id| above.contains(id)).map(item);
            let has_call = call.is_some_and(|call| call.kind == ItemKind::ToolCall);
            prop_assert!(has_call || own_section(section).len() < section.len(), "{section}");
            let id = format!("`{}`", rendered.id);
            prop_assert!(has_call || pack.warnings.iter().any(|warning| warning.contains(&id) || warning.ends_with(" more")));
        }
    }

    #[test]
    fn p4_every_candidate_is_accounted_for_once(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let mut request = setup.request.clone();
        request.explain = true;
        let Ok(pack) = build(&mut manager, &request) else { return Ok(()) };
        let stats = &pack.stats;
        prop_assert_eq!(stats.included_count + stats.dropped_count, stats.total_candidates);
        prop_assert_eq!(stats.dropped_items.len() as u64, stats.dropped_count);
        prop_assert_eq!(stats.dropped_reasons.iter().map(|(_, count)| count).sum::<u64>(), stats.dropped_count);
        let mut seen = included(&pack);
        prop_assert_eq!(seen.len() as u64, stats.included_count);
        for drop in &stats.dropped_items {
            prop_assert!(seen.insert(&drop.item_id), "{} counted twice", &drop.item_id);
            prop_assert!(drop.stage.is_some() && drop.tokens.is_some() && !drop.reason.is_empty());
        }
        let allowed = |kind| setup.options.policy.allows(setup.request.phase, kind);
        for item in log.items.iter().filter(|item| allowed(item.kind)) {
            prop_assert!(seen.contains(item.id.as_str()), "{} is nowhere", &item.id);
        }
        let explained = pack.explanation.as_ref().unwrap();
        prop_assert_eq!(explained.candidates.len() as u64, stats.total_candidates);
        let ids: HashSet<&str> = explained.candidates.iter().map(|candidate| candidate.item_id.as_str()).collect();
        prop_assert_eq!(ids, seen);
        prop_assert!(explained.candidates.iter().all(|candidate| candidate.included == candidate.drop_reason.is_empty()));
    }

    /// What is said of a drop for the budget is arithmetic that holds: its block did not fit into what was free.
    #[test]
    fn a_drop_for_the_budget_says_figures_that_add_up(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let mut request = setup.request.clone();
        request.explain = true;
        let Ok(pack) = build(&mut manager, &request) else { return Ok(()) };
        let explained = pack.explanation.unwrap();
        let mut sums: HashMap<u32, (u64, u64, bool)> = HashMap::new();
        for candidate in &explained.candidates {
            let detail = candidate.detail.as_ref().unwrap();
            if candidate.score.is_none() {
                prop_assert_eq!(detail.block_tokens, detail.tokens);
                continue;
            }
            let sum = sums.entry(detail.unit).or_insert((0, detail.block_tokens, candidate.included));
            prop_assert_eq!((sum.1, sum.2), (detail.block_tokens, candidate.included), "members of a block agree");
            sum.0 += detail.tokens;
            prop_assert_eq!(detail.taken_by.is_some(), candidate.included);
            prop_assert_eq!(detail.room_tokens.is_some(), detail.needed_tokens.is_some());
            let Some((room, needed)) = detail.room_tokens.zip(detail.needed_tokens) else { continue };
            prop_assert!(detail.priority.is_some());
            if candidate.drop_reason == "budget" {
                prop_assert!(needed > room || room < 10, "{needed} needed, {room} free");
            }
            // The first section has no separator above it, whose tokens are room as well.
            prop_assert!(room <= pack.stats.budget_tokens.unwrap_or(0) + 1);
        }
        let whole = sums.values().filter(|(_, _, included)| !included);
        for (sum, block, _) in whole {
            // Each member is told in whole tokens, the block in one sum.
            prop_assert!(sum <= block && *block <= sum + log.items.len() as u64, "{sum} of {block}");
        }
    }

    #[test]
    fn p5_nothing_above_the_floor_and_no_secret_gets_out(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let mut request = setup.request.clone();
        request.explain = true;
        let out = match build(&mut manager, &request) {
            Ok(pack) => json!(pack).to_string(),
            Err(error) => error.to_json().to_string(),
        };
        let floor = setup.options.policy.sensitivity_floor;
        for (text, level) in log.texts() {
            if level >= floor {
                let marker = support::marker(text);
                prop_assert!(!out.contains(marker), "{marker} got out");
            }
        }
        if setup.options.redact_secrets {
            for secret in support::SECRETS {
                prop_assert!(!out.contains(secret), "{secret} got out");
            }
        }
        let handoff = support::handoff(&mut manager);
        for item in log.items.iter().filter(|item| item.sensitivity >= floor) {
            let marker = support::marker(&item.text);
            prop_assert!(!handoff.contains(marker), "{marker} got out in the handoff");
        }
    }

    #[test]
    fn p5_holds_for_artifacts_too(log in log(), setup in setup(), level in 0..4_usize) {
        let mut manager = manager(&log, &setup);
        let level = Sensitivity::ALL[level];
        let raw = format!("MARKRESULTQ {} password=hunter22hunter tail", support::SECRETS[..3].join(" and "));
        support::ingest_labelled(&mut manager, "call", &raw, level).unwrap();
        let out = match support::drilldown(&mut manager, "artifact:result:call", true) {
            Ok(slice) => json!(slice).to_string(),
            Err(error) => {
                prop_assert_eq!(error.code(), ErrorCode::PolicyViolation);
                error.to_json().to_string()
            }
        };
        let withheld = level >= setup.options.policy.sensitivity_floor;
        if withheld {
            prop_assert!(!out.contains("MARKRESULTQ"));
        }
        for secret in support::SECRETS {
            prop_assert!(!out.contains(secret), "{secret} got out");
        }
        prop_assert_eq!(manager.artifacts().get("artifact:result:call").unwrap(), raw.as_bytes());
        if let Some(slice) = manager.events().items().iter().find(|item| item.id.starts_with("drilldown:")) {
            prop_assert!(slice.sensitivity >= level);
        }
    }

    #[test]
    fn p6_same_input_same_bytes(log in log(), setup in setup()) {
        let mut bulk = manager(&log, &setup);
        let first = format!("{:?}", build(&mut bulk, &setup.request).map(|pack| json!(pack).to_string()));
        let mut single = ContextManager::new(setup.options.clone());
        for item in &log.items {
            single.ingest(item.clone()).unwrap();
        }
        for fact in &log.facts {
            single.add_fact(None, fact.clone()).unwrap();
        }
        for episode in &log.episodes {
            single.add_episode(episode.clone()).unwrap();
        }
        let snapshot = serde_json::from_str(&json!(single.snapshot()).to_string()).unwrap();
        let mut restored = ContextManager::from_json(snapshot, setup.options.clone()).unwrap();
        prop_assert_eq!(json!(restored.snapshot()), json!(single.snapshot()));
        for other in [&mut single, &mut restored] {
            let again = format!("{:?}", build(other, &setup.request).map(|pack| json!(pack).to_string()));
            prop_assert_eq!(&again, &first);
        }
        if setup.request.running != Some(true) {
            let again = format!("{:?}", build(&mut bulk, &setup.request).map(|pack| json!(pack).to_string()));
            prop_assert_eq!(&again, &first);
        }
    }

    #[test]
    fn p8_a_failed_call_changes_nothing(log in log(), setup in setup(), which in 0..6_u8) {
        let mut manager = manager(&log, &setup);
        let stored = support::ingest_result(&mut manager, "kept", "a result that stays");
        prop_assert!(stored.is_ok());
        let before = json!(manager.snapshot());
        let failed = match which {
            0 => manager.ingest_all(support::with_duplicate(&log)).is_err(),
            1 => support::ingest_result(&mut manager, "kept", "another text for the same call").is_err(),
            2 => support::ingest_result(&mut manager, "huge", &"x".repeat(20 << 20)).is_err(),
            3 => manager.add_fact(Some("twice".into()), support::fact("k", "v")).is_ok_and(|_| {
                let before = json!(manager.snapshot());
                manager.add_fact(Some("twice".into()), support::fact("k", "w")).is_err() && json!(manager.snapshot()) == before
            }),
            4 => support::drilldown(&mut manager, "artifact:none", true).is_err(),
            _ => {
                let mut request = setup.request.clone();
                request.budget_tokens = Some(0);
                request.header = "x".repeat(64);
                build(&mut manager, &request).is_err()
            }
        };
        prop_assert!(failed);
        if which != 3 {
            prop_assert_eq!(json!(manager.snapshot()), before);
        }
    }

    #[test]
    fn an_estimator_of_the_caller_is_kept_to(log in log(), setup in setup(), step in 1..9_usize) {
        let mut options = setup.options.clone();
        options.estimator = contextweaver_text::tokens::Estimator::Custom("words".into());
        let mut manager = ContextManager::new(options);
        manager.ingest_all(log.items.clone()).unwrap();
        // Neither additive nor close to characters: what a real tokenizer may look like from outside.
        let count = |text: &str| (text.split_whitespace().count() + text.len() / (3 + step)) as u64;
        match support::build_asking(&mut manager, &setup.request, &count) {
            Ok(pack) => {
                prop_assert!(count(&pack.prompt) <= pack.stats.budget_tokens.unwrap());
                prop_assert_eq!(pack.stats.prompt_tokens, Some(count(&pack.prompt)));
                for item in pack.items.iter().flatten() {
                    let section = count(&pack.prompt[item.start as usize..item.end as usize]);
                    // The blank line before it is half a token.
                    prop_assert!((section..=section + 1).contains(&item.tokens), "{} {}", item.tokens, section);
                }
            }
            Err(error) => prop_assert_eq!(error.code(), ErrorCode::BudgetExceeded, "{}", error),
        }
    }

    #[test]
    fn large_results_in_the_store_keep_the_promises(log in log(), setup in setup(), sizes in prop::collection::vec(1..400_usize, 1..4)) {
        let mut manager = manager(&log, &setup);
        for (n, size) in sizes.iter().enumerate() {
            let call = format!("call{n}");
            manager.ingest(ContextItem::new(&call, ItemKind::ToolCall, "fetch()")).unwrap();
            let rows: Vec<String> =
                (0..*size).map(|row| format!("row {row} of invoice order_{row} {{\"refund\": {row}}}")).collect();
            support::ingest_result(&mut manager, &call, &rows.join("\n")).unwrap();
        }
        manager.ingest(ContextItem::new("last", ItemKind::UserTurn, "which invoice?")).unwrap();
        let mut request = setup.request.clone();
        request.query = "refund order_7".into();
        let Ok(pack) = build(&mut manager, &request) else { return Ok(()) };
        let tokens = setup.options.estimator.tokens(&pack.prompt);
        prop_assert!(tokens <= pack.stats.budget_tokens.unwrap());
        prop_assert_eq!(pack.stats.prompt_tokens, Some(tokens));
        prop_assert_eq!(pack.stats.included_count + pack.stats.dropped_count, pack.stats.total_candidates);
        let shown = included(&pack);
        for n in 0..sizes.len() {
            let pair = [format!("call{n}"), format!("result:call{n}")];
            prop_assert_eq!(shown.contains(pair[0].as_str()), shown.contains(pair[1].as_str()));
        }
        let order: Vec<usize> =
            pack.items.iter().flatten().filter(|item| !item.recalled).map(|item| manager.events().position(&item.id).unwrap()).collect();
        prop_assert!(order.is_sorted());
    }

    #[test]
    fn no_text_can_pass_for_a_section(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let Ok(pack) = build(&mut manager, &setup.request) else { return Ok(()) };
        let sections: Vec<&str> =
            pack.items.iter().flatten().map(|item| &pack.prompt[item.start as usize..item.end as usize]).collect();
        let own: HashSet<&str> = sections
            .iter()
            .flat_map(|section| [section, own_section(section)].map(|section| section.lines().next().unwrap()))
            .chain(["[EPISODIC MEMORY]", "[FACTS]"])
            .collect();
        let headings = pack.prompt.lines().filter(|line| own.contains(line)).count();
        let memory = pack.prompt.lines().filter(|line| matches!(*line, "[EPISODIC MEMORY]" | "[FACTS]")).count();
        let stubs = sections.iter().filter(|section| own_section(section).len() < section.len()).count();
        prop_assert_eq!(headings, sections.len() + stubs + memory);
        prop_assert!(memory <= 2);
        prop_assert!(!pack.prompt.lines().any(|line| line == "[SYSTEM]"));
    }

    #[test]
    fn labels_never_go_down(log in log(), setup in setup()) {
        let mut manager = manager(&log, &setup);
        let mut request = setup.request.clone();
        request.explain = true;
        let Ok(pack) = build(&mut manager, &request) else { return Ok(()) };
        let given: HashMap<&str, Sensitivity> =
            log.items.iter().map(|item| (item.id.as_str(), item.sensitivity)).collect();
        for candidate in &pack.explanation.unwrap().candidates {
            prop_assert!(candidate.sensitivity >= given[candidate.item_id.as_str()]);
        }
    }
}

/// A generator that never reaches a branch proves nothing about it.
#[test]
fn the_generator_reaches_every_branch() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (log(), setup());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for _ in 0..3000 {
        let (log, setup) = strategy.new_tree(&mut runner).unwrap().current();
        let mut manager = manager(&log, &setup);
        *seen.entry(format!("phase {}", setup.request.phase)).or_default() += 1;
        let Ok(pack) = build(&mut manager, &setup.request) else {
            *seen.entry("error".into()).or_default() += 1;
            continue;
        };
        for (reason, _) in &pack.stats.dropped_reasons {
            *seen.entry(format!("drop {reason}")).or_default() += 1;
        }
        for item in pack.items.iter().flatten() {
            *seen.entry(format!("form {}", item.rendered_as)).or_default() += 1;
        }
    }
    let phases = Phase::ALL.iter().map(|phase| format!("phase {phase}"));
    let reasons = DropReason::ALL.iter().map(|reason| format!("drop {reason}"));
    let forms = RenderedAs::ALL.iter().map(|form| format!("form {form}"));
    for branch in phases.chain(reasons).chain(forms).chain(["error".to_owned()]) {
        assert!(seen.get(&branch).copied().unwrap_or(0) >= 20, "{branch} is hardly reached: {seen:?}");
    }
}

/// JSON of few keys, so that random paths meet it.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), (0..9_i64).prop_map(Value::from)];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    })
}

/// Where a leaf is: keys, and `None` with a position in a list.
type Place = Vec<(Option<String>, usize)>;

/// The leaves that are no containers, each with its place.
fn leaves(value: &Value, place: &mut Place, found: &mut Vec<(Place, Value)>) {
    match value {
        Value::Array(list) => {
            for (index, entry) in list.iter().enumerate() {
                place.push((None, index));
                leaves(entry, place, found);
                place.pop();
            }
        }
        Value::Object(map) => {
            for (key, entry) in map {
                place.push((Some(key.clone()), 0));
                leaves(entry, place, found);
                place.pop();
            }
        }
        leaf => found.push((place.clone(), leaf.clone())),
    }
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn a_projection_has_the_leaves_under_its_paths_and_no_others(
        value in value(),
        paths in prop::collection::vec("[abc]?(\\[\\]){0,2}(\\.[abc](\\[\\]){0,2}){0,2}", 0..4),
    ) {
        let keep: Vec<KeepPath> = paths.iter().filter_map(|path| KeepPath::parse(path).ok()).collect();
        let projected = project(&value, &keep);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        leaves(&value, &mut Vec::new(), &mut before);
        leaves(&projected, &mut Vec::new(), &mut after);
        let steps: Vec<Vec<PathSegment>> = keep.iter().map(KeepPath::segments).collect();
        before.retain(|(place, _)| {
            let matches = |(step, (key, _)): (&PathSegment, &(Option<String>, usize))| match step {
                PathSegment::Elements => key.is_none(),
                PathSegment::Key(wanted) => key.as_ref() == Some(wanted),
            };
            steps.iter().any(|path| path.len() <= place.len() && path.iter().zip(place).all(matches))
        });
        prop_assert_eq!(before, after, "{} of {}", projected, value);
    }
}
