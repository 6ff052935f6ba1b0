//! Checks an action against the guardrails.
