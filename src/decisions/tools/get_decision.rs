//! Returns one decision.
