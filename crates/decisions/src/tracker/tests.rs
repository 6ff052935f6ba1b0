use super::*;
use crate::host::HostAnswers;
use serde_json::json;

const NOW: i64 = 1_773_576_000_000;

fn call<'a>(agent: &'a str, trace: Option<&'a str>, now: i64, answers: &'a HostAnswers) -> CallerContext<'a> {
    CallerContext { agent, trace, now, answers }
}

fn texts(tracker: &DeliberationTracker, call: &CallerContext<'_>, decision: Option<&str>) -> Vec<String> {
    let taken = tracker.peek(&TrackerScope::of(call, decision), None, call.now, DecisionLimits::default());
    taken.deliberation.unwrap_or_default().inputs.into_iter().map(|input| input.text).collect()
}

#[test]
fn all_tools_of_a_caller_share_a_key() {
    let answers = HostAnswers::default();
    // Agent and trace of what is noted, those of what is taken, and whether it is found.
    let cases = [
        ("a", None, "a", None, true),
        ("a", Some("t"), "a", None, true),
        (NOBODY, Some("t"), NOBODY, Some("t"), true),
        (NOBODY, None, NOBODY, None, true),
        (NOBODY, Some("t"), "a", Some("t"), true),
        ("a", None, "b", None, false),
        ("a", None, NOBODY, None, false),
        (NOBODY, Some("t"), NOBODY, Some("u"), false),
        (NOBODY, Some("t"), NOBODY, None, false),
        (NOBODY, None, NOBODY, Some("t"), false),
    ];
    for (agent, trace, later_agent, later_trace, found) in cases {
        let mut tracker = DeliberationTracker::default();
        tracker.track_thought(&call(agent, trace, NOW, &answers), None, "x");
        let later = call(later_agent, later_trace, NOW + 1, &answers);
        assert_eq!(texts(&tracker, &later, None).len(), usize::from(found), "{agent} {trace:?} {later_agent}");
        tracker.forget(&TrackerScope::of(&later, None));
        assert!(texts(&tracker, &later, None).is_empty(), "taken once");
    }
}

#[test]
fn a_handle_finds_what_its_call_noted_and_nothing_else() {
    let answers = HostAnswers::default();
    let mut tracker = DeliberationTracker::default();
    tracker.track_thought(&call(NOBODY, None, NOW, &answers), None, "someone else's");
    let first = call(NOBODY, None, NOW + 1, &answers);
    tracker.track_check(&first, "deploy", false, 2);
    let handle = tracker.trace_id(&first);
    let later = call(NOBODY, Some(&handle), NOW + 2, &answers);
    assert_eq!(tracker.trace_id(&later), handle);
    tracker.track_thought(&later, None, "mine");
    assert_eq!(texts(&tracker, &later, None), ["mine", "Checked 'deploy': blocked (2 violations)"]);
    tracker.forget(&TrackerScope::of(&later, None));
    let nobody = call(NOBODY, None, NOW + 3, &answers);
    assert_eq!(texts(&tracker, &nobody, None), ["someone else's"]);
}

#[test]
fn inputs_end_and_keys_are_bounded() {
    let answers = HostAnswers::default();
    let mut tracker = DeliberationTracker::default();
    for step in 0..300 {
        tracker.track_thought(&call("a", None, NOW + step, &answers), None, &format!("{step}"));
    }
    let seen = texts(&tracker, &call("a", None, NOW + 300, &answers), None);
    assert_eq!((seen.len(), seen[0].as_str()), (200, "100"));
    assert_eq!(texts(&tracker, &call("a", None, NOW + 150 + 300_000, &answers), None).len(), 150, "300 s still count");
    for agent in 0..1500 {
        tracker.track_thought(&call(&format!("agent{agent}"), None, NOW + 1000 + agent, &answers), None, "x");
    }
    assert_eq!(tracker.keys.len(), 1000);
    assert!(!tracker.keys.contains_key("agent:a") && tracker.keys.contains_key("agent:agent1499"));
    tracker.track_thought(&call("new", None, NOW + 2500 + IDLE_MS, &answers), None, "x");
    assert_eq!(tracker.keys.len(), 1, "all others were idle");
}

#[test]
fn ids_of_the_caller_are_kept_apart() {
    let answers = HostAnswers::default();
    let mut tracker = DeliberationTracker::default();
    let call = call("a", None, NOW, &answers);
    tracker.track_thought(&call, None, "one");
    tracker.track_thought(&call, None, "two");
    let explicit = json!({
        "inputs": [{ "id": "r-00000001", "text": "one" }, { "id": "r-00000002", "text": "another" }],
        "steps": [{ "step": 7, "thought": "t" }]
    });
    let explicit = Deliberation::from_value(explicit, "").unwrap();
    let taken = tracker.peek(&TrackerScope::of(&call, None), Some(explicit), NOW, DecisionLimits::default());
    let deliberation = taken.deliberation.unwrap();
    let ids: Vec<&str> = deliberation.inputs.iter().map(|input| input.id.as_str()).collect();
    assert_eq!(ids, ["r-00000001", "r-00000002", "r-00000002-2"]);
    let steps: Vec<(u64, &str)> =
        deliberation.steps[1..].iter().map(|step| (step.step, step.inputs_used[0].as_str())).collect();
    assert_eq!(steps, [(8, "r-00000001"), (9, "r-00000002-2")]);
}

#[test]
fn trackers_come_back() {
    let answers = HostAnswers::default();
    let mut tracker = DeliberationTracker::default();
    let call = call(NOBODY, None, NOW, &answers);
    let found = vec![RelatedDecision {
        id: "x".to_owned(),
        summary: "s".to_owned(),
        distance: 0.25,
        ..RelatedDecision::default()
    }];
    tracker.track_query(&call, "q", 1, "hybrid", found);
    tracker.track_stats(&call, 3, 2, Some(1.5));
    tracker.track_lookup(&call, "x", "title");
    tracker.trace_id(&call);
    assert_eq!(DeliberationTracker::from_value(tracker.to_value(), "").unwrap(), tracker);
    for (bad, path) in [
        (json!([]), "/t"),
        (json!({ "keys": [{ "key": "k", "inputs": [{ "kind": "z" }] }] }), "/t/keys/0/inputs/0/kind"),
        (json!({ "keys": vec![json!({ "key": "k" }); 1001] }), "/t"),
    ] {
        assert_eq!(DeliberationTracker::from_value(bad, "/t").unwrap_err().path(), path);
    }
}
