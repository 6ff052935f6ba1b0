//! A journal, however it was written, makes the same manager again.

use std::collections::HashMap;

use contextweaver_base::ErrorCode;
use contextweaver_context::store::{Eviction, StoreOptions};
use contextweaver_context::{
    BuildRequest, ContextManager, Conversation, DrilldownRequest, JournalOptions, ManagerLimits, ManagerOptions,
    NewRule, ObservedUsage, Outcome, RuleCorrection, ToolResult,
};
use contextweaver_convert::providers::{Format, WriteOptions};
use contextweaver_model::{ContextItem, Episode, Fact, ItemKind, Phase};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Something that is done to a manager.
#[derive(Debug, Clone)]
enum Step {
    Say(u8),
    Result(u16),
    /// The conversation has so many turns, of which one was edited.
    Sync(u8, u8, u8),
    Fact(u8),
    DropFact(u8),
    Episode(u8),
    DropEpisode(u8),
    Put(u8, u16),
    Delete(u8),
    Pin(u8),
    Read(u8),
    Build(u8),
    Usage(u8),
    Forget(u8),
    /// A rule is added, corrected or forgotten.
    Rule(u8),
    /// What changed is stored.
    Save,
    /// Everything is stored anew.
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<u8>().prop_map(Step::Say),
        3 => (0_u16..3000).prop_map(Step::Result),
        3 => (0_u8..8, 0_u8..8, 0_u8..3).prop_map(|(turns, edited, trimmed)| Step::Sync(turns, edited, trimmed)),
        2 => (0_u8..6).prop_map(Step::Fact),
        1 => (0_u8..6).prop_map(Step::DropFact),
        2 => (0_u8..4).prop_map(Step::Episode),
        1 => (0_u8..4).prop_map(Step::DropEpisode),
        3 => (0_u8..8, 0_u16..4000).prop_map(|(handle, size)| Step::Put(handle, size)),
        1 => (0_u8..8).prop_map(Step::Delete),
        1 => (0_u8..8).prop_map(Step::Pin),
        2 => (0_u8..8).prop_map(Step::Read),
        3 => (0_u8..4).prop_map(Step::Build),
        1 => (0_u8..3).prop_map(Step::Usage),
        1 => (0_u8..20).prop_map(Step::Forget),
        2 => any::<u8>().prop_map(Step::Rule),
        5 => Just(Step::Save),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 1..40)
}

fn options(evicts: bool) -> ManagerOptions {
    let store = StoreOptions {
        store_bytes: if evicts { 9000 } else { 1 << 20 },
        eviction: if evicts { Eviction::Lru } else { Eviction::None },
        ..StoreOptions::default()
    };
    let limits = ManagerLimits { store, ..ManagerLimits::default() };
    ManagerOptions { limits, ..ManagerOptions::default() }
}

/// A manager with what was stored of it.
struct Kept {
    manager: ContextManager,
    parts: Vec<String>,
    blobs: HashMap<String, Vec<u8>>,
    cursor: Option<String>,
    said: usize,
    /// Whether its prompts go on with those before.
    is_running: bool,
}

impl Kept {
    fn new(options: ManagerOptions, is_running: bool) -> Self {
        let mut manager = ContextManager::new(options);
        manager.keep_journal();
        Self { manager, parts: Vec::new(), blobs: HashMap::new(), cursor: None, said: 0, is_running }
    }

    fn save(&mut self, whole: bool) {
        let options = JournalOptions { part_bytes: 4096, inline_bytes: 600, whole, ..JournalOptions::default() };
        let export = self.manager.export_since(self.cursor.as_deref(), &options).unwrap();
        if export.whole {
            self.parts.clear();
        }
        for blob in &export.blobs {
            self.blobs.insert(blob.hash.clone(), self.manager.artifacts().peek(&blob.handle).unwrap().to_vec());
        }
        assert!(export.parts.iter().all(|part| part.len() <= 4096 && !part.contains('\n')));
        self.parts.extend(export.parts);
        self.cursor = Some(export.cursor);
    }

