//! Browsing in reference mode: by a query, or by a path over namespaces.

use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_convert::mcp::resolve_collisions;
use contextweaver_model::SelectableItem;
use contextweaver_routing::cards::{CardOptions, ChoiceCard, make_choice_cards};
use contextweaver_routing::graph::PageOptions;
use contextweaver_routing::router::{RouteFilters, RouteOptions};
use contextweaver_routing::{Catalog, Router, RouterOptions};
use contextweaver_text::tokens::Estimator;

use crate::browse_path::BrowsePath;
use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::safe_line;
use crate::runtime::Checked;

/// The id of the card between what was seen before and what is new.
pub(crate) const CACHE_BREAKPOINT: &str = "__cache_breakpoint__";
/// Cards of one session that are kept as they were first seen.
const MAX_SEEN: usize = 1_000;
/// Children of a path.
const MAX_CHILDREN: u64 = 200;
/// Tokens to which a description is shortened, and above which a tool has no card.
const CARD: CardOptions = CardOptions {
    max_cards: MAX_CHILDREN as usize,
    target_tokens: 60,
    hard_cap_tokens: 80,
    redact: true,
    style: contextweaver_routing::CardStyle { bare: false, scores: true },
};

/// What a session has seen, as it was first shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenTools(SortedMap<String, ChoiceCard>);

impl SeenTools {
    /// Notes a card; one that was seen stays as it was.
    pub fn note(&mut self, card: &ChoiceCard) {
        if self.0.len() < MAX_SEEN && !self.0.contains_key(&card.id) {
            self.0.insert(card.id.clone(), card.clone());
        }
    }

    /// Puts what was seen before first, as it was then, each part by id, with a mark between the parts.
    pub fn stable(&mut self, cards: Vec<ChoiceCard>, most: usize) -> Vec<ChoiceCard> {
        let by_id = |a: &ChoiceCard, b: &ChoiceCard| a.id.cmp(&b.id);
        let (mut seen, mut new): (Vec<_>, Vec<_>) = cards.into_iter().partition(|card| self.0.contains_key(&card.id));
        for card in &mut seen {
            if let Some(first) = self.0.get(&card.id) {
                card.clone_from(first);
            }
        }
        sort_by(&mut seen, by_id);
        sort_by(&mut new, by_id);
        if !seen.is_empty() && !new.is_empty() {
            seen.push(ChoiceCard {
                id: CACHE_BREAKPOINT.to_owned(),
                name: "cache_breakpoint".to_owned(),
                kind: "internal".to_owned(),
                ..ChoiceCard::default()
            });
        }
        seen.extend(new);
        seen.truncate(most);
        for card in seen.iter().filter(|card| card.id != CACHE_BREAKPOINT) {
            self.note(card);
        }
        seen
    }
}

/// What may be browsed: a router, and ids that are not for this client.
pub(crate) struct Browsed<'a> {
    pub router: &'a mut Router,
    pub hidden: contextweaver_base::order::WordSet,
}

