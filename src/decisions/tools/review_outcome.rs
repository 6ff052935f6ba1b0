//! Records what came of a decision.
