//! The running prompt: between two cuts each prompt is the one before and what is new, byte for byte, and a cut has a reason that
//! holds.

use std::collections::{BTreeMap, HashSet};

use contextweaver_base::ErrorCode;
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{
    BuildRequest, BuiltMessages, ContextManager, Conversation, JournalOptions, ManagerOptions, PriceModel,
};
use contextweaver_convert::providers::{Format, WriteOptions, items_to_messages};
use contextweaver_model::{ContextItem, ContextPack, ItemKind, Phase, RenderedAs, RunningStep, Sensitivity};
use contextweaver_test_support::property;
use contextweaver_text::tokens::Estimator;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};

use crate::support::{self, build, log, setup};
use crate::{provider_logs, provider_rules};

/// As adapters write messages.
const WRITE: WriteOptions = WriteOptions { close_calls: true, is_steady: false };

/// How a prompt is sent: as text, or as messages.
type Form = Option<Format>;

fn form() -> impl Strategy<Value = Form> {
    prop::option::weighted(0.85, prop::sample::select(Format::ALL.to_vec()))
}

/// What happens between two prompts.
#[derive(Debug, Clone)]
enum Event {
    Nothing,
    /// The next prompts have another budget.
    Budget(u64),
    /// Other instructions.
    Header(u8),
    /// Another model or other tools.
    Head(u8),
    /// Seconds, forwards or back.
    Time(i32),
    Forget(usize),
}

/// What is new in a step, and what happened before it.
#[derive(Debug, Clone)]
struct Step {
    said: Vec<Said>,
    event: Event,
}

#[derive(Debug, Clone)]
enum Said {
    Text(ItemKind, usize),
    /// Calls in one go, and the words of their results.
    Calls(Vec<usize>),
}

fn said() -> impl Strategy<Value = Said> {
    let kinds = vec![ItemKind::UserTurn, ItemKind::UserTurn, ItemKind::AgentMsg, ItemKind::DocSnippet];
    let size = prop_oneof![4 => 1..40_usize, 2 => 40..300_usize, 1 => 300..2500_usize];
    prop_oneof![
        2 => (prop::sample::select(kinds), 1..60_usize).prop_map(|(kind, words)| Said::Text(kind, words)),
        3 => prop::collection::vec(size, 1..4).prop_map(Said::Calls),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => Just(Event::Nothing),
        1 => (300..6000_u64).prop_map(Event::Budget),
        1 => (0..3_u8).prop_map(Event::Header),
        1 => (0..3_u8).prop_map(Event::Head),
        1 => (-2000..2000_i32).prop_map(Event::Time),
        1 => (0..30_usize).prop_map(Event::Forget),
    ]
}

fn steps(event: impl Strategy<Value = Event>) -> impl Strategy<Value = Vec<Step>> {
    let step = (prop::collection::vec(said(), 0..4), event).prop_map(|(said, event)| Step { said, event });
    prop::collection::vec(step, 1..14)
}

/// Text of which no two of a session are the same, with what grows where it is put into JSON.
fn words(count: usize, salt: usize) -> String {
    let words = ["refund", "\"quoted\"", "line\nbreak", "{\"a\": [1, 2]}", "今日は世界", "the", "\\path", "harbour"];
    let word = |at: usize| match at % 5 {
        0 => format!("order_{salt}_{at}"),
        _ => words[(at * 7 + salt) % words.len()].to_owned(),
    };
    (0..count.max(1)).map(word).collect::<Vec<_>>().join(" ")
}

/// A session as its caller has it.
struct Session {
    manager: ContextManager,
    form: Form,
    request: BuildRequest,
    /// Everything that was said.
    items: Vec<ContextItem>,
    /// Whether the whole conversation is handed over each time, instead of what is new.
    is_synced: bool,
    /// Messages as the facade keeps them, and what goes beside them.
    sent: Vec<Value>,
    system: Option<Value>,
    text: String,
    forgotten: HashSet<String>,
}

/// A prompt of a session.
#[derive(Debug, Clone)]
struct Sent {
    messages: Vec<Value>,
    system: Option<Value>,
    text: String,
    step: RunningStep,
    tokens: u64,
    pack: ContextPack,
}

impl Session {
    fn new(form: Form, is_synced: bool, budget: u64) -> Self {
        Self::of(ManagerOptions::default(), form, is_synced, budget)
    }

