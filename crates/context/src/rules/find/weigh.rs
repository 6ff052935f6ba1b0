//! How sure it is that a sentence states something that goes on to hold, and what it does.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::cues::Cues;
use super::lexicon::{self, Words};
use super::word::Word;
use super::{Statement, StatementKind, values};
use contextweaver_text::families;

/// Least weights of a statement: of one that stands by itself, and of one about the subject of an earlier one.
pub const LEAST: f32 = 2.0;
const LEAST_AGAIN: f32 = 1.0;
/// Weight that a sentence gains in a turn that says little else.
const SHORT_TURN: f32 = 0.5;
/// Words of a sentence up to which it says one thing.
const SHORT_WORDS: usize = 10;
/// Words behind one that bounds in which the number stands.
const NEAR_WORDS: usize = 3;
/// Words of a subject.
pub const MOST_SUBJECT: usize = 16;
/// Words of a sentence up to which it allows nothing.
const ANSWER_WORDS: usize = 3;
/// Words of a sentence below which it says nothing.
const LEAST_WORDS: usize = 2;

/// The clauses of a sentence by what opens them.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "a sentence may have clauses of each")]
struct Openings {
    /// A verb that orders.
    orders: bool,
    /// One that asks for something now.
    asks: bool,
    /// A negated order.
    forbids: bool,
    /// "No" before what it is about.
    denies: bool,
}

impl Openings {
    fn of(words: &Words) -> Self {
        let mut openings = Self::default();
        let mut at_start = false;
        let mut is_first_clause = true;
        for (at, word) in words.list.iter().enumerate() {
            at_start |= word.opens || at == 0;
            if !at_start {
                continue;
            }
            if word.cues.has(Cues::DONT) {
                openings.forbids = true;
            } else if word.cues.has(Cues::POLITE) && !word.cues.has(Cues::DO) {
                continue;
            } else if word.cues.has(Cues::DO) {
                openings.orders = true;
                openings.asks |= is_first_clause && word.cues.has(Cues::TASK);
            } else if word.cues.has(Cues::NOT) {
                openings.denies = true;
            }
            at_start = false;
            is_first_clause = false;
        }
        openings
    }
}

/// Weighs a sentence; none where it states nothing.
pub fn weigh(sentence: &str, range: Range<usize>, words: &Words, is_short: bool) -> Option<Statement> {
    let last = sentence.trim_end_matches(['"', '\'', ')', '”', '」', '。', ' ']);
    let is_question = last.ends_with(['?', '？', ':', '：'])
        || words.all.has(Cues::WONDERS)
        || (words.is_unspaced && words.all.has(Cues::ASK) && last.ends_with(['か', '吗', '呢', '么']));
    if is_question || (!words.is_unspaced && words.list.len() < LEAST_WORDS) {
        return None;
    }
    let openings = Openings::of(words);
    let weight = if words.is_unspaced { weight_unspaced(words) } else { weight_of(sentence, words, &openings) };
    let weight = weight + if is_short { SHORT_TURN } else { 0.0 };
    // What the speaker wants now says nothing of what was stated before.
    if weight < if words.all.has(Cues::NOW) { LEAST } else { LEAST_AGAIN } {
        return None;
    }
    Some(Statement {
        range,
        kind: kind_of(words, &openings),
        is_once: is_once(sentence, words),
        weight,
        changes: words.all.has(Cues::CHANGE.and(Cues::DROP)),
        drops: words.all.has(Cues::DROP),
        subject: subject(words),
        frame: values::frame(sentence, words),
    })
}

