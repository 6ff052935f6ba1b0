//! Returns the neighbours of a decision.