    fn of(options: ManagerOptions, form: Form, is_synced: bool, budget: u64) -> Self {
        let mut manager = ContextManager::new(options);
        manager.keep_journal();
        let request = BuildRequest {
            budget_tokens: Some(budget),
            running: Some(true),
            now: Some(1e12),
            ..BuildRequest::new(Phase::Answer, "")
        };
        Self {
            manager,
            form,
            request,
            items: Vec::new(),
            // Forms without messages have no conversation to hand over.
            is_synced: is_synced && form.is_some(),
            sent: Vec::new(),
            system: None,
            text: String::new(),
            forgotten: HashSet::new(),
        }
    }

    /// Makes the items of what is said, and takes them in.
    fn say(&mut self, said: &[Said]) {
        let from = self.items.len();
        for said in said {
            let at = self.items.len();
            match said {
                Said::Text(kind, count) => {
                    self.items.push(ContextItem::new(format!("s{at}"), *kind, words(*count, at)));
                }
                Said::Calls(sizes) => {
                    let id = |n: usize| format!("call{at}x{n}");
                    for n in 0..sizes.len() {
                        let mut call =
                            ContextItem::new(id(n), ItemKind::ToolCall, json!({ "n": n, "at": at }).to_string());
                        call.metadata.insert("function_name".into(), "look_up".into());
                        self.items.push(call);
                    }
                    for (n, size) in sizes.iter().enumerate() {
                        let text = words(*size, at + 100 * n);
                        let mut result = ContextItem::new(format!("result:{}", id(n)), ItemKind::ToolResult, text);
                        result.parent_id = Some(id(n));
                        result.metadata.insert("tool_name".into(), "look_up".into());
                        self.items.push(result);
                    }
                }
            }
        }
        match self.form.filter(|_| self.is_synced) {
            Some(format) => {
                let messages = items_to_messages(&self.items, format, &WRITE).unwrap().messages;
                self.manager.sync_messages(Conversation::new(format, messages)).unwrap().done().unwrap();
            }
            None => {
                for item in &self.items[from..] {
                    match item.kind {
                        ItemKind::ToolResult => {
                            let call = item.parent_id.as_deref().unwrap();
                            support::ingest_result(&mut self.manager, call, &item.text).unwrap();
                        }
                        _ => self.manager.ingest(item.clone()).unwrap(),
                    }
                }
            }
        }
    }

    fn meet(&mut self, event: &Event) {
        match event {
            Event::Nothing => {}
            Event::Budget(budget) => self.request.budget_tokens = Some(*budget),
            Event::Header(n) => self.request.header = format!("Instructions {n} of the house."),
            Event::Head(n) => self.request.head = Some(format!("model {n}")),
            Event::Time(seconds) => self.request.now = self.request.now.map(|now| now + 1000.0 * f64::from(*seconds)),
            Event::Forget(at) => {
                // What was handed over whole would come back with the next conversation.
                let id = self.manager.events().items().get(*at).map(|item| item.id.clone());
                if let Some(id) = id.filter(|_| !self.is_synced) {
                    self.manager.forget(&id).unwrap();
                    self.forgotten.insert(id);
                }
            }
        }
    }

    /// Makes the next prompt as the facade does: of messages only what is behind those that it has.
    fn send(&mut self) -> contextweaver_base::Result<Sent> {
        let Some(format) = self.form else {
            let pack = build(&mut self.manager, &self.request)?;
            self.text.clone_from(&pack.prompt);
            let step = pack.running.clone().unwrap();
            let tokens = pack.stats.prompt_tokens.unwrap();
            return Ok(Sent { messages: Vec::new(), system: None, text: self.text.clone(), step, tokens, pack });
        };
        let request = BuildRequest { handed_out: Some(self.sent.len()), ..self.request.clone() };
        let built = messages(&mut self.manager, &request, format)?;
        self.take(&built);
        let step = built.step.unwrap();
        let pack = self.manager.running_record(Phase::Answer, step.step)?;
        assert_eq!(pack.stats, built.stats, "the numbers are those of the record");
        let (messages, system) = (self.sent.clone(), self.system.clone());
        Ok(Sent { messages, system, text: String::new(), step, tokens: built.tokens, pack })
    }