fn weight_of(sentence: &str, words: &Words, openings: &Openings) -> f32 {
    let has = |cue: Cues| words.all.has(cue);
    let either = |yes: bool, weight: f32| if yes { weight } else { 0.0 };
    let has_number = words.list.iter().any(Word::is_number);
    let is_bound = is_bound(words);
    let directs = openings.orders || openings.forbids || has(Cues::MUST.and(Cues::MAY).and(Cues::DONT));
    // The past tense in a condition tells no story.
    let is_told = has(Cues::PAST) && !(has(Cues::IF) && directs);
    let length = words.list.len();
    let long = if length > 45 {
        2.0
    } else if length > 30 {
        1.0
    } else {
        0.0
    };
    let told = either(is_told, 1.5) + either(has(Cues::DOUBT), 1.0) + either(has(Cues::NOW), 2.0) + long;
    let forms = words.list.iter().filter(|word| word.cues.has(Cues::FORM)).count();
    let opens_with_if = words.list.first().is_some_and(|word| word.cues.has(Cues::IF)) && sentence.contains(',');
    let mut weight = either(has(Cues::ALWAYS), 3.0) + either(has(Cues::ONLY), 1.5) + either(has(Cues::MUST), 2.0);
    weight += either(has(Cues::EACH), if directs || has(Cues::NOT) { 2.0 } else { 0.5 });
    weight += if openings.forbids { 3.0 } else { either(has(Cues::DONT), 2.0) };
    weight += if openings.denies && !is_told { 2.0 } else { either(has(Cues::NOT) && has(Cues::IS), 0.5) };
    weight += either(has(Cues::SHOULD), if has(Cues::ME) { 1.5 } else { 1.0 });
    let says_of_own =
        words.list.first().is_some_and(|word| word.cues.has(Cues::MINE)) && has(Cues::IS) && length <= SHORT_WORDS;
    weight += if says_of_own { 1.5 } else { either(has(Cues::MINE), 0.5) };
    weight += either(
        has(Cues::IF),
        match () {
            () if openings.orders || openings.forbids || (opens_with_if && directs) => 1.5,
            () if directs || (opens_with_if && !is_told) || (has(Cues::ME) && openings.orders) => 1.0,
            () => 0.5,
        },
    );
    // "That's okay" answers.
    weight += either(has(Cues::MAY) && length > ANSWER_WORDS, if has(Cues::YOU) { 2.5 } else { 1.5 });
    weight += either(has(Cues::DECIDED), 1.5) + either(has(Cues::MEANS), 2.0) + either(has(Cues::SELF), 1.5);
    // Who tells what he plans or did says numbers too.
    let bound = if is_told || has(Cues::NOW) { 1.0 } else { 2.0 };
    weight += if is_bound { bound } else { either(has(Cues::LIMIT), 0.5) };
    weight += forms.min(2) as f32 + either(has(Cues::TONGUE), 2.0);
    weight += either(has(Cues::CHANGE), 1.0) + either(has(Cues::DROP), 0.5);
    weight += either(has(Cues::ME) && (openings.orders || has(Cues::IS)), 0.5);
    // A task is for now, unless it says that it is not.
    let is_general =
        Cues::ALWAYS.and(Cues::EACH).and(Cues::ONLY).and(Cues::DONT).and(Cues::MUST).and(Cues::IF).and(Cues::CHANGE);
    let is_task = openings.asks && forms < 2 && !has(is_general.and(Cues::TONGUE).and(Cues::LIMIT).and(Cues::MAY));
    weight += either(openings.orders, if openings.asks { 0.5 } else { 1.5 }) - either(is_task, 1.5);
    weight += either(has(Cues::IS), 0.5) + either(has_number, 0.5) + either(is_defined(sentence), 2.0);
    weight += either(values::names_code(sentence, words), 1.0);
    weight += either(has_lead(sentence, words), 1.0) + either(words.is_foreign, 1.0);
    weight - told
}

fn weight_unspaced(words: &Words) -> f32 {
    let has = |cue: Cues| words.all.has(cue);
    let either = |yes: bool, weight: f32| if yes { weight } else { 0.0 };
    let mut weight = either(has(Cues::ALWAYS), 2.0) + either(has(Cues::DONT), 3.0) + either(has(Cues::MUST), 1.5);
    weight += either(has(Cues::EACH), 1.0) + either(has(Cues::ONLY), 1.0) + either(has(Cues::MAY), 2.0);
    weight += either(has(Cues::DECIDED), 2.0) + either(has(Cues::MEANS), 2.0) + either(has(Cues::SELF), 1.5);
    weight += 0.5 + either(has(Cues::LIMIT), 1.5) + either(has(Cues::FORM), 0.5) + either(has(Cues::TONGUE), 1.5);
    weight += either(has(Cues::IF), 1.0) + either(has(Cues::SHOULD), 1.0) + either(has(Cues::CHANGE), 1.0);
    weight - either(has(Cues::PAST) && !has(Cues::DECIDED), 1.0)
}

/// Tells whether a sentence is for this time alone. What stands before a colon leads to what is said.
fn is_once(sentence: &str, words: &Words) -> bool {
    if words.is_unspaced {
        return words.all.has(Cues::ONCE) && !words.all.has(Cues::ALWAYS);
    }
    let lead = if has_lead(sentence, words) { sentence.find(':').unwrap_or(0) } else { 0 };
    let is_now = words.list.iter().any(|word| word.start >= lead && word.cues.has(Cues::ONCE));
    is_now && !(words.all.has(Cues::ALWAYS) && words.all.has(Cues::CHANGE))
}

/// Tells whether a sentence begins with a term in quotation marks: it says what that is.
fn is_defined(sentence: &str) -> bool {
    let mut chars = sentence.chars();
    let is_quote = |ch: char| matches!(ch, '\'' | '"' | '“' | '„' | '«' | '‘' | '`');
    let Some(open) = chars.next().filter(|ch| is_quote(*ch)) else { return false };
    let rest = chars.as_str();
    let close = match open {
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '‘' => '’',
        other => other,
    };
    rest.find(close).is_some_and(|at| at < 40 && rest[at..].len() > 8)
}

