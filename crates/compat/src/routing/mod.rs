//! Routing as 0.18 does it: graph, beam, cards, and what its indexes keep.

pub mod cards;
pub mod clustering;
pub mod index_cache;
pub mod labeler;
mod provider_tools;
pub mod tree;
pub mod vector_index;

pub use provider_tools::export_tools;

use contextweaver_routing::router::{Navigator, RouteRules, RouterOptions};

use self::tree::TreeOptions;

/// Returns the settings of a router that decides as 0.18 does, with the defects of its tree and of its beam.
///
/// ```
/// use contextweaver_compat::routing::router_options;
///
/// assert!(!router_options().rules.is_lossless);
/// ```
pub fn router_options() -> RouterOptions {
    let rules = RouteRules {
        build_graph: |items, options, catalog_hash| {
            let options =
                TreeOptions { max_children: options.max_children, target_group_size: options.target_group_size };
            tree::build(items, options, catalog_hash)
        },
        outline_graph: None,
        is_lossless: false,
        resolves_called_names: false,
        repeats_cost_below_zero: false,
        tells_of_short_list: false,
        escapes_markdown: false,
    };
    RouterOptions { rules, navigator: Navigator::Beam, ..RouterOptions::default() }
}