    fn take(&mut self, built: &BuiltMessages) {
        assert!(built.keep <= self.sent.len());
        self.sent.truncate(built.keep);
        self.sent.extend(built.written.messages.iter().cloned());
        if built.written.system.is_some() || built.keep == 0 {
            self.system.clone_from(&built.written.system);
        }
    }

    /// Goes on in another process, from a snapshot or a journal.
    fn restart(&mut self, by_journal: bool) {
        let options = self.manager.options().clone();
        self.manager = if by_journal {
            let export = self.manager.export_since(None, &JournalOptions::default()).unwrap();
            let blobs: BTreeMap<String, Vec<u8>> = export
                .blobs
                .iter()
                .map(|blob| (blob.hash.clone(), self.manager.artifacts().peek(&blob.handle).unwrap().to_vec()))
                .collect();
            let read = |hash: &str| blobs.get(hash).map(Vec::as_slice);
            ContextManager::restore_journal(&export.parts.join("\n"), options, read).unwrap().manager
        } else {
            let snapshot = serde_json::from_str(&json!(self.manager.snapshot()).to_string()).unwrap();
            ContextManager::from_json(snapshot, options).unwrap()
        };
        self.manager.keep_journal();
        (self.sent, self.system) = (Vec::new(), None);
    }
}

fn messages(
    manager: &mut ContextManager,
    request: &BuildRequest,
    format: Format,
) -> contextweaver_base::Result<BuiltMessages> {
    match manager.build_messages(request, format, WRITE)? {
        Outcome::Done(built) => Ok(built),
        Outcome::Need(needs) => panic!("nobody to ask: {needs:?}"),
    }
}

/// The parts of a message that may still grow at its end; the rest stays as it is. A text alone is one part: so Anthropic reads it.
fn parts(message: &Value) -> Option<(Vec<Value>, Value)> {
    if let Value::String(text) = &message["content"] {
        let mut rest = message.clone();
        rest["content"] = Value::Null;
        return Some((vec![json!({ "type": "text", "text": text })], rest));
    }
    let key = ["parts", "content"].into_iter().find(|key| message[*key].is_array())?;
    let mut rest = message.clone();
    let parts = rest[key].take().as_array().cloned()?;
    Some((parts, rest))
}

/// Checks that a prompt begins with the one before.
fn is_continued(before: &Sent, after: &Sent, form: Form) -> TestCaseResult {
    let Some(format) = form else {
        prop_assert!(after.text.starts_with(&before.text), "{:?}\n{:?}", before.text, after.text);
        return Ok(());
    };
    prop_assert_eq!(&before.system, &after.system);
    prop_assert!(after.messages.len() >= before.messages.len(), "{} {}", before.messages.len(), after.messages.len());
    for (at, message) in before.messages.iter().enumerate() {
        let next = &after.messages[at];
        let (was, is) = (message.to_string(), next.to_string());
        if was == is {
            continue;
        }
        let may_grow = matches!(format, Format::Anthropic | Format::Gemini | Format::AiSdkUi | Format::AiSdkModel);
        prop_assert!(
            may_grow && at + 1 == before.messages.len(),
            "message {at} of {}:\n{was}\n{is}",
            before.messages.len()
        );
        let (Some((was, head)), Some((is, next_head))) = (parts(message), parts(next)) else {
            return Err(TestCaseError::fail(format!("{was}\n{is}")));
        };
        prop_assert_eq!(head, next_head);
        prop_assert!(
            is.len() >= was.len() && json!(is[..was.len()]).to_string() == json!(was).to_string(),
            "{was:?}\n{is:?}"
        );
    }
    Ok(())
}

fn keeps_the_rules(sent: &Sent, form: Form) -> TestCaseResult {
    let verdict = match form {
        None => Ok(()),
        Some(Format::Anthropic) => provider_logs::rules::anthropic(&sent.messages),
        Some(Format::Gemini) => provider_logs::rules::gemini(&sent.messages),
        Some(format) => provider_rules::check(&sent.messages, sent.system.as_ref(), format),
    };
    prop_assert!(verdict.is_ok(), "{} in {}", verdict.unwrap_err(), json!(sent.messages));
    Ok(())
}

