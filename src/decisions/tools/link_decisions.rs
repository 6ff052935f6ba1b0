//! Links two decisions.
