//! Records a decision.
