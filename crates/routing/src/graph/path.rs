//! Browse paths: `/`, `/billing`, `/billing/invoices`, `/billing/*`.

use super::ChoiceGraph;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// Most bytes of a segment.
const SEGMENT_BYTES: usize = 64;

/// Splits a path into its segments.
///
/// Segments are small ASCII letters, digits, `_` and `-`, at most 64, and start with a letter or, below the first, a
/// digit; `*` may stand last.
///
/// # Errors
///
/// Fails with `INVALID_INPUT`.
pub fn parse(path: &str) -> Result<Vec<&str>> {
    let invalid = || {
        let message = format!("{} is no browse path", quote(path));
        Error::new(ErrorCode::InvalidInput, message).hint("a path looks like `/`, `/billing` or `/billing/invoices`")
    };
    let rest = path.strip_prefix('/').ok_or_else(invalid)?;
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    let segments: Vec<&str> = rest.split('/').collect();
    let last = segments.len() - 1;
    let fits = |(index, segment): (usize, &&str)| (*segment == "*" && index == last) || is_segment(segment, index > 0);
    if segments.iter().enumerate().all(fits) { Ok(segments) } else { Err(invalid()) }
}

fn is_segment(segment: &str, may_start_with_digit: bool) -> bool {
    let first = segment.bytes().next().unwrap_or(b'/');
    let starts_well = first.is_ascii_lowercase() || may_start_with_digit && first.is_ascii_digit();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    starts_well && segment.len() <= SEGMENT_BYTES && segment.bytes().all(is_plain)
}

/// Returns the place a path leads to by the names of children.
pub fn find(graph: &ChoiceGraph, segments: &[&str]) -> Option<u32> {
    let mut place = graph.place(&graph.root_id)?;
    for segment in segments {
        let children = graph.children_at(place);
        place = *children.iter().find(|child| name(graph.id(**child)) == *segment)?;
    }
    Some(place)
}

/// Makes the error for a path that leads nowhere.
pub fn not_found(path: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("nothing is at {}", quote(path)))
        .hint("start at `/` and follow the paths of the children")
}

/// Returns the name of a node among its siblings, as a path has it.
fn name(id: &str) -> String {
    let name = match (id.rsplit_once('/'), id.split_once(':')) {
        (Some((_, last)), _) => last,
        (None, Some((_, rest))) => rest.split(['@', '#']).next().unwrap_or_default(),
        (None, None) => id,
    };
    name.to_lowercase()
}
