//! Parts of artifacts as 0.18 cuts them: text and nothing about it.

use super::content;
use crate::drilldown::{DrilldownRequest, Slice};
use crate::firewall;
use crate::manager::ContextManager;
use crate::reduce::within;
use contextweaver_base::{Error, ErrorCode, Result};

/// Reads a part; malformed UTF-8 shows as U+FFFD.
pub fn part(manager: &ContextManager, request: &DrilldownRequest) -> Result<Slice> {
    let text = String::from_utf8_lossy(manager.artifacts.get(&request.handle)?);
    let selector = request
        .selector
        .as_object()
        .ok_or_else(|| Error::new(ErrorCode::InvalidInput, "expected an object").at("/selector"))?;
    let options = &manager.options;
    let part = content::select(selector, &text)?;
    let clean = firewall::mask_secrets(&part, options);
    let shown = match request.max_tokens {
        Some(limit) => within(&clean, limit, &options.estimator),
        None => clean.into_owned(),
    };
    Ok(Slice {
        handle: request.handle.clone(),
        selector: request.selector.clone(),
        tokens: options.estimator.tokens(&shown),
        unit: "chars",
        total: text.chars().count() as u64,
        start: 0,
        end: shown.chars().count() as u64,
        truncated: shown.len() < part.len(),
        next: None,
        text: shown,
        item_id: None,
    })
}