/// Tells whether a number is a bound: a word that says so stands near it, or before it.
fn is_bound(words: &Words) -> bool {
    let has_number = words.list.iter().any(Word::is_number);
    words.list.iter().enumerate().any(|(at, word)| {
        let follows = || words.list[at + 1..].iter().take(NEAR_WORDS).any(Word::is_number);
        let is_phrase = word.cues.has(Cues::LIMIT) && word.spans > 0;
        is_phrase || (word.cues.has(Cues::LIMIT) && has_number) || (word.cues.has(Cues::PLACE) && follows())
    })
}

/// Tells whether a sentence says at its beginning, before a colon, that something is going to be said.
fn has_lead(sentence: &str, words: &Words) -> bool {
    let colon = sentence.char_indices().take_while(|(at, _)| *at < 80).find(|(_, ch)| *ch == ':');
    let Some((colon, _)) = colon.filter(|(at, _)| sentence[at + 1..].starts_with(' ') && sentence.len() > at + 8)
    else {
        return false;
    };
    let lead = || words.list.iter().take_while(|word| word.end <= colon);
    let settles = |word: &Word| word.cues.has(Cues::DECIDED.and(Cues::CHANGE).and(Cues::MUST));
    !lead().any(Word::is_number) && (lead().count() > 1 || lead().any(settles))
}

fn kind_of(words: &Words, openings: &Openings) -> StatementKind {
    let has = |cue: Cues| words.all.has(cue);
    match () {
        () if has(Cues::MEANS) => StatementKind::Definition,
        () if openings.forbids || openings.denies => StatementKind::Prohibition,
        () if has(Cues::IF) && (openings.orders || has(Cues::MUST.and(Cues::ME))) => StatementKind::Condition,
        () if has(Cues::MAY) && has(Cues::YOU) => StatementKind::Approval,
        () if has(Cues::DONT) => StatementKind::Prohibition,
        () if is_bound(words) => StatementKind::Limit,
        () if has(Cues::TONGUE) || (has(Cues::FORM) && openings.orders) => StatementKind::Format,
        () if has(Cues::DECIDED) => StatementKind::Decision,
        () if has(Cues::MAY) => StatementKind::Approval,
        () if has(Cues::SELF.and(Cues::MINE)) => StatementKind::Identity,
        () if has(Cues::FORM) => StatementKind::Format,
        () if has(Cues::ONLY) => StatementKind::Limit,
        () => StatementKind::Instruction,
    }
}

/// Returns what a sentence is about: its words with a topic, by what their forms share, languages as one.
fn subject(words: &Words) -> Vec<u64> {
    let print = |text: &str| {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        hasher.finish()
    };
    let mut found: Vec<u64> = Vec::new();
    let mut add = |text: &str| {
        let print = print(text);
        if found.len() < MOST_SUBJECT && !found.contains(&print) {
            found.push(print);
        }
    };
    if words.all.has(Cues::TONGUE) {
        add("(language)");
    }
    if words.list.iter().any(|word| lexicon::ADDRESSES.contains(&word.text.as_str())) {
        add("(address)");
    }
    if words.is_unspaced {
        for word in &words.list {
            let chars: Vec<char> = word.text.chars().collect();
            chars.windows(2).for_each(|pair| add(&pair.iter().collect::<String>()));
        }
        return found;
    }
    let functional = Cues::ALWAYS.and(Cues::EACH).and(Cues::ONLY).and(Cues::NOT).and(Cues::DONT).and(Cues::MUST);
    let functional =
        functional.and(Cues::SHOULD).and(Cues::IF).and(Cues::MAY).and(Cues::ME).and(Cues::YOU).and(Cues::CHANGE);
    let functional = functional
        .and(Cues::PAST)
        .and(Cues::ONCE)
        .and(Cues::LIMIT)
        .and(Cues::POLITE)
        .and(Cues::IS)
        .and(Cues::TONGUE)
        .and(Cues::DROP)
        .and(Cues::PLACE);
    for word in &words.list {
        let tells = word.cues.has(functional) && !word.cues.has(Cues::TOPIC);
        let is_topic = word.text.chars().count() > 2 && !word.is_common && !word.is_number() && !tells;
        if is_topic {
            let singular = word.text.strip_suffix('s').filter(|stem| stem.len() > 3 && !stem.ends_with('s'));
            let stem = singular.unwrap_or(&word.text);
            add(&families::root(stem).unwrap_or_else(|| stem.to_owned()));
        }
    }
    found
}