    fn take(&mut self, step: &Step) {
        let manager = &mut self.manager;
        self.said += 1;
        let id = format!("s{}", self.said);
        match step {
            Step::Say(n) => {
                let rule = if n % 3 == 0 { format!("Never ship order {n} by train. ") } else { String::new() };
                let text =
                    rule + &format!("turn {n} about the orders of \"Lisbon\" ").repeat(usize::from(*n) % 9 * 20 + 1);
                manager.ingest(ContextItem::new(id, ItemKind::UserTurn, text)).unwrap();
            }
            Step::Result(size) => {
                let mut call = ContextItem::new(&id, ItemKind::ToolCall, "list()");
                call.metadata.insert("tool_name".into(), "list".into());
                manager.ingest(call).unwrap();
                let rows: Vec<Value> = (0..size / 30).map(|row| json!({ "id": row, "name": "ž\"" })).collect();
                let result = ToolResult::from_value(json!({ "tool_call_id": id, "tool_name": "list" })).unwrap();
                // One that has no room is refused, and nothing of it stays.
                let _ = manager.ingest_tool_result(&result, json!(rows).to_string().as_bytes());
            }
            Step::Sync(turns, edited, trimmed) => {
                let turn = |n: u8| {
                    let said = if n == *edited { "edited" } else { "said" };
                    let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
                    json!({ "role": role, "content": format!("{said} {n}") })
                };
                let messages = (*trimmed..*turns).map(turn).collect();
                let conversation = Conversation::new(Format::parse("openai-chat").unwrap(), messages);
                manager.sync_messages(conversation).unwrap();
            }
            Step::Fact(n) => {
                let fact = json!({ "fact_id": "", "key": format!("k{n}"), "value": format!("v{}", self.said) });
                let fact = Fact::from_value(fact, "").unwrap();
                let id = (*n < 3).then(|| format!("f{n}"));
                let _ = manager.add_fact(id, fact);
            }
            Step::DropFact(n) => {
                let id = manager.facts().all().nth(usize::from(*n)).map(|fact| fact.fact_id.clone());
                if let Some(id) = id {
                    manager.delete_fact(&id).unwrap();
                }
            }
            Step::Episode(n) => {
                let episode = json!({ "episode_id": format!("e{n}"), "summary": format!("did {}", self.said) });
                manager.add_episode(Episode::from_value(episode, "").unwrap()).unwrap();
            }
            Step::DropEpisode(n) => drop(manager.delete_episode(&format!("e{n}"))),
            Step::Put(n, size) => {
                let bytes = vec![if size % 2 == 0 { b'a' } else { 0xff }; usize::from(*size)];
                let _ = manager.put_artifact(&format!("h{n}"), &bytes, "text/plain", "");
            }
            Step::Delete(n) => drop(manager.artifacts_mut().delete(&format!("h{n}"))),
            Step::Pin(n) => {
                let handle = format!("h{n}");
                let artifacts = manager.artifacts_mut();
                if artifacts.pinned().any(|pinned| pinned == handle) {
                    artifacts.unpin(&handle).unwrap();
                } else {
                    let _ = artifacts.pin(&handle);
                }
            }
            Step::Read(n) => {
                let request = json!({ "handle": format!("h{n}"), "selector": { "type": "head" } });
                if let Ok(request) = DrilldownRequest::from_value(request) {
                    let _ = manager.drilldown(&request);
                }
            }
            Step::Build(n) => {
                let budget_tokens = Some(200 + 300 * u64::from(*n));
                let running = Some(self.is_running);
                let request =
                    BuildRequest { budget_tokens, running, ..BuildRequest::new(Phase::Answer, "orders of Lisbon") };
                if self.is_running && n % 2 == 1 {
                    let request = BuildRequest { phase: Phase::Call, ..request };
                    let _ = manager.build_messages(&request, Format::Anthropic, WriteOptions::default());
                } else {
                    let _ = manager.build(&request);
                }
            }
            Step::Usage(n) => {
                let observed = ObservedUsage { model: format!("m{n}"), estimated: 100, actual: 90 + u64::from(*n) };
                manager.observe_usage(&observed).unwrap();
            }
            Step::Forget(n) => {
                let id = manager.events().items().get(usize::from(*n)).map(|item| item.id.clone());
                if let Some(id) = id {
                    manager.forget(&id).unwrap();
                    self.save(true);
                }
            }
            Step::Rule(n) => change_rule(manager, *n),
            Step::Save => self.save(false),
            Step::Compact => self.save(true),
        }
    }

    fn restored(&self, options: ManagerOptions) -> ContextManager {
        let blob = |hash: &str| self.blobs.get(hash).map(Vec::as_slice);
        let restored = ContextManager::restore_journal(&self.parts.join("\n"), options, blob).unwrap();
        assert!(restored.findings.is_empty(), "{:?}", restored.findings);
        assert_eq!(restored.missing_blobs, Vec::<String>::new());
        assert_eq!(restored.cursor, self.cursor);
        restored.manager
    }
}

