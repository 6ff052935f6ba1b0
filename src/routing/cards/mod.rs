//! What a model chooses from, and what becomes of its choice.