impl Browsed<'_> {
    /// The cards of what fits a query, the best first; of an empty query those of all, by id.
    pub fn by_query(&mut self, query: &str, top_k: usize) -> Vec<ChoiceCard> {
        if query.trim().is_empty() {
            let Self { router, hidden } = self;
            let shown = router.catalog().items().filter(|item| !hidden.contains(&item.id)).take(top_k);
            return cards(shown, None);
        }
        let filters = RouteFilters { exclude_ids: self.hidden.clone(), ..RouteFilters::default() };
        let options = RouteOptions { top_k: Some(top_k as u64), filters, ..RouteOptions::default() };
        let Ok(found) = self.router.route(query, &options) else { return Vec::new() };
        if found.no_match == Some(true) {
            return Vec::new();
        }
        let mut scores = SortedMap::new();
        scores.extend(found.candidate_ids.iter().cloned().zip(found.scores));
        let catalog = self.router.catalog();
        cards(found.candidate_ids.iter().filter_map(|id| catalog.find(id)), Some(&scores))
    }

    /// The cards of what is at a path.
    pub fn by_path(&mut self, text: &str, top_k: Option<usize>) -> Checked<Vec<ChoiceCard>> {
        let path = BrowsePath::parse_of_model(text)?;
        let not_found = || {
            let message = "nothing is at this path; `/` shows what there is";
            GatewayError::new(GatewayErrorCode::PathNotFound, message).at(safe_line(text))
        };
        let mut found = if path.way().is_empty() {
            self.roots()
        } else {
            let at = format!("/{}", path.way().join("/"));
            let page = PageOptions { offset: 0, limit: MAX_CHILDREN };
            let page = self.router.browse(&at, page).map_err(|_| not_found())?;
            let catalog = self.router.catalog();
            let shown = |id: &str| catalog.find(id).filter(|item| !self.hidden.contains(&item.id));
            let mut found = Vec::new();
            for child in page.children {
                match (child.kind, child.id, child.path) {
                    ("item", Some(id), _) => found.extend(cards(shown(&id).into_iter(), None)),
                    (_, _, Some(path)) => found.push(node(&path, &child.label, child.items)),
                    _ => {}
                }
            }
            found
        };
        if found.is_empty() {
            return Err(not_found());
        }
        found.truncate(top_k.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// A card for each namespace, whatever groups a tree would make of their tools.
    fn roots(&mut self) -> Vec<ChoiceCard> {
        let Ok(spaces) = self.router.namespaces() else { return Vec::new() };
        let mut counts: SortedMap<String, u64> = SortedMap::new();
        let catalog = self.router.catalog();
        for item in catalog.items().filter(|item| !self.hidden.contains(&item.id)) {
            let root = item.namespace.split('.').next().unwrap_or_default().to_owned();
            *counts.get_or_insert(&root, 0) += 1;
        }
        let nodes = spaces.into_iter().filter_map(|(path, name)| {
            let count = counts.get(&name).copied().filter(|_| path.matches('/').count() == 1)?;
            Some(node(&path, &name, count))
        });
        let mut nodes: Vec<ChoiceCard> = nodes.collect();
        sort_by(&mut nodes, |a, b| a.id.cmp(&b.id));
        nodes
    }
}

/// The card of a group.
fn node(path: &str, label: &str, items: u64) -> ChoiceCard {
    ChoiceCard {
        id: path.to_owned(),
        name: safe_line(label).chars().take(64).collect(),
        description: format!("{items} {}: browse this path", if items == 1 { "tool" } else { "tools" }),
        kind: "internal".to_owned(),
        namespace: safe_line(label),
        ..ChoiceCard::default()
    }
}

/// The cards of tools, in their order.
pub(crate) fn cards<'a>(
    items: impl Iterator<Item = &'a SelectableItem>,
    scores: Option<&SortedMap<String, f64>>,
) -> Vec<ChoiceCard> {
    let count = |text: &str| Estimator::V3.tokens(text);
    let mut out = Vec::new();
    for item in items {
        let score = scores.and_then(|scores| scores.get(&item.id)).copied();
        // One by one: a tool too large for a card leaves the others as they are.
        if let Ok(made) = make_choice_cards(std::iter::once(item), Some(&|_| score), &CARD, &count) {
            out.extend(made.cards);
        }
    }
    out
}

/// What was put together to be searched, and where each of it is, by the ids that models know.
#[derive(Debug)]
pub(crate) struct Indexed<P> {
    pub router: Router,
    pub ids: SortedMap<String, P>,
}

impl<P> Indexed<P> {
    /// Makes an index; of ids that are the same each gets one of its own.
    pub fn of(items: Vec<(SelectableItem, P)>) -> Self {
        let ids: Vec<String> = items.iter().map(|(item, _)| item.id.clone()).collect();
        let (mut catalog, mut by_id) = (Catalog::new(), SortedMap::new());
        for ((mut item, place), id) in items.into_iter().zip(resolve_collisions(&ids)) {
            item.id.clone_from(&id);
            // Ids are distinct by now.
            if catalog.register(item).is_ok() {
                by_id.insert(id, place);
            }
        }
        Self { router: Router::new(catalog, RouterOptions::default()), ids: by_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: &str, name: &str) -> ChoiceCard {
        ChoiceCard { id: id.to_owned(), name: name.to_owned(), ..ChoiceCard::default() }
    }

    #[test]
    fn what_was_seen_stays_first_and_as_it_was() {
        let mut seen = SeenTools::default();
        let ids = |cards: &[ChoiceCard]| cards.iter().map(|card| card.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&seen.stable(vec![card("c", ""), card("a", "first")], 10)), ["a", "c"]);
        let next = seen.stable(vec![card("b", ""), card("a", "later")], 10);
        assert_eq!(
            (ids(&next), next[0].name.as_str()),
            (vec!["a".into(), CACHE_BREAKPOINT.into(), "b".into()], "first")
        );
        assert_eq!(seen.stable(vec![card("d", ""), card("a", "")], 2).len(), 2);
    }
}
