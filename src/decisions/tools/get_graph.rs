//! Returns the decisions around one.
