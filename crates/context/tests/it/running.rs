//! The running prompt: between two cuts each prompt is the one before and what is new, byte for byte, and a cut has a reason that
//! holds.

use std::collections::{BTreeMap, HashSet};

use contextweaver_base::ErrorCode;
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{
    BuildRequest, BuiltMessages, ContextManager, Conversation, JournalOptions, ManagerOptions, PriceModel,
};
use contextweaver_convert::providers::{Format, WriteOptions, items_to_messages};
use contextweaver_model::{ContextItem, ContextPack, CutReason, ItemKind, Phase, RenderedAs, RunningStep, Sensitivity};
use contextweaver_test_support::{is_long, property};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};

use crate::support::{self, build, log, setup};
use crate::{provider_logs, provider_rules};

/// As adapters write messages.
const WRITE: WriteOptions = WriteOptions { close_calls: true, is_steady: false, thought_signatures: false };

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
pub fn words(count: usize, salt: usize) -> String {
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
    /// How often something was forgotten.
    forgotten: usize,
    /// The conversation as it was handed over last, and whether one of its messages is another one since.
    handed_over: Vec<Value>,
    is_changed: bool,
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
            forgotten: 0,
            handed_over: Vec::new(),
            is_changed: false,
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
                self.is_changed = !goes_on(&self.handed_over, &messages);
                self.handed_over.clone_from(&messages);
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
                    self.forgotten += 1;
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

pub fn messages(
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

/// Tells whether a conversation is the one before and more. What two say in a row is one message of some formats: of the user it
/// goes on, of others it is another message then.
fn goes_on(before: &[Value], now: &[Value]) -> bool {
    let Some((last, earlier)) = before.split_last() else { return true };
    let Some(grown) = now.get(earlier.len()).filter(|_| now.starts_with(earlier)) else { return false };
    if grown == last {
        return true;
    }
    let is_longer = match (parts(last), parts(grown)) {
        (Some((before, rest)), Some((now, others))) => now.starts_with(&before) && rest == others,
        _ => false,
    };
    is_longer && last["role"] == "user"
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
            is.len() >= was.len() && format!("{:?}", &is[..was.len()]) == format!("{was:?}"),
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
    /// The reasons that the caller gave.
    given: Vec<CutReason>,
    /// Seconds since the call before.
    seconds: f64,
    /// Tokens of what is new, if it stood whole.
    new: u64,
}

fn reason_holds(sent: &Sent, known: &Known) -> TestCaseResult {
    let Known { before, budget, given, seconds, new } = known;
    let Some(reason) = sent.step.cut else { return Ok(()) };
    let Some(before) = before else {
        prop_assert_eq!(reason, CutReason::First);
        return Ok(());
    };
    // What comes back by the way has some tokens as well.
    let next = before.tokens + new + 200;
    let holds = match reason {
        CutReason::Full => next > *budget,
        CutReason::Pays => next >= 16_000,
        CutReason::Cold if *seconds > 300.0 => true,
        other => given.contains(&other),
    };
    prop_assert!(holds, "{reason}: {} and {new} of {budget}, {seconds} s", before.tokens);
    Ok(())
}

proptest! {
    #![proptest_config(property(300))]

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
            let forgotten = session.forgotten;
            session.meet(event);
            let from = session.items.len();
            session.say(said);
            let known = Known {
                budget: session.request.budget_tokens.unwrap(),
                given: [
                    (CutReason::Budget, session.request.budget_tokens != was.budget_tokens),
                    (CutReason::Instructions, session.request.header != was.header || session.is_changed),
                    (CutReason::Cold, session.request.head != was.head),
                    (CutReason::Edited, session.forgotten > forgotten || session.is_changed),
                ]
                .into_iter()
                .filter_map(|(reason, is_given)| is_given.then_some(reason))
                .collect(),
                seconds: (session.request.now.unwrap() - was.now.unwrap()) / 1000.0,
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

}

proptest! {
    #![proptest_config(property(100))]

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
        // Without thrift nothing is cut that still fits.
        let options = ManagerOptions { thrift: 0.0, ..ManagerOptions::default() };
        let mut session = Session::of(options, form, is_synced, 400_000);
        let mut is_first = true;
        for step in &steps {
            session.say(&step.said);
            let sent = session.send().unwrap();
            let reason = if std::mem::take(&mut is_first) { Some(CutReason::First) } else { session.is_changed.then_some(CutReason::Edited) };
            prop_assert_eq!(sent.step.cut, reason);
            prop_assert!(!sent.step.hides && sent.pack.stats.dropped_count == 0);
            prop_assert!(sent.step.tokens <= sent.step.tokens_without);
            // A cache is read in steps of some tokens, and what stands there may end on either side of one.
            let is_dearer = sent.step.cost > sent.step.cost_without + 128.0;
            prop_assert!(!is_dearer || session.is_changed, "{:?}", sent.step);
            for item in sent.pack.items.iter().flatten() {
                prop_assert_eq!(item.rendered_as, RenderedAs::Whole);
                prop_assert!(!item.recalled);
            }
            prop_assert!(session.is_synced || sent.pack.items.as_ref().unwrap().len() == session.items.len());
            let all = if form.is_some() { json!(sent.messages).to_string() } else { json!(sent.text).to_string() };
            for item in &session.items {
                let text = json!(item.text).to_string();
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

pub fn turn(id: &str, text: &str) -> ContextItem {
    ContextItem::new(id, ItemKind::UserTurn, text)
}

pub fn loop_of(budget: u64) -> BuildRequest {
    BuildRequest { budget_tokens: Some(budget), running: Some(true), ..BuildRequest::new(Phase::Answer, "") }
}

/// P11: a step that cuts nothing costs what is new, however long the log is.
#[test]
fn p11_a_step_costs_what_is_new() {
    for format in [None, Some(Format::OpenAiChat), Some(Format::Anthropic)] {
        let work = [1000, 10_000].map(|count| {
            let mut session =
                Session::of(ManagerOptions { thrift: 0.0, ..ManagerOptions::default() }, format, false, 2_000_000);
            let items = (0..count).map(|n| turn(&format!("u{n}"), &words(12, n))).collect();
            session.manager.ingest_all(items).unwrap();
            session.send().unwrap();
            session.manager.ingest(turn("more", "and the harbour?")).unwrap();
            let sent = session.send().unwrap();
            assert_eq!(sent.step.cut, None);
            session.manager.last_work()
        });
        assert!(work[1] <= work[0] && work[0] < 20, "{work:?}");
    }
}

/// The prices of a session by a model of its own: what repeats the call before, in steps of the cache from its least length on, is
/// read at the price of a cached token, and the rest written.
fn price(prices: &PriceModel, tokens: u64, repeated: u64) -> f64 {
    let hit = if repeated < prices.least_tokens { 0 } else { repeated - repeated % prices.step_tokens };
    (tokens - hit) as f64 * prices.written + hit as f64 * prices.cached
}

proptest! {
    #![proptest_config(property(60))]

    /// R7: each step says what it cost and would have cost, and the sums are those of the steps.
    #[test]
    fn r7_the_account_is_that_of_the_steps(
        steps in steps(Just(Event::Nothing)),
        form in form(),
        budget in prop_oneof![600..3000_u64, 3000..20_000_u64],
        provider in prop::sample::select(vec!["openai", "anthropic", "gemini", "deepseek"]),
    ) {
        let prices = PriceModel::named(provider).unwrap();
        let mut session = Session::of(ManagerOptions { prices: Some(prices), ..ManagerOptions::default() }, form, false, budget);
        let (mut sent, mut whole, mut cost, mut without) = (0, 0, 0.0, 0.0);
        for (n, step) in steps.iter().enumerate() {
            session.say(&step.said);
            let Ok(made) = session.send() else { return Ok(()) };
            let step = made.step;
            let repeated = if step.cut.is_some() { 0 } else { sent };
            prop_assert_eq!((step.step, step.repeated_tokens), (n as u64 + 1, repeated));
            prop_assert!((step.cost - price(&prices, step.tokens, repeated)).abs() < 1e-6, "{step:?}");
            let known = if n == 0 { 0 } else { whole };
            prop_assert!(step.tokens_without >= known, "a conversation only grows");
            prop_assert!((step.cost_without - price(&prices, step.tokens_without, known)).abs() < 1e-6, "{step:?} after {known}");
            (sent, whole) = (step.tokens, step.tokens_without);
            (cost, without) = (cost + step.cost, without + step.cost_without);
            let costs = session.manager.costs();
            prop_assert!((costs.cost - cost).abs() < 0.01 && (costs.cost_without - without).abs() < 0.01, "{costs:?}");
            prop_assert_eq!(costs.steps, n as u64 + 1);
        }
    }

    /// R2: a session that ends at the worst step costs at most a tenth more than without, at any budget from 4,000 on.
    #[test]
    fn r2_no_session_is_dearer_whenever_it_ends(
        sizes in prop::collection::vec((1..3_usize, 0.002..0.45_f64, prop::bool::weighted(0.2)), 1..if is_long() { 70 } else { 40 }),
        form in form(),
        budget in 4000..24_000_u64,
        provider in prop::sample::select(vec!["openai", "anthropic"]),
    ) {
        let prices = PriceModel::named(provider).unwrap();
        let mut session = Session::of(ManagerOptions { prices: Some(prices), ..ManagerOptions::default() }, form, false, budget);
        session.say(&[Said::Text(ItemKind::UserTurn, 30)]);
        for (calls, share, asks) in sizes {
            // A word has some three tokens.
            let count = (share * budget as f64 / 3.4 / calls as f64) as usize;
            session.say(&[Said::Calls(vec![count.max(1); calls])]);
            if asks {
                session.say(&[Said::Text(ItemKind::UserTurn, 12)]);
            }
            session.send().unwrap();
            let costs = session.manager.costs();
            prop_assert!(costs.cost <= 1.10 * costs.cost_without, "{:.3} after {} steps, {} cuts", costs.cost / costs.cost_without, costs.steps, costs.cuts);
        }
    }
}

#[test]
fn a_clock_that_runs_backwards_is_no_cold_cache() {
    let mut session = Session::new(Some(Format::OpenAiChat), false, 4000);
    let mut step = |now: Option<f64>, head: Option<&str>| {
        let n = session.items.len();
        session.say(&[Said::Text(ItemKind::UserTurn, 3 + n)]);
        (session.request.now, session.request.head) = (now, head.map(str::to_owned));
        session.send().unwrap().step.cut
    };
    assert_eq!(step(Some(1e12), None), Some(CutReason::First));
    assert_eq!(step(Some(0.0), None), None, "the clock was set back");
    assert_eq!(step(None, None), None, "nobody says what time it is");
    assert_eq!(step(Some(500_000.0), None), None, "within what the provider keeps, 600 s");
    assert_eq!(step(Some(1_100_001.0), None), Some(CutReason::Cold));
    assert_eq!(step(Some(f64::MAX), None), Some(CutReason::Cold));
    assert_eq!(step(Some(f64::MAX), Some("other tools")), Some(CutReason::Cold));
    assert_eq!(step(Some(f64::MAX), Some("other tools")), None);
}

#[test]
fn settings_of_running_prompts_are_checked() {
    let options = |given: Value| ManagerOptions::from_value(given).map(drop).unwrap_err();
    for (given, code, path) in [
        (json!({ "thrift": 1.5 }), ErrorCode::OutOfRange, "/thrift"),
        (json!({ "thrift": -0.1 }), ErrorCode::OutOfRange, "/thrift"),
        (json!({ "thrift": "much" }), ErrorCode::InvalidInput, "/thrift"),
        (json!({ "prices": "openia" }), ErrorCode::InvalidInput, "/prices"),
        (json!({ "prices": { "cached": -0.1 } }), ErrorCode::OutOfRange, "/prices/cached"),
        (json!({ "prices": { "written": -1 } }), ErrorCode::OutOfRange, "/prices/written"),
        (json!({ "prices": { "cache": 0.1 } }), ErrorCode::UnknownField, "/prices/cache"),
        (json!({ "append": true }), ErrorCode::UnknownField, "/append"),
    ] {
        let error = options(given.clone());
        assert_eq!((error.code(), error.path()), (code, path), "{given}");
    }
    let request = |given: Value| {
        let mut whole = json!({ "phase": "answer" });
        whole.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        BuildRequest::from_value(whole).map(drop).unwrap_err()
    };
    for (given, code, path) in [
        (json!({ "now": -1 }), ErrorCode::OutOfRange, "/now"),
        (json!({ "reserved_tokens": -1 }), ErrorCode::OutOfRange, "/reserved_tokens"),
        (json!({ "hidden_tokens": 0.5 }), ErrorCode::OutOfRange, "/hidden_tokens"),
        (json!({ "handed_out": -1 }), ErrorCode::OutOfRange, "/handed_out"),
        (json!({ "running": "yes" }), ErrorCode::InvalidInput, "/running"),
        (json!({ "head": 7 }), ErrorCode::InvalidInput, "/head"),
        (json!({ "prices": { "cached": 1.5 } }), ErrorCode::OutOfRange, "/prices/cached"),
    ] {
        let error = request(given.clone());
        assert_eq!((error.code(), error.path()), (code, path), "{given}");
    }
}

/// What stands beside a prompt takes its room, and a budget that has none for both says by how much.
#[test]
fn a_budget_that_is_too_small_says_so_and_the_next_step_works() {
    for form in [None, Some(Format::OpenAiChat), Some(Format::Anthropic)] {
        let mut session = Session::new(form, false, 2000);
        session.say(&[Said::Text(ItemKind::UserTurn, 100)]);
        let sent = session.send().unwrap();
        session.request.reserved_tokens = 1990;
        let error = session.send().unwrap_err();
        assert_eq!(error.code(), ErrorCode::BudgetExceeded);
        assert!(error.details()["over_by"].as_u64().unwrap() > 0);
        session.request.reserved_tokens = 0;
        let next = session.send().unwrap();
        assert_eq!((next.step.cut, next.messages, next.text), (None, sent.messages, sent.text));
    }
}

/// A provider without a cache gains nothing from what was sent: once not all fits, each prompt is compiled anew.
#[test]
fn without_a_cache_each_prompt_is_made_anew() {
    let mut session = Session::new(Some(Format::OpenAiChat), false, 1500);
    session.request.prices = PriceModel::named("none");
    let mut reasons = Vec::new();
    for n in 0..12 {
        session.say(&[Said::Text(ItemKind::UserTurn, 60 + n)]);
        reasons.push(session.send().unwrap().step.cut);
    }
    let cut = reasons.iter().position(|reason| *reason == Some(CutReason::Uncached)).unwrap();
    assert_eq!((reasons[0], cut > 2), (Some(CutReason::First), true));
    assert!(
        reasons[1..cut].iter().all(Option::is_none)
            && reasons[cut..].iter().all(|reason| *reason == Some(CutReason::Uncached))
    );
}

/// A running prompt is judged by the options that it is restored with.
#[test]
fn what_may_no_longer_be_told_is_not_told_after_a_restart() {
    let text = "The salaries are 4,100 and 5,200. password=hunter22hunter";
    let open = ManagerOptions { redact_secrets: false, ..ManagerOptions::default() };
    let mut strict = open.clone();
    strict.policy.sensitivity_floor = Sensitivity::Internal;
    let masking = ManagerOptions { redact_secrets: true, ..open.clone() };
    let asking =
        ManagerOptions { classifier: contextweaver_context::Classifier::Custom("ours".to_owned()), ..open.clone() };
    for form in [None, Some(Format::OpenAiChat)] {
        let mut session = Session::of(open.clone(), form, false, 4000);
        let mut item = turn("u1", text);
        item.sensitivity = Sensitivity::Internal;
        session.manager.ingest(item).unwrap();
        let shown = |sent: &Sent| format!("{}{}", json!(sent.messages), sent.text);
        assert!(shown(&session.send().unwrap()).contains("hunter22hunter"));
        let snapshot = json!(session.manager.snapshot());
        for (options, hidden) in [(&strict, "salaries"), (&masking, "hunter22hunter")] {
            session.manager = ContextManager::from_json(snapshot.clone(), options.clone()).unwrap();
            session.sent.clear();
            let sent = session.send().unwrap();
            assert!(!shown(&sent).contains(hidden), "{}", shown(&sent));
        }
        // Labels that are asked for are waited for.
        let mut manager = ContextManager::from_json(snapshot, asking.clone()).unwrap();
        let request = loop_of(4000);
        assert!(matches!(manager.build(&request), Ok(Outcome::Need(_))));
        manager.supply(vec!["restricted".into()]).unwrap();
        let pack = manager.build(&request).unwrap().done().unwrap().pack;
        assert!(!pack.prompt.contains("salaries"), "{}", pack.prompt);
    }
}