/// Adds a rule, or corrects or forgets one that there is.
fn change_rule(manager: &mut ContextManager, n: u8) {
    let rules = manager.rules().done().unwrap();
    let rule = rules.get(usize::from(n) % (rules.len() + 1)).map(|rule| rule.id.clone());
    match rule {
        Some(id) if n.is_multiple_of(2) => drop(manager.forget_rule(&id).unwrap()),
        Some(id) => {
            let text = Some(format!("Ship order {n} by bike."));
            drop(manager.correct_rule(&id, &RuleCorrection { text, ..RuleCorrection::default() }).unwrap());
        }
        None => {
            let text = format!("Never call customer {n}.");
            drop(manager.add_rule(&NewRule { text, kind: None, id: None }).unwrap());
        }
    }
}

/// The parts of the snapshots in which two managers differ.
fn differences(one: &ContextManager, other: &ContextManager) -> Vec<String> {
    let [one, other] = [one, other].map(|manager| serde_json::to_value(manager.snapshot()).unwrap());
    let names = one.as_object().unwrap().keys();
    names
        .filter(|name| one[*name] != other[*name])
        .map(|name| format!("{name}: {} {}", one[name], other[name]))
        .collect()
}

/// Those of the phases, each for itself or going on with the one before.
fn prompts(manager: &mut ContextManager, is_running: bool) -> Vec<String> {
    let prompt = |phase: &Phase| {
        let running = Some(is_running);
        let request =
            BuildRequest { budget_tokens: Some(500), running, ..BuildRequest::new(*phase, "orders of Lisbon") };
        match manager.build(&request) {
            Ok(Outcome::Done(output)) => output.pack.prompt,
            other => format!("{other:?}"),
        }
    };
    Phase::ALL.iter().map(prompt).collect()
}