/// Tokens that items take whole, written for themselves.
fn whole_tokens(items: &[ContextItem], form: Form) -> u64 {
    let mut manager = ContextManager::new(ManagerOptions::default());
    manager.ingest_all(items.to_vec()).unwrap();
    let request =
        BuildRequest { budget_tokens: Some(1 << 20), running: Some(false), ..BuildRequest::new(Phase::Answer, "") };
    match form {
        None => build(&mut manager, &request).unwrap().stats.prompt_tokens.unwrap(),
        Some(format) => messages(&mut manager, &request, format).unwrap().tokens,
    }
}

fn accounts_for_all(session: &Session, sent: &Sent) -> TestCaseResult {
    let stats = &sent.pack.stats;
    prop_assert_eq!(stats.included_count + stats.dropped_count, stats.total_candidates);
    let mut seen: HashSet<&str> = sent.pack.items.iter().flatten().map(|item| item.id.as_str()).collect();
    prop_assert_eq!(seen.len() as u64, stats.included_count);
    for drop in &stats.dropped_items {
        prop_assert!(seen.insert(&drop.item_id), "{} twice", drop.item_id);
        prop_assert!(drop.stage.is_some() && drop.tokens.is_some() && !drop.reason.is_empty());
    }
    let policy = &session.manager.options().policy;
    let live = session.manager.events().items().iter().filter(|item| !item.is_superseded());
    let expected: HashSet<&str> =
        live.filter(|item| policy.allows(Phase::Answer, item.kind)).map(|item| item.id.as_str()).collect();
    prop_assert!(expected.is_subset(&seen), "nowhere: {:?}", expected.difference(&seen).collect::<Vec<_>>());
    Ok(())
}

/// What the caller knows of a step before it is made.
struct Known {
    before: Option<Sent>,
    budget: u64,
    is_new_budget: bool,
    is_new_header: bool,
    is_new_head: bool,
    /// Seconds since the call before.
    seconds: f64,
    is_edited: bool,
    /// Tokens of what is new, if it stood whole.
    new: u64,
}

fn reason_holds(sent: &Sent, known: &Known) -> TestCaseResult {
    let Known { before, budget, is_new_budget, is_new_header, is_new_head, seconds, is_edited, new } = known;
    let Some(reason) = sent.step.cut else { return Ok(()) };
    let Some(before) = before else {
        prop_assert_eq!(reason, "first");
        return Ok(());
    };
    // What comes back by the way has some tokens as well.
    let next = before.tokens + new + 200;
    let holds = match reason {
        "full" => next > *budget,
        "pays" => next >= 16_000,
        "cold" => *is_new_head || *seconds > 300.0,
        "budget" => *is_new_budget,
        "instructions" => *is_new_header,
        "edited" => *is_edited,
        _ => false,
    };
    prop_assert!(holds, "{reason}: {} and {new} of {budget}, {seconds} s", before.tokens);
    Ok(())
}

