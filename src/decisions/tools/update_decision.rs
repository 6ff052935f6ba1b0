//! Changes a decision.
