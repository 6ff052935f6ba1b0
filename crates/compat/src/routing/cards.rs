//! Cards as 0.18 makes, keeps and writes them.

use contextweaver_routing::cards::{CardOptions, CardStyle, ChoiceCard};

/// How cards are written: texts as they are, with scores.
pub const CARD_STYLE: CardStyle = CardStyle { scores: true, bare: true };

/// How cards are made.
pub fn card_options() -> CardOptions {
    CardOptions { redact: false, style: CARD_STYLE, ..CardOptions::default() }
}

/// Keeps cards while the estimates of their fields, not of what is written, are within the
/// budget; the first always, whatever it costs.
pub fn pack_cards(
    mut cards: Vec<ChoiceCard>,
    budget_tokens: Option<u64>,
    count: &dyn Fn(&str) -> u64,
) -> Vec<ChoiceCard> {
    let Some(budget) = budget_tokens else {
        return cards;
    };
    let mut used = 0;
    let fits = |card: &ChoiceCard| {
        let fields = [&card.id, &card.namespace, &card.name, &card.kind, &card.description];
        let parts: Vec<&str> =
            fields.into_iter().chain(&card.tags).map(String::as_str).filter(|part| !part.is_empty()).collect();
        used += count(&parts.join(" "));
        used <= budget
    };
    let kept = cards.iter().map(fits).take_while(|fits| *fits).count();
    cards.truncate(kept.max(1));
    cards
}