proptest! {
    #![proptest_config(property(400))]

    #[test]
    fn what_was_stored_is_the_manager(steps in steps(), is_running: bool, evicts: bool) {
        let mut kept = Kept::new(options(evicts), is_running);
        for step in &steps {
            kept.take(step);
        }
        kept.save(false);
        let mut restored = kept.restored(options(evicts));
        prop_assert_eq!(differences(&restored, &kept.manager), Vec::<String>::new());
        prop_assert_eq!(prompts(&mut restored, is_running), prompts(&mut kept.manager, is_running));
    }

    #[test]
    fn a_session_goes_on_after_each_restart(steps in steps(), more in steps(), is_running: bool, evicts: bool) {
        let mut kept = Kept::new(options(evicts), is_running);
        for step in &steps {
            kept.take(step);
        }
        kept.save(false);
        let mut again = Kept {
            manager: kept.restored(options(evicts)),
            parts: kept.parts.clone(),
            blobs: kept.blobs.clone(),
            cursor: kept.cursor.clone(),
            said: kept.said,
            is_running,
        };
        for step in &more {
            kept.take(step);
            again.take(step);
        }
        again.save(false);
        let mut restored = again.restored(options(evicts));
        prop_assert_eq!(differences(&restored, &kept.manager), Vec::<String>::new());
        prop_assert_eq!(prompts(&mut restored, is_running), prompts(&mut kept.manager, is_running));
    }

    #[test]
    fn damage_is_named_and_leaves_a_session_that_works(steps in steps(), at: prop::sample::Index, how in 0_u8..5, bit: u8) {
        let mut kept = Kept::new(options(false), true);
        for step in &steps {
            kept.take(step);
        }
        kept.save(false);
        let place = at.index(kept.parts.len());
        let whole = kept.parts.clone();
        match how {
            0 => drop(kept.parts.remove(place)),
            1 => kept.parts.insert(0, whole[place].clone()),
            2 => kept.parts.reverse(),
            3 => kept.parts[place] = whole[place].chars().take(usize::from(bit).min(whole[place].len() - 9)).collect(),
            _ => {
                let mut bytes = whole[place].clone().into_bytes();
                let byte = at.index(bytes.len());
                bytes[byte] ^= 1 << (bit % 7);
                kept.parts[place] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        let blob = |hash: &str| kept.blobs.get(hash).map(Vec::as_slice);
        let restored = ContextManager::restore_journal(&kept.parts.join("\n"), options(false), blob).unwrap();
        let mut manager = restored.manager;
        match how {
            2 => prop_assert!(restored.findings.is_empty()),
            // One that stands for all before it may be there twice.
            1 => prop_assert!(!restored.findings.is_empty() || whole[place].contains("\"whole\":true")),
            // The end may be missing without a trace: as if it had never been acknowledged.
            _ => {
                let is_gone = how == 0 || how == 3 && bit == 0;
                prop_assert!(!restored.findings.is_empty() || is_gone && place == whole.len() - 1);
            }
        }
        prompts(&mut manager, true);
        let export = manager.export_since(restored.cursor.as_deref(), &JournalOptions::default()).unwrap();
        prop_assert!(export.whole || restored.findings.is_empty());
    }
}

#[test]
fn a_turn_costs_what_is_new() {
    let mut kept = Kept::new(ManagerOptions::default(), true);
    let said = "The refund of order 12446 was asked for twice; the second time by telephone, on a Sunday. ".repeat(4);
    let turn = |n: usize| ContextItem::new(format!("u{n}"), ItemKind::UserTurn, format!("turn {n} of the day: {said}"));
    for size in [100, 4000] {
        kept.manager.ingest_all((0..size).map(|n| turn(size * 10 + n)).collect()).unwrap();
        let running = Some(true);
        let request = BuildRequest { budget_tokens: Some(2000), running, ..BuildRequest::new(Phase::Answer, "day") };
        kept.manager.build(&request).unwrap();
        kept.save(false);
        let before = kept.parts.len();
        let new = turn(size * 100);
        let bytes = serde_json::to_string(&new).unwrap().len();
        kept.manager.ingest(new).unwrap();
        kept.save(false);
        let written: usize = kept.parts[before..].iter().map(String::len).sum();
        assert!(written <= 2 * bytes, "{written} for {bytes} after {size}");
        kept.save(false);
        assert_eq!(kept.parts.len(), before + 1, "nothing new is nothing to store");
    }
}

#[test]
fn cursors_of_others_are_refused_and_old_ones_get_everything() {
    let mut kept = Kept::new(ManagerOptions::default(), false);
    kept.take(&Step::Say(1));
    kept.save(false);
    let (old, journal) = (kept.cursor.clone().unwrap(), kept.parts.join("\n"));
    let other = ContextManager::new(ManagerOptions::default());
    for (cursor, message) in [("x", "is no cursor"), (old.as_str(), "is ahead of this manager")] {
        let error = other.export_since(Some(cursor), &JournalOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, "/cursor"));
        assert!(error.message().contains(message));
    }
    kept.take(&Step::Say(2));
    kept.save(false);
    let journal = [journal, kept.parts[1].clone()].join("\n");
    let restored = ContextManager::restore_journal(&journal, ManagerOptions::default(), |_| None).unwrap().manager;
    let export = restored.export_since(Some(&old), &JournalOptions::default()).unwrap();
    assert!(export.whole && export.first == 1);
}

#[test]
fn bytes_that_are_not_there_are_named_and_come_back() {
    let mut kept = Kept::new(ManagerOptions::default(), false);
    kept.take(&Step::Result(3000));
    kept.save(false);
    let mut restored =
        ContextManager::restore_journal(&kept.parts.join("\n"), ManagerOptions::default(), |_| None).unwrap();
    let (hash, bytes) = kept.blobs.iter().next().unwrap();
    assert_eq!(restored.missing_blobs, std::slice::from_ref(hash));
    let handle = restored.manager.artifacts().list().next().unwrap().handle.clone();
    assert_eq!(restored.manager.artifacts().get(&handle).unwrap_err().code(), ErrorCode::ArtifactNotFound);
    let error = restored.manager.reload_artifact(&handle, b"other").unwrap_err();
    assert_eq!(error.path(), "/bytes");
    restored.manager.reload_artifact(&handle, bytes).unwrap();
    assert_eq!(prompts(&mut restored.manager, false), prompts(&mut kept.manager, false));
}

#[test]
fn what_is_forgotten_is_nowhere() {
    let mut kept = Kept::new(ManagerOptions::default(), true);
    kept.manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Who lives in Rua Augusta?")).unwrap();
    let mut call = ContextItem::new("c1", ItemKind::ToolCall, "people()");
    call.metadata.insert("tool_name".into(), "people".into());
    kept.manager.ingest(call).unwrap();
    let people: Vec<Value> = (0..500).map(|n| json!({ "id": n, "name": format!("Ana {n}") })).collect();
    let result = ToolResult::from_value(json!({ "tool_call_id": "c1", "tool_name": "people" })).unwrap();
    kept.manager.ingest_tool_result(&result, json!(people).to_string().as_bytes()).unwrap();
    prompts(&mut kept.manager, true);
    kept.save(false);
    let forgotten = kept.manager.forget("result:c1").unwrap();
    assert_eq!(forgotten.artifacts, ["artifact:result:c1"]);
    kept.save(true);
    kept.blobs.retain(|hash, _| kept.manager.artifacts().content_hashes().contains(&hash.as_str()));
    assert!(kept.blobs.is_empty());
    let everything = serde_json::to_string(&kept.manager.snapshot()).unwrap() + &kept.parts.concat();
    assert!(!everything.contains("Ana 1") && everything.contains("Rua Augusta"));
    let all = prompts(&mut kept.manager, true).concat();
    assert!(!all.contains("Ana") && all.contains("people()"));
    assert_eq!(kept.manager.forget("nobody").unwrap_err().path(), "/item_id");
}