proptest! {
    #![proptest_config(property(600))]

    /// R1, P1, P2, P4: every prompt is the one before and what is new, until a cut whose reason holds; each fits, keeps the rules of
    /// its provider and accounts for every item. A step made again sends the same bytes, and what is handed out in parts is what is
    /// written whole.
    #[test]
    fn p10_what_was_sent_stays_until_a_cut_with_a_reason(
        steps in steps(event()),
        form in form(),
        budget in prop_oneof![150..800_u64, 800..5000_u64, 5000..30_000_u64],
        is_synced: bool,
        again in any::<u16>(),
    ) {
        let mut session = Session::new(form, is_synced, budget);
        let mut before: Option<Sent> = None;
        for (n, Step { said, event }) in steps.iter().enumerate() {
            let was = session.request.clone();
            let forgotten = session.forgotten.len();
            session.meet(event);
            let from = session.items.len();
            session.say(said);
            let known = Known {
                budget: session.request.budget_tokens.unwrap(),
                is_new_budget: session.request.budget_tokens != was.budget_tokens,
                is_new_header: session.request.header != was.header,
                is_new_head: session.request.head != was.head,
                seconds: (session.request.now.unwrap() - was.now.unwrap()) / 1000.0,
                is_edited: session.forgotten.len() > forgotten,
                new: whole_tokens(&session.items[from..], form),
                before: before.clone(),
            };
            let sent = match session.send() {
                Ok(sent) => sent,
                Err(error) => {
                    prop_assert_eq!(error.code(), ErrorCode::BudgetExceeded, "{}", error);
                    // What changed in a step that failed is a reason for the next one.
                    return Ok(());
                }
            };
            prop_assert!(sent.tokens <= known.budget && sent.step.tokens <= known.budget, "{} of {}", sent.tokens, known.budget);
            reason_holds(&sent, &known)?;
            if let Some(before) = before.as_ref().filter(|_| sent.step.cut.is_none()) {
                is_continued(before, &sent, form)?;
                prop_assert_eq!(sent.step.repeated_tokens, before.step.tokens.min(sent.step.tokens));
            } else {
                prop_assert_eq!(sent.step.repeated_tokens, 0);
            }
            keeps_the_rules(&sent, form)?;
            accounts_for_all(&session, &sent)?;
            if again >> (n % 16) & 1 == 1 {
                // As one that was lost on its way, by a caller that kept nothing.
                let (held, system) = (std::mem::take(&mut session.sent), session.system.take());
                let retried = session.send().unwrap();
                prop_assert_eq!(retried.step.cut, None);
                prop_assert_eq!(json!(retried.messages).to_string(), json!(held).to_string());
                prop_assert_eq!((&retried.system, &retried.text), (&system, &sent.text));
                before = Some(retried);
            } else {
                before = Some(sent);
            }
        }
    }

    /// P6, R11: one process, one that is restarted between all steps, and one that is given each step's items in one go send the
    /// same bytes.
    #[test]
    fn p6_a_session_goes_on_with_the_same_bytes_in_another_process(
        steps in steps(Just(Event::Nothing)),
        form in form(),
        budget in prop_oneof![300..800_u64, 800..5000_u64],
        restarts in any::<u32>(),
    ) {
        let mut sessions = [(); 3].map(|()| Session::new(form, false, budget));
        for (n, step) in steps.iter().enumerate() {
            let mut all = Vec::new();
            for (which, session) in sessions.iter_mut().enumerate() {
                if which == 1 {
                    session.restart(restarts >> (n % 32) & 1 == 1);
                }
                session.say(&step.said);
                all.push(session.send());
            }
            let told = |sent: &contextweaver_base::Result<Sent>| match sent {
                Ok(sent) => json!([sent.messages, sent.system, sent.text, sent.step, sent.tokens]).to_string(),
                Err(error) => error.to_json().to_string(),
            };
            prop_assert_eq!(told(&all[1]), told(&all[0]), "step {}", n);
            prop_assert_eq!(told(&all[2]), told(&all[0]), "step {}", n);
            if all[0].is_err() {
                return Ok(());
            }
        }
        let costs = sessions[0].manager.costs();
        prop_assert_eq!(sessions[1].manager.costs(), costs);
    }

    /// R2: as long as everything fits, every item is there whole and in order, as the provider's SDK would have sent it.
    #[test]
    fn r2_what_fits_is_sent_as_it_is(steps in steps(Just(Event::Nothing)), form in form(), is_synced: bool) {
        let mut session = Session::new(form, is_synced, 400_000);
        let mut is_first = true;
        for step in &steps {
            session.say(&step.said);
            let sent = session.send().unwrap();
            prop_assert_eq!(sent.step.cut, std::mem::take(&mut is_first).then_some("first"));
            prop_assert!(!sent.step.hides && sent.pack.stats.dropped_count == 0);
            prop_assert!(sent.step.tokens <= sent.step.tokens_without);
            // A cache is read in steps of some tokens, and what stands there may end on either side of one.
            prop_assert!(sent.step.cost <= sent.step.cost_without + 128.0, "{:?}", sent.step);
            for item in sent.pack.items.iter().flatten() {
                prop_assert_eq!(item.rendered_as, RenderedAs::Whole);
                prop_assert!(!item.recalled);
            }
            prop_assert_eq!(sent.pack.items.as_ref().unwrap().len(), session.items.len());
            for item in &session.items {
                let text = json!(item.text).to_string();
                let all = if form.is_some() { json!(sent.messages).to_string() } else { json!(sent.text).to_string() };
                let stands = item.kind == ItemKind::ToolCall || all.contains(&text[1..text.len() - 1]);
                prop_assert!(stands, "{text} in {all}");
            }
        }
    }

    /// R3: a result of up to half of the budget stands whole when it is first sent, however little room there was.
    #[test]
    fn r3_what_was_just_fetched_stands_whole(
        sizes in prop::collection::vec(1..2000_usize, 1..14),
        form in form(),
        budget in 3000..12_000_u64,
    ) {
        let mut session = Session::new(form, false, budget);
        session.say(&[Said::Text(ItemKind::UserTurn, 20)]);
        for size in sizes {
            let from = session.items.len();
            session.say(&[Said::Calls(vec![size])]);
            let sent = session.send().unwrap();
            let result = session.items.last().unwrap();
            let whole = whole_tokens(&session.items[from..], form);
            if 2 * whole <= budget {
                let shown = sent.pack.items.iter().flatten().find(|item| item.id == result.id).unwrap();
                prop_assert_eq!(shown.rendered_as, RenderedAs::Whole, "{} of {}: {:?}", whole, budget, sent.step);
                let text = json!(result.text).to_string();
                let all = if form.is_some() { json!(sent.messages).to_string() } else { json!(sent.text).to_string() };
                prop_assert!(all.contains(&text[1..text.len() - 1]));
            }
        }
    }

    /// P7: raw results stay readable by their handles, whatever prompts make of them.
    #[test]
    fn p7_no_step_changes_what_is_stored(steps in steps(Just(Event::Nothing)), form in form(), budget in 300..3000_u64) {
        let mut session = Session::new(form, false, budget);
        for step in &steps {
            session.say(&step.said);
            let _ = session.send();
        }
        for item in session.items.iter().filter(|item| item.kind == ItemKind::ToolResult) {
            let handle = format!("artifact:{}", item.id);
            prop_assert_eq!(session.manager.artifacts().get(&handle).unwrap(), item.text.as_bytes());
        }
    }

    /// P8: a step that fails changes nothing, and the next one sends what it would have sent without.
    #[test]
    fn p8_a_step_that_fails_changes_nothing(steps in steps(Just(Event::Nothing)), form in form(), budget in 300..3000_u64) {
        let [mut session, mut other] = [(); 2].map(|()| Session::new(form, false, budget));
        for step in &steps {
            session.say(&step.said);
            other.say(&step.said);
            let before = json!(session.manager.snapshot());
            let header = "x ".repeat(64);
            let request = BuildRequest { budget_tokens: Some(1), header, ..session.request.clone() };
            let request = std::mem::replace(&mut session.request, request);
            prop_assert_eq!(session.send().unwrap_err().code(), ErrorCode::BudgetExceeded);
            session.request = BuildRequest { pin: vec!["nobody".into()], ..request.clone() };
            prop_assert_eq!(session.send().unwrap_err().code(), ErrorCode::NotFound);
            session.request = request;
            prop_assert_eq!(json!(session.manager.snapshot()), before);
            match (session.send(), other.send()) {
                (Ok(one), Ok(two)) => {
                    prop_assert_eq!(json!(one.messages), json!(two.messages));
                    prop_assert_eq!((one.text, one.step), (two.text, two.step));
                }
                (one, two) => prop_assert_eq!(one.is_err(), two.is_err()),
            }
        }
    }

    /// P5: in no step anything above the floor, and no secret, gets out.
    #[test]
    fn p5_nothing_withheld_gets_out_in_any_step(log in log(), setup in setup(), form in form()) {
        let mut session = Session::of(setup.options.clone(), form, false, setup.request.budget_tokens.unwrap());
        session.request.explain = true;
        for fact in &log.facts {
            session.manager.add_fact(None, fact.clone()).unwrap();
        }
        let mut out = String::new();
        for item in &log.items {
            session.manager.ingest(item.clone()).unwrap();
            match session.send() {
                Ok(sent) => out += &json!([sent.messages, sent.system, sent.text, sent.pack]).to_string(),
                Err(error) => out += &error.to_json().to_string(),
            }
        }
        let floor = setup.options.policy.sensitivity_floor;
        for (text, _) in log.texts().filter(|(_, level)| *level >= floor) {
            prop_assert!(!out.contains(support::marker(text)), "{} got out", support::marker(text));
        }
        for secret in support::SECRETS.iter().filter(|_| setup.options.redact_secrets) {
            prop_assert!(!out.contains(secret), "{secret} got out");
        }
    }
}
