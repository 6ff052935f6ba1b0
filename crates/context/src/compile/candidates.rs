//! Stage 1: the items whose kind the phase admits and that are not superseded, in log order.

use contextweaver_model::{ContextItem, ContextPolicy};

use crate::request::BuildRequest;

/// Returns the positions of the items that a request admits.
pub fn candidates(items: &[ContextItem], request: &BuildRequest, policy: &ContextPolicy) -> Vec<usize> {
    let allowed = policy.allowed_kinds(request.phase);
    items
        .iter()
        .enumerate()
        .filter(|(_, item)| allowed.contains(&item.kind) && !item.is_superseded())
        .map(|(at, _)| at)
        .collect()
}
