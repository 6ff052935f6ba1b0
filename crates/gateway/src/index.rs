//! The tools of all servers, to be searched.

use contextweaver_base::order::SortedMap;
use contextweaver_convert::mcp::resolve_collisions;
use contextweaver_model::SelectableItem;
use contextweaver_routing::cards::{CardOptions, ChoiceCard, make_choice_cards};
use contextweaver_routing::{CardStyle, Catalog, Router, RouterOptions};
use contextweaver_text::tokens::Estimator;

use crate::front::ToolPlace;

/// Tokens to which a description is shortened, and above which a tool has no card.
const CARD: CardOptions = CardOptions {
    max_cards: 200,
    target_tokens: 60,
    hard_cap_tokens: 80,
    redact: true,
    style: CardStyle { scores: true },
};

/// The tools that may be called, by the names that clients see.
#[derive(Debug)]
pub(crate) struct ToolIndex {
    router: Router,
    places: SortedMap<String, ToolPlace>,
}

impl ToolIndex {
    /// Makes an index; of names that are the same each gets one of its own.
    pub fn of(items: Vec<(SelectableItem, ToolPlace)>) -> Self {
        let names: Vec<String> = items.iter().map(|(item, _)| item.id.clone()).collect();
        let (mut catalog, mut places) = (Catalog::new(), SortedMap::new());
        for ((mut item, place), name) in items.into_iter().zip(resolve_collisions(&names)) {
            item.id.clone_from(&name);
            // Names are distinct by now.
            if catalog.register(item).is_ok() {
                places.insert(name, place);
            }
        }
        Self { router: Router::new(catalog, RouterOptions::default()), places }
    }

    /// Returns what chooses among them.
    pub fn router(&mut self) -> &mut Router {
        &mut self.router
    }

    /// Returns the tool with a name.
    pub fn place(&self, name: &str) -> Option<ToolPlace> {
        self.places.get(name).copied()
    }

    /// Returns the names with their tools, by name.
    pub fn names(&self) -> impl Iterator<Item = (&str, ToolPlace)> {
        self.places.iter().map(|(name, place)| (name.as_str(), *place))
    }
}

/// Makes a card of each tool, in their order; one that is too large for a card has none.
pub(crate) fn cards<'a>(
    items: impl Iterator<Item = &'a SelectableItem>,
    scores: &SortedMap<String, f64>,
) -> Vec<ChoiceCard> {
    let count = |text: &str| Estimator::V3.tokens(text);
    let mut out = Vec::new();
    for item in items {
        let score = scores.get(&item.id).copied();
        // One by one: a tool too large for a card leaves the others as they are.
        out.extend(make_choice_cards(std::iter::once(item), Some(&|_| score), &CARD, &count).cards);
    }
    out
}
