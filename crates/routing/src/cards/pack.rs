//! Cards that are within a budget all together.

use serde::Serialize;

use super::limits::longest_beginning;
use super::{CardStyle, ChoiceCard, render_cards, truncate_description};
use contextweaver_base::{Error, ErrorCode, Result};

/// Tokens a description keeps before another card is left out for its sake.
const LEAST_DESCRIPTION: u64 = 8;

/// Cards within a budget, and what that took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PackedCards {
    /// The cards, in their order.
    pub cards: Vec<ChoiceCard>,
    /// The cards as text.
    pub text: String,
    /// Tokens of the text.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub tokens: u64,
    /// Ids of cards that were shortened.
    pub shortened: Vec<String>,
    /// Ids of cards that were left out.
    pub dropped: Vec<String>,
}

/// Keeps as many cards in their order as the budget has room for, as text: descriptions are shortened down to a few
/// words before a card is left out from the end.
///
/// The first card always stays, without description and tags if need be. No card makes an empty text.
///
/// # Errors
///
/// Fails with `BUDGET_EXCEEDED` and the detail `over_by` when even its id does not fit.
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
/// use contextweaver_routing::{CardOptions, CardStyle, make_choice_cards, pack_cards};
/// use contextweaver_text::tokens::Estimator;
///
/// let count = |text: &str| Estimator::V3.tokens(text);
/// let made = make_choice_cards(catalog.items(), None, &CardOptions::default(), &count);
/// let packed = pack_cards(&made.cards, 20, CardStyle::default(), &count)?;
/// assert!(packed.tokens <= 20);
/// assert!(packed.text.contains("files.read"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn pack_cards(
    cards: &[ChoiceCard],
    budget_tokens: u64,
    style: CardStyle,
    count: &dyn Fn(&str) -> u64,
) -> Result<PackedCards> {
    let cost = |cards: &[ChoiceCard]| count(&render_cards(cards, style));
    let fits = |kept: usize, description: u64| cost(&shortened(cards, kept, description, count)) <= budget_tokens;
    if cost(cards) <= budget_tokens {
        return Ok(packed(cards.to_vec(), cards, style, count));
    }
    let kept = most(1, cards.len(), &|kept| fits(kept, LEAST_DESCRIPTION));
    if kept == 0 || !fits(kept, 0) {
        return first_alone(cards, budget_tokens, style, count);
    }
    let longest = cards[..kept].iter().map(|card| count(&card.description)).max().unwrap_or(0);
    let description = most(0, longest as usize, &|description| fits(kept, description as u64));
    Ok(packed(shortened(cards, kept, description as u64, count), cards, style, count))
}

/// Returns the largest number of a range for which something holds, 0 when it holds for none; larger is harder.
///
/// A caller's count need not grow with the text, so nothing is returned that was not tried, but for 0.
fn most(least: usize, most: usize, holds: &dyn Fn(usize) -> bool) -> usize {
    let (mut good, mut bad) = (0, most + 1);
    let mut next = least.max(1);
    while next < bad {
        if holds(next) {
            good = next;
        } else {
            bad = next;
        }
        next = usize::midpoint(good, bad).max(good + 1);
    }
    good
}

/// Returns the first cards with descriptions of at most so many tokens.
fn shortened(cards: &[ChoiceCard], kept: usize, description: u64, count: &dyn Fn(&str) -> u64) -> Vec<ChoiceCard> {
    let cut = |card: &ChoiceCard| ChoiceCard {
        description: truncate_description(&card.description, description, count),
        ..card.clone()
    };
    cards[..kept].iter().map(cut).collect()
}

/// Keeps the first card: with the beginning of its description, without, or without tags.
fn first_alone(
    cards: &[ChoiceCard],
    budget_tokens: u64,
    style: CardStyle,
    count: &dyn Fn(&str) -> u64,
) -> Result<PackedCards> {
    let Some(first) = cards.first() else {
        return Ok(PackedCards::default());
    };
    let with = |description: &str| {
        let mark = if description.is_empty() { "" } else { "…" };
        ChoiceCard { description: description.trim_end().to_owned() + mark, ..first.clone() }
    };
    let cost = |card: &ChoiceCard| count(&render_cards(std::slice::from_ref(card), style));
    let end = longest_beginning(&first.description, &|part| cost(&with(part)) <= budget_tokens);
    let bare = ChoiceCard { tags: Vec::new(), ..with("") };
    let card = [with(&first.description[..end]), with(""), bare.clone()];
    if let Some(card) = card.into_iter().find(|card| cost(card) <= budget_tokens) {
        return Ok(packed(vec![card], cards, style, count));
    }
    let over = cost(&bare).saturating_sub(budget_tokens);
    let message = format!("the first card alone is {over} tokens over the budget of {budget_tokens}");
    Err(Error::new(ErrorCode::BudgetExceeded, message).detail("over_by", over))
}

/// Says what became of the cards.
fn packed(kept: Vec<ChoiceCard>, all: &[ChoiceCard], style: CardStyle, count: &dyn Fn(&str) -> u64) -> PackedCards {
    let ids = |cards: &mut dyn Iterator<Item = &ChoiceCard>| cards.map(|card| card.id.clone()).collect();
    let text = render_cards(&kept, style);
    PackedCards {
        tokens: count(&text),
        text,
        shortened: ids(&mut kept.iter().zip(all).filter(|(kept, card)| kept != card).map(|(kept, _)| kept)),
        dropped: ids(&mut all[kept.len()..].iter()),
        cards: kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contextweaver_text::tokens::Estimator;

    fn count(text: &str) -> u64 {
        Estimator::V3.tokens(text)
    }

    fn card(id: &str, description: &str) -> ChoiceCard {
        let text = |text: &str| text.to_owned();
        ChoiceCard {
            id: text(id),
            description: text(description),
            kind: text("tool"),
            tags: vec![text("tag")],
            ..ChoiceCard::default()
        }
    }

    #[test]
    fn descriptions_go_before_cards_and_the_first_stays() {
        let words = "many words that say what this tool does in great detail ".repeat(3);
        let cards: Vec<ChoiceCard> = ["one", "two", "three"].into_iter().map(|id| card(id, &words)).collect();
        let pack = |budget| pack_cards(&cards, budget, CardStyle::default(), &count);
        let all = pack(1000).unwrap();
        assert_eq!((all.cards.len(), all.shortened.len(), all.dropped.len()), (3, 0, 0));
        let short = pack(100).unwrap();
        assert_eq!((short.cards.len(), short.shortened.len(), short.dropped.len()), (3, 3, 0));
        assert!((90..=100).contains(&short.tokens), "{}", short.tokens);
        let fewer = pack(45).unwrap();
        assert_eq!(fewer.dropped, ["three"]);
        let one = pack(14).unwrap();
        assert_eq!((one.dropped.len(), one.cards[0].tags.len()), (2, 1), "{}", one.text);
        let bare = pack(5).unwrap();
        assert_eq!(bare.text, "[1/1] one (tool)");
        let error = pack(2).unwrap_err();
        assert_eq!((error.code(), &error.details()["over_by"]), (ErrorCode::BudgetExceeded, &3.into()));
        assert_eq!(pack_cards(&[], 0, CardStyle::default(), &count).unwrap(), PackedCards::default());
    }
}
