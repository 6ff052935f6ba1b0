//! Looks, checks and records before an action, in one call.
