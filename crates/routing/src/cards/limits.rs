//! Cards that are small one by one.

use serde::Serialize;

use super::{CardStyle, ChoiceCard, card_line, card_tokens};
use contextweaver_base::order::sort_by;
use contextweaver_model::SelectableItem;
use contextweaver_text::unicode::{floor_char_boundary, is_space};

/// How tools become cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardOptions {
    /// Cards at most.
    pub max_cards: usize,
    /// Tokens above which a description is shortened.
    pub target_tokens: u64,
    /// Tokens above which a tool has no card.
    pub hard_cap_tokens: u64,
    /// Whether secrets are masked.
    pub redact: bool,
    /// How cards are written, and so what they cost.
    pub style: CardStyle,
}

impl Default for CardOptions {
    fn default() -> Self {
        Self { max_cards: 20, target_tokens: 60, hard_cap_tokens: 80, redact: true, style: CardStyle::default() }
    }
}

/// The scores of tools by id.
pub type CardScores<'a> = dyn Fn(&str) -> Option<f64> + 'a;

/// A tool that has no card because even without a description it is too large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SkippedCard {
    /// The tool.
    pub id: String,
    /// Tokens of its smallest card.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub tokens: u64,
}

/// Cards, and the tools that have none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MadeCards {
    /// The cards, best first.
    pub cards: Vec<ChoiceCard>,
    /// Tools too large for a card.
    pub skipped: Vec<SkippedCard>,
}

/// Shortens a description to so many tokens: to whole sentences, or else to a cut with `…`.
pub fn truncate_description(text: &str, max_tokens: u64, count: &dyn Fn(&str) -> u64) -> String {
    if max_tokens == 0 || card_tokens(text, count) <= max_tokens {
        return if max_tokens == 0 { String::new() } else { text.to_owned() };
    }
    // A sentence ends behind a stop, so what is kept of it has no white space to trim.
    let fitting = longest_beginning(text, &|part| card_tokens(part, count) <= max_tokens);
    if let Some(end) = sentence_end(text, fitting) {
        return text[..end].to_owned();
    }
    let cut = longest_beginning(text, &|part| card_tokens(part, count) < max_tokens);
    text[..cut].trim_end_matches(is_space).to_owned() + "…"
}

/// Returns the length of the longest beginning that fits. A longer one never costs less, so the search is by halves.
pub(super) fn longest_beginning(text: &str, fits: &dyn Fn(&str) -> bool) -> usize {
    let (mut fitting, mut beyond) = (0, text.len() + 1);
    while fitting + 1 < beyond {
        let mut middle = floor_char_boundary(text, usize::midpoint(fitting, beyond));
        if middle <= fitting {
            // Only parts of one character are left below the middle.
            middle = text[fitting..].chars().next().map_or(beyond, |ch| fitting + ch.len_utf8());
            if middle >= beyond {
                break;
            }
        }
        if fits(&text[..middle]) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    fitting
}

/// Returns where the last sentence of a beginning ends: behind a full stop, exclamation or question mark that white
/// space or the end of the text follows.
fn sentence_end(text: &str, within: usize) -> Option<usize> {
    let mut next = text[within..].chars().next();
    for (at, ch) in text[..within].char_indices().rev() {
        if matches!(ch, '.' | '!' | '?') && next.is_none_or(is_space) {
            return Some(at + 1);
        }
        next = Some(ch);
    }
    None
}

/// Shortens the description of a card over the target; says what it costs then.
fn shorten(card: &mut ChoiceCard, target: u64, style: CardStyle, count: &dyn Fn(&str) -> u64) -> u64 {
    let cost = |card: &ChoiceCard| card_tokens(&card_line(card, 1, 1, style), count);
    let all = cost(card);
    if all <= target {
        return all;
    }
    let description = std::mem::take(&mut card.description);
    let room = target.saturating_sub(cost(card)).max(1);
    card.description = truncate_description(&description, room, count);
    cost(card)
}

/// Sorts cards by falling score, then id.
fn sort_by_score(cards: &mut [ChoiceCard]) {
    let score = |card: &ChoiceCard| card.score.unwrap_or(0.0);
    sort_by(cards, |a, b| {
        score(b).partial_cmp(&score(a)).unwrap_or(std::cmp::Ordering::Equal).then_with(|| a.id.cmp(&b.id))
    });
}

/// Makes the cards of tools: sorted by score where there are any, in their order otherwise; long descriptions are
/// shortened.
///
/// A tool whose id and tags alone are over the hard cap is skipped and reported.
///
/// # Examples
///
/// ```
/// # use contextweaver_routing::Catalog;
/// # use serde_json::json;
/// # let catalog = Catalog::from_value(json!({ "items": [
/// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
/// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
/// # ] }), "")?;
///
/// use contextweaver_routing::{CardOptions, make_choice_cards};
/// use contextweaver_text::tokens::Estimator;
///
/// let count = |text: &str| Estimator::V3.tokens(text);
/// let made = make_choice_cards(catalog.items(), None, &CardOptions::default(), &count);
/// assert_eq!(made.cards[1].id, "mail.send");
/// assert!(made.skipped.is_empty());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn make_choice_cards<'a>(
    items: impl Iterator<Item = &'a SelectableItem>,
    scores: Option<&CardScores>,
    options: &CardOptions,
    count: &dyn Fn(&str) -> u64,
) -> MadeCards {
    let score = |item: &SelectableItem| scores.and_then(|scores| scores(&item.id));
    let mut all: Vec<ChoiceCard> = items.map(|item| ChoiceCard::of(item, score(item), options.redact)).collect();
    if scores.is_some() {
        sort_by_score(&mut all);
    }
    let mut made = MadeCards::default();
    for mut card in all {
        if made.cards.len() >= options.max_cards {
            break;
        }
        let tokens = shorten(&mut card, options.target_tokens, options.style, count);
        if tokens <= options.hard_cap_tokens {
            made.cards.push(card);
        } else {
            made.skipped.push(SkippedCard { id: card.id, tokens });
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use contextweaver_text::tokens::Estimator;

    fn count(text: &str) -> u64 {
        Estimator::V2.tokens(text)
    }

    #[test]
    fn descriptions_end_with_a_sentence_or_a_mark() {
        let cases = [
            ("One. Two three four five six.", 2, "One."),
            ("One. Two. Three four five six seven", 3, "One. Two."),
            ("no sentence here at all", 3, "no sentence…"),
            ("v1.2.3 of something", 2, "v1.2.3…"),
            ("請求書を検索します。", 4, "請求書…"),
            ("abc", 0, ""),
            ("fits", 1, "fits"),
        ];
        for (text, max, wanted) in cases {
            assert_eq!(truncate_description(text, max, &count), wanted, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_shortened_in_time() {
        let text = "a. ".repeat(200_000);
        assert_eq!(truncate_description(&text, 3, &count), "a. a. a. a. a.");
    }

    #[test]
    fn a_tool_without_a_card_is_reported() {
        let item =
            |id: &str| SelectableItem { id: id.to_owned(), kind: "tool".to_owned(), ..SelectableItem::default() };
        let items = [item("ok"), item(&"x".repeat(500)), item("too")];
        let made = make_choice_cards(items.iter(), None, &CardOptions::default(), &count);
        assert_eq!(made.cards.iter().map(|card| card.id.as_str()).collect::<Vec<_>>(), ["ok", "too"]);
        assert_eq!(made.skipped.len(), 1);
        assert!(made.skipped[0].tokens > 80 && made.skipped[0].id == items[1].id);
    }
}
