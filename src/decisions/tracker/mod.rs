//! What an agent looked at and thought before it decides.

/// Inputs collected under keys until a decision takes them.
#[derive(Debug, Clone, Default)]
pub struct Tracker {}
