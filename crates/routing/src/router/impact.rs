//! What a change of a catalog does to the routes of known queries.

use std::fmt::Write as _;

use serde::Serialize;

use super::{RouteOptions, Router, RouterOptions};
use crate::Catalog;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Record;
use contextweaver_model::json::numbers::{fixed, round};
use contextweaver_text::markdown::{code_span, inline};
use contextweaver_text::python::quoted;

/// Version of the record.
const VERSION: u32 = 1;
/// Routes with another first tool that are named.
const MAX_EXAMPLES: usize = 10;
/// Tools a route returns, unless the caller says otherwise.
pub const IMPACT_TOP_K: u64 = 5;

/// A query to compare routes by, with the tool it should find if that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Record)]
#[record(closed)]
pub struct RouteProbe {
    /// The query.
    pub query: String,
    /// The tool that should be among those returned.
    pub expected: Option<String>,
}

/// A query with another first tool than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ImpactExample {
    /// The query.
    pub query: String,
    /// The first tool before; none where nothing fits.
    pub before_top1: Option<String>,
    /// The first tool over the later catalog; none where nothing fits.
    pub after_top1: Option<String>,
}

/// What a change of a catalog does to routes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RoutingImpact {
    /// Version of this record's form.
    pub version: u32,
    /// Number of queries.
    pub probes_total: usize,
    /// Queries with another first tool than before.
    pub top1_changed: usize,
    /// The first of them.
    pub examples: Vec<ImpactExample>,
    /// Share of the expected tools that were returned before; none where none was expected.
    pub recall_before: Option<f64>,
    /// Share of the expected tools that are returned after.
    pub recall_after: Option<f64>,
    /// Number of tools that each route returned.
    pub top_k: u64,
}

/// What the probes found in one catalog.
struct ProbeReplay {
    first: Vec<Option<String>>,
    recall: Option<f64>,
}

fn replay(catalog: &Catalog, probes: &[RouteProbe], top_k: u64, options: &RouterOptions) -> Result<ProbeReplay> {
    let mut router = Router::new(catalog.clone(), options.clone());
    let options = RouteOptions { top_k: Some(top_k), ..RouteOptions::default() };
    let mut first = Vec::with_capacity(probes.len());
    let (mut found, mut expected) = (0_usize, 0_usize);
    for probe in probes {
        let ids = router.route(&probe.query, &options)?.candidate_ids;
        if let Some(wanted) = &probe.expected {
            expected += 1;
            found += usize::from(ids.contains(wanted));
        }
        first.push(ids.into_iter().next());
    }
    let recall = (expected > 0).then(|| round(found as f64 / expected as f64, 4));
    Ok(ProbeReplay { first, recall })
}

/// Routes known queries over a catalog before and after a change, by routers of the same kind.
///
/// # Errors
///
/// Fails with `NO_CANDIDATES` when a catalog is empty, `INVALID_INPUT` without probes and `OUT_OF_RANGE` when `top_k`
/// is zero.
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
/// use contextweaver_routing::{RouteProbe, RouterOptions, routing_impact};
///
/// let mut next = catalog.clone();
/// next.remove("mail.send");
/// let probe = RouteProbe { query: "send an email".to_owned(), expected: Some("mail.send".to_owned()) };
/// let impact = routing_impact(&catalog, &next, &[probe], 5, &RouterOptions::default())?;
/// assert_eq!((impact.recall_before, impact.recall_after), (Some(1.0), Some(0.0)));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn routing_impact(
    before: &Catalog,
    after: &Catalog,
    probes: &[RouteProbe],
    top_k: u64,
    options: &RouterOptions,
) -> Result<RoutingImpact> {
    if probes.is_empty() {
        return Err(Error::new(ErrorCode::InvalidInput, "there is no query to compare the routes of").at("/probes"));
    }
    if top_k == 0 {
        return Err(Error::new(ErrorCode::OutOfRange, "top_k must be at least 1").at("/top_k"));
    }
    let (was, is) = (replay(before, probes, top_k, options)?, replay(after, probes, top_k, options)?);
    let firsts = was.first.into_iter().zip(is.first);
    let mut changed: Vec<ImpactExample> = probes
        .iter()
        .zip(firsts)
        .filter(|(_, (before, after))| before != after)
        .map(|(probe, (before_top1, after_top1))| ImpactExample { query: probe.query.clone(), before_top1, after_top1 })
        .collect();
    let top1_changed = changed.len();
    changed.truncate(MAX_EXAMPLES);
    Ok(RoutingImpact {
        version: VERSION,
        probes_total: probes.len(),
        top1_changed,
        examples: changed,
        recall_before: was.recall,
        recall_after: is.recall,
        top_k,
    })
}

impl RoutingImpact {
    /// Returns the impact as Markdown.
    pub fn to_markdown(&self) -> String {
        let share = |share: Option<f64>| share.map_or_else(|| "n/a".to_owned(), |share| fixed(share, 4));
        let mut out = format!(
            "# Routing Impact\n\n- Probes: {}\n- Top-1 changed: {}\n- Recall@{}: {} -> {}\n\n## Top-1 flips\n\n",
            self.probes_total,
            self.top1_changed,
            self.top_k,
            share(self.recall_before),
            share(self.recall_after)
        );
        let tool = |id: &Option<String>| match id {
            None => "none".to_owned(),
            Some(id) => code_span(id),
        };
        for ImpactExample { query, before_top1, after_top1 } in &self.examples {
            let query = inline(&quoted(query));
            let _ = writeln!(out, "- {query}: {} -> {}", tool(before_top1), tool(after_top1));
        }
        if self.examples.is_empty() {
            out.push_str("- None\n");
        }
        let more = self.top1_changed - self.examples.len();
        if more > 0 {
            let _ = writeln!(out, "- and {more} more");
        }
        out
    }
}
